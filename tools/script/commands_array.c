/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of arrays, and of the tiles of sparse ones. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

struct choice {
    const char *name;
    unsigned value;
};

static const struct choice formats[] = {
    {"uint8", VMM_AD_FORMAT_UNSIGNED_INT8}, {"uint16", VMM_AD_FORMAT_UNSIGNED_INT16}, {"uint32", VMM_AD_FORMAT_UNSIGNED_INT32},
    {"int8", VMM_AD_FORMAT_SIGNED_INT8},    {"int16", VMM_AD_FORMAT_SIGNED_INT16},    {"int32", VMM_AD_FORMAT_SIGNED_INT32},
    {"half", VMM_AD_FORMAT_HALF},           {"float", VMM_AD_FORMAT_FLOAT},           {"nv12", VMM_AD_FORMAT_NV12},
};

static const struct choice flags[] = {
    {"layered", VMM_ARRAY3D_LAYERED},  {"surface", VMM_ARRAY3D_SURFACE_LDST}, {"cubemap", VMM_ARRAY3D_CUBEMAP},
    {"gather", VMM_ARRAY3D_TEXTURE_GATHER}, {"sparse", VMM_ARRAY3D_SPARSE},   {"deferred", VMM_ARRAY3D_DEFERRED_MAPPING},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool choose(const struct choice *list, size_t count, const char *text, size_t length, unsigned *value)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].name) == length && strncmp(list[i].name, text, length) == 0) {
            *value = list[i].value;
            return true;
        }
    return false;
}

/* One of the names, several joined by | if they are bits, or a number. */
static bool take_choice(struct script *script, const char *key, const struct choice *list, size_t count, unsigned *value)
{
    const struct word *word = args_option(script, key);
    unsigned all = 0, one = 0;
    uint64_t number;
    struct words_error error;
    struct value_env env = script_env(script);
    if (!word)
        return true;
    for (const char *at = word->text; *at;) {
        size_t length = strcspn(at, "|");
        if (!choose(list, count, at, length, &one)) {
            if (!value_number(&env, word, &number, &error))
                return script_wrong_at(script, &error);
            *value = (unsigned)number;
            return true;
        }
        all |= one;
        at += length + (at[length] == '|');
    }
    *value = all;
    return true;
}

/* 512x512x8, or 128,0,16: up to three numbers; missing ones keep their values. */
static bool take_sizes(struct script *script, const char *what, char between, uint64_t size[3])
{
    const struct word *word = args_next(script, what);
    char *end;
    if (!word)
        return false;
    const char *at = word->text;
    for (int i = 0; i < 3 && isdigit((unsigned char)*at); i++) {
        size[i] = strtoull(at, &end, 10);
        at = *end == between && isdigit((unsigned char)end[1]) ? end + 1 : end;
    }
    return (!*at && at > word->text) ||
           script_wrong(script, word->column, "\"%.40s\" for %s; write up to three numbers, as 512%c512%c8",
                        word->text, what, between,
                        between);
}

static bool take_array(struct script *script, uint64_t *array)
{
    return args_number(script, "ARRAY", array);
}

/* Is the value a mipmapped array? */
static bool is_mipmapped(const struct script *script, uint64_t array)
{
    const struct symbol *symbol = symbols_named(&script->symbols, SYMBOL_ARRAY, array);
    return symbol && symbol->size;
}

static bool run_array(struct script *script)
{
    uint64_t size[3] = {0}, levels = 0, channels = 1;
    unsigned format = VMM_AD_FORMAT_FLOAT, flag = 0;
    const bool mipmapped = args_option_number(script, "levels", &levels) && levels;
    struct step *step = script_step(script, mipmapped ? VMM_CALL_mipmapped_array_create : VMM_CALL_array_3d_create);
    if (!take_sizes(script, "WIDTHxHEIGHTxDEPTH", 'x', size) || !take_choice(script, "format", formats, COUNT(formats), &format) ||
        !take_choice(script, "flags", flags, COUNT(flags), &flag) || !args_option_number(script, "channels", &channels))
        return false;
    const vmm_array3d_descriptor made = {.width = size[0], .height = size[1], .depth = size[2], .format = (vmm_array_format)format,
                                         .num_channels = (unsigned)channels, .flags = flag};
    memcpy(step->structure, &made, sizeof made);
    if (mipmapped)
        step->call.mipmapped_array_create.num_mipmap_levels = (unsigned)levels;
    return script_make(script, NULL);
}

