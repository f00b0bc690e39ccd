/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the model's lists, look-ups and the switch over calls. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_array.h"
#include "model_graph.h"
#include "model_managed.h"

void model_open(struct model *model, const struct sim_profile *profile, bool strict)
{
    memset(model, 0, sizeof *model);
    model->profile = profile;
    model->strict = strict;
    model->current = model->blocked = -1;
    model_graphs_open(model);
    model_arrays_open(model);
}

void model_close(struct model *model)
{
    model_graphs_close(model);
    model_arrays_close(model);
    model_managed_close(model);
    for (size_t i = 0; i < model->pool_count; i++) {
        if (!model->pools[i]->gone)
            model_heap_close(&model->pools[i]->heap);
        free(model->pools[i]);
    }
    free(model->pools);
    free(model->pool_streams.stream);
    free(model->blocks);
    free(model->reservations);
    free(model->mappings);
    free(model->memories);
    free(model->past);
    free(model->windows);
    memset(model, 0, sizeof *model);
}

void *model_room(void *array, size_t *room, size_t count, size_t element)
{
    if (count < *room)
        return array;
    size_t larger = *room ? *room * 2 : 16;
    void *grown = realloc(array, larger * element);
    if (!grown) {
        fputs("model: the host has no memory left\n", stderr);
        exit(255);
    }
    *room = larger;
    return grown;
}

/* ---- saying what should happen ---- */

bool model_refuse(struct model_answer *answer, vmm_result result, const char *rule)
{
    answer->result = result;
    answer->rule = rule;
    return false;
}

bool model_breach(const struct model *model, struct model_answer *answer, const char *rule)
{
    if (model->strict)
        return model_refuse(answer, VMM_ERROR_INVALID_VALUE, rule);
    if (!answer->rule)
        answer->rule = rule;
    return true;
}

void model_hazard(struct model_answer *answer, const char *rule)
{
    if (!answer->rule)
        answer->rule = rule;
}

bool model_succeeded(const struct model_answer *answer)
{
    return answer->result == VMM_SUCCESS && answer->actual == VMM_SUCCESS;
}

void model_expect(struct model_answer *answer, const char *output, uint64_t got, uint64_t want)
{
    if (got == want || answer->wrong)
        return;
    answer->wrong = output;
    answer->got = got;
    answer->want = want;
}

static void predict(struct model *model, const struct vmm_call *call, struct model_answer *answer)
{
    answer->result = VMM_SUCCESS;
    answer->rule = NULL;
    answer->writes_zero = answer->writes_no_fd = answer->wraps = answer->ends = answer->fabric = answer->loses = answer->waits = false;
    answer->writes_some = false;
    answer->written = 0;
    answer->foreseen = true;
    answer->wrong = NULL;
    if (!model->initialised && call->id != VMM_CALL_init) {
        model_refuse(answer, VMM_ERROR_NOT_INITIALIZED, "VMM-INIT-REQUIRED");
        return;
    }
    if (model_capture_decides(model, call, answer))
        return;
    switch (call->id) {
#define CASE(name) \
    case VMM_CALL_##name: \
        model_on_##name(model, (const struct vmm_call_##name *)call, answer); \
        return;
        MODEL_CALLS(CASE)
#undef CASE
    default:
        answer->foreseen = false;
    }
}

void model_predict(struct model *model, const struct vmm_call *call, struct model_answer *answer)
{
    answer->asked = false;
    predict(model, call, answer);
    model_progress(model);
}

void model_foresee(struct model *model, const struct vmm_call *call, struct model_answer *answer)
{
    answer->asked = true;
    answer->actual = (vmm_result)-1; /* never predicted, so nothing is applied */
    predict(model, call, answer);
}

/* ---- look-ups ---- */

struct model_reservation *model_reservation_at(struct model *model, uint64_t address)
{
    for (size_t i = 0; i < model->reservation_count; i++) {
        struct model_reservation *r = &model->reservations[i];
        if (address >= r->start && address - r->start < r->size)
            return r;
    }
    return NULL;
}

struct model_mapping *model_mapping_at(struct model *model, uint64_t address)
{
    for (size_t i = 0; i < model->mapping_count; i++) {
        struct model_mapping *p = &model->mappings[i];
        if (address >= p->start && address - p->start < p->size)
            return p;
    }
    return NULL;
}

static struct model_memory *find(struct model_memory *memories, size_t count, uint64_t handle)
{
    for (size_t i = 0; i < count; i++)
        if (memories[i].handle == handle)
            return &memories[i];
    return NULL;
}

struct model_memory *model_memory_of(struct model *model, uint64_t handle)
{
    return find(model->memories, model->memory_count, handle);
}

struct model_memory *model_past_of(struct model *model, uint64_t handle)
{
    return find(model->past, model->past_count, handle);
}

uint32_t model_mappings_of(const struct model *model, uint64_t handle)
{
    uint32_t count = 0;
    for (size_t i = 0; i < model->mapping_count; i++)
        count += model->mappings[i].handle == handle;
    return count;
}

int model_attribute(const struct model *model, int attribute)
{
    if (model->driver)
        return attribute >= 0 && attribute < MODEL_ATTRIBUTES ? model->driver[0].attribute[attribute] : 0;
    for (int i = 0; i < model->profile->attributes; i++)
        if (model->profile->attribute[i].attribute == attribute)
            return model->profile->attribute[i].value;
    return 0;
}

bool model_in_device(struct model *model, const struct model_mapping *mapping)
{
    return mapping->handle ? model_memory_of(model, mapping->handle)->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE
                           : !mapping->of_host_pool;
}

int model_device_rights(const struct model_mapping *mapping, int device)
{
    return device >= 0 && device < VMM_MAX_DEVICES ? mapping->device[device] : 0;
}