static bool run_level(struct script *script)
{
    struct vmm_call_mipmapped_array_get_level *call =
        &script_step(script, VMM_CALL_mipmapped_array_get_level)->call.mipmapped_array_get_level;
    uint64_t array, level;
    if (!take_array(script, &array) || !args_number(script, "LEVEL", &level))
        return false;
    call->h_mipmapped_array = (vmm_mipmapped_array)(uintptr_t)array;
    call->level = (unsigned)level;
    return script_make(script, NULL);
}

static bool run_plane(struct script *script)
{
    struct vmm_call_array_get_plane *call = &script_step(script, VMM_CALL_array_get_plane)->call.array_get_plane;
    uint64_t array, plane;
    if (!take_array(script, &array) || !args_number(script, "PLANE", &plane))
        return false;
    call->h_array = (vmm_array)(uintptr_t)array;
    call->plane_idx = (unsigned)plane;
    return script_make(script, NULL);
}

static bool run_described(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_array_3d_get_descriptor);
    uint64_t array;
    if (!take_array(script, &array))
        return false;
    step->call.array_3d_get_descriptor.h_array = (vmm_array)(uintptr_t)array;
    return script_make(script, NULL);
}

static bool run_tiles(struct script *script)
{
    uint64_t array;
    if (!take_array(script, &array))
        return false;
    const bool mipmapped = is_mipmapped(script, array);
    struct step *step = script_step(script, mipmapped ? VMM_CALL_mipmapped_array_get_sparse_properties
                                                       : VMM_CALL_array_get_sparse_properties);
    step->call.array_get_sparse_properties.array = (vmm_array)(uintptr_t)array; /* the other has the same parameters */
    return script_make(script, NULL);
}

static bool run_requirements(struct script *script)
{
    uint64_t array;
    vmm_mem_location device;
    if (!take_array(script, &array) || !args_location(script, "DEVICE", &device))
        return false;
    const bool mipmapped = is_mipmapped(script, array);
    struct step *step = script_step(script, mipmapped ? VMM_CALL_mipmapped_array_get_memory_requirements
                                                       : VMM_CALL_array_get_memory_requirements);
    step->call.array_get_memory_requirements.array = (vmm_array)(uintptr_t)array; /* the same */
    step->call.array_get_memory_requirements.device = device.id;
    return script_make(script, NULL);
}

/* ---- maps ---- */

static bool is_unmap(const struct script *script)
{
    return strncmp(script->command->name, "unmap", 5) == 0;
}

/* The common arguments of a map: the array comes before the part of the array; the memory, its offset and the device after it. */
static bool finish_map(struct script *script, vmm_array_map_info *info, uint64_t array)
{
    struct step *step = &script->step;
    uint64_t handle = 0, offset = 0, mask = 1, more = 0;
    bool given;
    if ((!is_unmap(script) && !args_number(script, "HANDLE", &handle)) || !args_option_number(script, "offset", &offset) ||
        !args_option_number(script, "mask", &mask) || !args_option_number(script, "flags", &more) ||
        !args_stream(script, &given, &step->call.mem_map_array_async.stream))
        return false;
    info->resource_type = is_mipmapped(script, array) ? VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY : VMM_RESOURCE_TYPE_ARRAY;
    info->resource.array = (vmm_array)(uintptr_t)array;
    info->mem_operation_type = is_unmap(script) ? VMM_MEM_OPERATION_TYPE_UNMAP : VMM_MEM_OPERATION_TYPE_MAP;
    info->mem_handle.mem_handle = handle;
    info->offset = offset;
    info->device_bit_mask = (unsigned)mask;
    info->flags = (unsigned)more;
    memcpy(step->structs, info, sizeof *info);
    step->call.mem_map_array_async.count = 1;
    return script_make(script, NULL);
}

static bool run_map_tiles(struct script *script)
{
    uint64_t array, at[3] = {0}, extent[3] = {0, 0, 1}, level = 0, layer = 0;
    vmm_array_map_info info = {.subresource_type = VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL};
    script_step(script, VMM_CALL_mem_map_array_async);
    if (!take_array(script, &array) || !take_sizes(script, "X,Y,Z", ',', at) || !take_sizes(script, "WIDTHxHEIGHTxDEPTH", 'x', extent) ||
        !args_option_number(script, "level", &level) || !args_option_number(script, "layer", &layer))
        return false;
    info.subresource.sparse_level = (struct vmm_array_sparse_level){
        (unsigned)level, (unsigned)layer, (unsigned)at[0], (unsigned)at[1], (unsigned)at[2], (unsigned)extent[0], (unsigned)extent[1],
        (unsigned)extent[2]};
    return finish_map(script, &info, array);
}

static bool run_map_tail(struct script *script)
{
    uint64_t array, offset, size, layer = 0;
    vmm_array_map_info info = {.subresource_type = VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL};
    script_step(script, VMM_CALL_mem_map_array_async);
    if (!take_array(script, &array) || !args_number(script, "OFFSET", &offset) || !args_number(script, "SIZE", &size) ||
        !args_option_number(script, "layer", &layer))
        return false;
    info.subresource.miptail = (struct vmm_array_miptail){(unsigned)layer, offset, size};
    return finish_map(script, &info, array);
}

/* An array whose memory is mapped at once. */
static bool run_map_whole(struct script *script)
{
    vmm_array_map_info info = {0};
    uint64_t array;
    script_step(script, VMM_CALL_mem_map_array_async);
    return take_array(script, &array) && finish_map(script, &info, array);
}

static bool run_map_arrays(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_map_array_async);
    struct vmm_call_mem_map_array_async *call = &step->call.mem_map_array_async;
    struct words_error error;
    struct value_env env = script_env(script);
    const struct word *word = args_next(script, "{FIELD=VALUE ...}");
    size_t made = 0;
    bool given;
    if (!word)
        return false;
    if (strcmp(word->text, "null") == 0)
        call->map_info_list = NULL;
    else if (!value_structs(&env, word, vmm_shape(VMM_SHAPE_array_map_info), step->structs, STEP_STRUCTS, &made, &error))
        return script_wrong_at(script, &error);
    uint64_t count = made;
    if (!args_option_number(script, "count", &count) || !args_stream(script, &given, &call->stream))
        return false;
    if (call->map_info_list && count > STEP_STRUCTS)
        return script_wrong(script, word->column, "a count of %llu; the script can hold %d",
                            (unsigned long long)count, STEP_STRUCTS);
    call->count = (unsigned)count;
    return script_make(script, NULL);
}

#define TILES "ARRAY X,Y,Z WIDTHxHEIGHTxDEPTH"
#define WHERE "[offset=SIZE] [mask=N] [flags=N] [stream=STREAM|none]"
#define TAKEN "[mask=N] [flags=N] [stream=STREAM|none]"

const struct script_command script_array_commands[] = {
    {"array", "WIDTHxHEIGHTxDEPTH [format=FORMAT] [channels=N] [flags=FLAGS] [levels=N] [out=null]", "creates an array "
        "and names it. With levels, a mipmapped one",
     "cuArray3DCreate, cuMipmappedArrayCreate", run_array, false},
    {"level", "ARRAY LEVEL [out=null]", "names a level of a mipmapped array, as an array", "cuMipmappedArrayGetLevel",
     run_level, false},
    {"plane", "ARRAY PLANE [out=null]", "names a plane of an array, as an array", "cuArrayGetPlane", run_plane, false},
    {"described", "ARRAY [out=null]", "describes an array", "cuArray3DGetDescriptor", run_described, false},
    {"tiles", "ARRAY [out=null]", "queries the tile size and mip tail of a sparse array", "cuArrayGetSparseProperties, "
        "cuMipmappedArrayGetSparseProperties",
     run_tiles, false},
    {"requirements", "ARRAY DEVICE [out=null]", "queries the memory that an array with deferred mapping needs",
     "cuArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements", run_requirements, false},
    {"map-tiles", TILES " HANDLE [level=N] [layer=N] " WHERE, "maps tiles of a sparse array to memory", "cuMemMapArrayAsync",
     run_map_tiles,
     false},
    {"unmap-tiles", TILES " [level=N] [layer=N] " TAKEN, "unmaps tiles of a sparse array", "cuMemMapArrayAsync",
     run_map_tiles, false},
    {"map-tail", "ARRAY OFFSET SIZE HANDLE [layer=N] " WHERE, "maps a mip tail of a sparse array to memory",
     "cuMemMapArrayAsync", run_map_tail,
     false},
    {"unmap-tail", "ARRAY OFFSET SIZE [layer=N] " TAKEN, "unmaps a mip tail of a sparse array", "cuMemMapArrayAsync",
     run_map_tail, false},
    {"map-whole", "ARRAY HANDLE " WHERE, "maps an array with deferred mapping to memory", "cuMemMapArrayAsync",
     run_map_whole, false},
    {"unmap-whole", "ARRAY " TAKEN, "unmaps an array with deferred mapping", "cuMemMapArrayAsync", run_map_whole, false},
    {"map-arrays", "{FIELD=VALUE ... [next FIELD=VALUE ...]}|null [count=N] [stream=STREAM|none]", "several maps and "
        "unmaps in one call; the fields are those of vmm_array_map_info",
     "cuMemMapArrayAsync", run_map_arrays, false},
    {0},
};
