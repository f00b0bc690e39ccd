/* SPDX-License-Identifier: Apache-2.0 */
/* Tens of thousands of invalid descriptors and fabric handles, each derived from the seed:
 *
 *     nothing   ->  mutated ->  refused by a rule, with its code; the handle is unchanged, and at the end
 *     something     made up     descriptors, files and free memory are unchanged
 *
 * CUVMM_TEST_SCALE=2000 makes half a million of each. CUVMM_SEED sets the seed; the same seed gives the same inputs. */
#define _GNU_SOURCE /* memfd_create */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "fabric_handle.h"
#include "random.h"
#include "share_census.h"
#include "share_token.h"

typedef vmm_mem_generic_allocation_handle handle_t;

enum { DESCRIPTORS = 25000, FABRICS = 25000 };

/* The source of random choices, and the outcomes. */
struct fuzz {
    uint64_t seed;
    unsigned accepted, written, code, rule;
};

static uint64_t below(struct fuzz *fuzz, uint64_t n)
{
    return random_below(&fuzz->seed, n);
}

/* ---- the expected outcome ---- */

static bool one_of(const char *rule, const char *const *rules)
{
    while (rule && *rules && strcmp(rule, *rules) != 0)
        rules++;
    return rule && *rules;
}

static void judge(struct fuzz *fuzz, vmm_result result, handle_t handle, const char *const *rules, const char *what)
{
    const vmm_detail *detail = vmm_last_detail();
    const char *rule = detail->rule ? detail->rule : "no rule";
    bool known = one_of(detail->rule, rules), code = known && vmm_rule_find(rule)->result == result;
    if (result == VMM_SUCCESS || !code || handle != 0x77)
        tap_note("%s: %s by %s, handle %#" PRIx64, what, vmm_result_name(result), rule, handle);
    fuzz->accepted += result == VMM_SUCCESS;
    fuzz->written += handle != 0x77;
    fuzz->rule += !known;
    fuzz->code += !code;
}

static void verdict(const struct fuzz *fuzz, unsigned rounds, const char *what)
{
    tap_u64(fuzz->accepted, 0, "of %u %s, none was accepted", rounds, what);
    tap_u64(fuzz->written, 0, "no refusal wrote a handle");
    tap_u64(fuzz->rule, 0, "each refusal named a rule of imports");
    tap_u64(fuzz->code, 0, "each refusal had its rule's code");
}

/* ---- descriptors ---- */

static const char *const refusals[] = {"VMM-IMPORT-CLOSED", "VMM-IMPORT-FOREIGN", "VMM-IMPORT-MACHINE", "VMM-IMPORT-TYPE",
                                       "VMM-IMPORT-WINDOWS", NULL};

struct rig {
    vmm_system *one, *two; /* two machines; the first has a name */
    int fd[3], other, gone; /* descriptors of memory of one, of two, and of a machine that has ended */
    struct share_token token[3];
    char path[3][300];
};

static void set_up(struct rig *rig)
{
    struct os_file_is is;
    handle_t handle = 0;
    vmm_system *brief = rig_open(NULL);
    rig_create(brief, RIG_G, &handle);
    rig->gone = rig_export(brief, handle);
    rig_close(brief);
    rig->one = rig_open("one");
    rig->two = rig_open(NULL);
    rig_create(rig->two, RIG_G, &handle);
    rig->other = rig_export(rig->two, handle);
    for (unsigned i = 0; i < 3; i++) {
        char file[64];
        rig_create(rig->one, RIG_G, &handle);
        rig->fd[i] = rig_export(rig->one, handle);
        if (share_token_read(rig->fd[i], &rig->token[i], &is) != SHARE_TOKEN)
            tap_bail("a descriptor's file cannot be read");
        snprintf(file, sizeof file, "token.%" PRIu64, rig->token[i].number);
        snprintf(rig->path[i], sizeof rig->path[i], "%s", rig_path("one", file));
    }
}

/* A file with these bytes, unlinked or without a name from the start. */
static int file_of(struct fuzz *fuzz, const void *bytes, uint64_t size)
{
    char path[100];
    int fd = -1;
#ifdef MFD_CLOEXEC
    if (below(fuzz, 2))
        fd = memfd_create("cuvmm-test", MFD_CLOEXEC);
#endif
    snprintf(path, sizeof path, "%s/scratch", rig_root);
    if (fd < 0 && (fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)) >= 0)
        unlink(path);
    if (fd < 0 || pwrite(fd, bytes, (size_t)size, 0) != (ssize_t)size)
        tap_bail("the file cannot be created");
    return fd;
}

static void scribble(struct fuzz *fuzz, void *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)random_next(&fuzz->seed);
}

/* Changes at least one bit. */
static void spoil(struct fuzz *fuzz, void *bytes, uint64_t size)
{
    uint64_t at = below(fuzz, size);
    unsigned char *byte = (unsigned char *)bytes + at;
    uint64_t value;
    switch (below(fuzz, 4)) {
    case 0: *byte = (unsigned char)~*byte; break;
    case 1: *byte = (unsigned char)(*byte + 1 + below(fuzz, 255)); break;
    case 2: /* replaces a word by its neighbour, or by a plausible index */
        at = at / 8 * 8 + 8 <= size ? at / 8 * 8 : 0;
        memcpy(&value, (unsigned char *)bytes + at, 8);
        value += below(fuzz, 2) ? 1 : UINT64_MAX - below(fuzz, 300);
        memcpy((unsigned char *)bytes + at, &value, 8);
        break;
    default: *byte ^= (unsigned char)(1u << below(fuzz, 8));
    }
}

/* A descriptor of something else than a token; the caller closes *also with it. */
static int foreign(struct fuzz *fuzz, const struct rig *rig, int *also)
{
    int ends[2] = {-1, -1};
    char folder[300];
    snprintf(folder, sizeof folder, "%s/m-one", rig_root);
    switch (below(fuzz, 9)) {
    case 0: return pipe(ends) ? -1 : (*also = ends[0], ends[1]);
    case 1: return pipe(ends) ? -1 : (*also = ends[1], ends[0]);
    case 2: return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) ? -1 : (*also = ends[0], ends[1]);
    case 3: return open("/", O_RDONLY);
    case 4: return open("/dev/null", O_RDWR);
    case 5: return open("/dev/zero", O_RDONLY);
    case 6: return open(folder, O_RDONLY); /* the machine's folder and its state */
    case 7: return open(rig_path("one", "state"), O_RDONLY);
    default: return open(rig->path[below(fuzz, 3)], O_WRONLY); /* the right file, opened for writing only */
    }
}

static int closed(struct fuzz *fuzz)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    switch (below(fuzz, 4)) {
    case 0: return fd;
    case 1: return -1 - (int)below(fuzz, 1000);
    case 2: return 256 + (int)below(fuzz, 1 << 20);
    default: return (int)(0x80000000u | (uint32_t)random_next(&fuzz->seed));
    }
}

/* A whole or partial copy of one token, or a mix of two. */
static int copied(struct fuzz *fuzz, const struct rig *rig)
{
    unsigned char bytes[sizeof(struct share_token) + 64] = {0};
    uint64_t size = sizeof(struct share_token), cut = below(fuzz, size);
    memcpy(bytes, &rig->token[below(fuzz, 3)], size);
    switch (below(fuzz, 6)) {
    case 0: scribble(fuzz, bytes, sizeof bytes); break;
    case 1: scribble(fuzz, bytes + 8, size - 8); break; /* keeps the magic */
    case 2: memcpy(bytes + cut, (const char *)&rig->token[below(fuzz, 3)] + cut, (size_t)(size - cut)); break;
    case 3: spoil(fuzz, bytes, size); break;
    case 4: size = below(fuzz, sizeof bytes); break;
    default: break; /* unchanged, but in another file */
    }
    return file_of(fuzz, bytes, size);
}

/* The token's own file, with a changed byte during the import. */
static void overwritten(struct fuzz *fuzz, const struct rig *rig)
{
    unsigned which = (unsigned)below(fuzz, 3);
    struct share_token token = rig->token[which];
    handle_t handle = 0x77;
    int file = open(rig->path[which], O_RDWR);
    uint64_t size = sizeof token;
    if (below(fuzz, 4) == 0)
        size = below(fuzz, 2) ? below(fuzz, size) : size + 1 + below(fuzz, 100);
    else if (below(fuzz, 8) == 0)
        token = rig->token[(which + 1 + below(fuzz, 2)) % 3];
    else
        spoil(fuzz, &token, sizeof token);
    if (pwrite(file, &token, sizeof token, 0) != sizeof token || ftruncate(file, (off_t)size))
        tap_bail("the token cannot be overwritten");
    vmm_result result = rig_import(below(fuzz, 8) ? rig->one : rig->two, rig->fd[which], &handle);
    judge(fuzz, result, handle, refusals, "tokens overwritten in place");
    if (ftruncate(file, sizeof token) || pwrite(file, &rig->token[which], sizeof token, 0) != sizeof token)
        tap_bail("the token cannot be restored");
    close(file);
}

static void malformed_descriptor(struct fuzz *fuzz, const struct rig *rig)
{
    static const int types[] = {0, 2, 3, 4, 9, 16, -1, RIG_FD | 1 << 30};
    uint64_t upper = below(fuzz, 4) ? 0 : random_next(&fuzz->seed) << 32;
    vmm_system *sys = below(fuzz, 4) ? rig->one : rig->two;
    handle_t handle = 0x77;
    int fd = -1, also = -1, type = RIG_FD;
    bool own = true;
    switch (below(fuzz, 6)) {
    case 0: fd = foreign(fuzz, rig, &also); break;
    case 1: fd = closed(fuzz), own = false; break;
    case 2: fd = copied(fuzz, rig); break;
    case 3: overwritten(fuzz, rig); return;
    case 4: /* of another machine, or of one that has ended */
        fd = sys == rig->one ? rig->other : rig->fd[below(fuzz, 3)];
        fd = dup(below(fuzz, 2) ? rig->gone : fd);
        break;
    default: /* a valid descriptor, imported as another type */
        fd = dup(rig->fd[below(fuzz, 3)]);
        type = types[below(fuzz, sizeof types / sizeof types[0])];
    }
    vmm_result result =
        vmm_mem_import_from_shareable_handle(sys, &handle, (void *)(uintptr_t)(upper | (uint32_t)fd), type);
    judge(fuzz, result, handle, refusals, "a descriptor");
    if (own)
        close(fd);
    if (also >= 0)
        close(also);
}

static void descriptors(void)
{
    struct rig rig = {0};
    struct fuzz fuzz = {.seed = random_seed(2001)};
    unsigned rounds = random_rounds(DESCRIPTORS);
    handle_t handle = 0;
    set_up(&rig);
    uint64_t one = rig_free(rig.one), two = rig_free(rig.two);
    struct census before = census_now();
    for (unsigned i = 0; i < rounds; i++)
        malformed_descriptor(&fuzz, &rig);
    verdict(&fuzz, rounds, "malformed descriptors");
    census_same(&before, "descriptors and files are unchanged");
    tap_ok(rig_free(rig.one) == one && rig_free(rig.two) == two, "free memory is unchanged");
    for (unsigned i = 0; i < 3; i++) {
        tap_ok(!rig_import(rig.one, rig.fd[i], &handle) && !vmm_mem_release(rig.one, handle),
               "the valid descriptor is still accepted");
        close(rig.fd[i]);
    }
    close(rig.other);
    close(rig.gone);
    rig_close(rig.one);
    rig_close(rig.two);
}

/* ---- fabric handles ---- */

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define BYTES VMM_FABRIC_HANDLE_SIZE

static const char *const fabric_refusals[] = {"VMM-IMPORT-FABRIC", "VMM-IMPORT-FABRIC-DOMAIN", "VMM-IMPORT-FABRIC-IMEX",
                                              "VMM-IMPORT-FABRIC-GONE", NULL};

typedef unsigned char bytes_t[BYTES];

enum { GOOD = 4, STALE = 6 };

/* Handles: valid ones of two nodes on two channels; stale ones, of memory and of a node that have ended; one of another
 * domain. */
struct fabric_rig {
    vmm_system *one, *two, *apart;
    bytes_t of[STALE + 1];
    char folder[128];
};

static vmm_system *node(const char *machine, const char *folder)
{
    vmm_system *sys = NULL;
    char spec[300];
    snprintf(spec, sizeof spec, "sim:max%s%s,imex=%s", machine ? ",machine=" : "", machine ? machine : "", folder);
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s does not start: %s", spec, vmm_last_detail()->note);
    return sys;
}

static void channel(const char *folder, unsigned number, bool there)
{
    char path[200];
    snprintf(path, sizeof path, "%s/channel%u", folder, number);
    if (there)
        close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static handle_t exported(vmm_system *sys, bytes_t bytes)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = FABRIC,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    uint64_t unit = 0;
    handle_t handle = 0;
    vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (vmm_mem_create(sys, &handle, unit, &prop, 0) ||
        vmm_mem_export_to_shareable_handle(sys, bytes, handle, FABRIC, 0))
        tap_bail("the export failed: %s", vmm_last_detail()->note);
    return handle;
}

static void fabric_set_up(struct fabric_rig *rig)
{
    static char apart[160];
    snprintf(rig->folder, sizeof rig->folder, "%s-imex", rig_root);
    snprintf(apart, sizeof apart, "%s/apart", rig->folder);
    if (mkdir(rig->folder, 0700) || mkdir(apart, 0700))
        tap_bail("no folder of channels");
    channel(rig->folder, 0, true);
    channel(apart, 0, true);
    rig->one = node("one", rig->folder);
    rig->two = node(NULL, rig->folder);
    rig->apart = node("apart", apart);
    for (unsigned i = 0; i < GOOD; i++) {
        if (i == GOOD - 1) { /* on another channel */
            channel(rig->folder, 1, true);
            channel(rig->folder, 0, false);
        }
        exported(i % 2 ? rig->two : rig->one, rig->of[i]);
    }
    channel(rig->folder, 0, true);
    vmm_mem_release(rig->one, exported(rig->one, rig->of[GOOD]));
    vmm_system *brief = node(NULL, rig->folder);
    exported(brief, rig->of[GOOD + 1]);
    rig_close(brief);
    exported(rig->apart, rig->of[STALE]);
}

static void fabric_tear_down(struct fabric_rig *rig)
{
    char apart[160];
    snprintf(apart, sizeof apart, "%s/apart", rig->folder);
    rig_close(rig->one);
    rig_close(rig->two);
    rig_close(rig->apart);
    channel(apart, 0, false);
    channel(rig->folder, 0, false);
    channel(rig->folder, 1, false);
    rmdir(apart);
    rmdir(rig->folder);
}

/* Sets the correct sum and magic for arbitrary other bytes. */
static void make_right(bytes_t bytes)
{
    struct imex_place place;
    struct share_label label;
    (void)fabric_handle_read(bytes, &place, &label);
    fabric_handle_write(bytes, &place, &label);
}

static void malform(struct fuzz *fuzz, struct fabric_rig *rig, bytes_t bytes)
{
    const unsigned char *other = rig->of[below(fuzz, STALE + 1)];
    uint64_t cut = below(fuzz, BYTES), end = cut + 1 + below(fuzz, BYTES - cut);
    memcpy(bytes, rig->of[below(fuzz, STALE + 1)], BYTES);
    switch (below(fuzz, 6)) {
    case 0: scribble(fuzz, bytes, BYTES); break;
    case 1:
        for (uint64_t flips = 1 + below(fuzz, 4); flips; flips--)
            bytes[below(fuzz, BYTES)] ^= (unsigned char)(1u << below(fuzz, 8));
        break;
    case 2: memcpy(bytes + cut, other + cut, (size_t)(end - cut)); break;
    case 3: memcpy(bytes + cut / 8 * 8, other + cut / 8 * 8, 8); break; /* one field of another handle */
    case 4: spoil(fuzz, bytes, BYTES); break;
    default: /* stale, or of another domain */
        memcpy(bytes, rig->of[GOOD + below(fuzz, STALE + 1 - GOOD)], BYTES);
        return;
    }
    if (below(fuzz, 4))
        make_right(bytes);
}

static bool is_good(const struct fabric_rig *rig, const bytes_t bytes)
{
    for (unsigned i = 0; i < GOOD; i++)
        if (!memcmp(rig->of[i], bytes, BYTES))
            return true;
    return false;
}

static void malformed_handle(struct fuzz *fuzz, struct fabric_rig *rig)
{
    unsigned char room[BYTES + 8], *bytes = room + below(fuzz, 8); /* a caller's bytes may have any alignment */
    bytes_t made;
    handle_t handle = 0x77;
    do
        malform(fuzz, rig, made);
    while (is_good(rig, made));
    memcpy(bytes, made, BYTES);
    vmm_system *sys = below(fuzz, 2) ? rig->one : rig->two;
    vmm_result result = vmm_mem_import_from_shareable_handle(sys, &handle, bytes, FABRIC);
    judge(fuzz, result, handle, fabric_refusals, "a fabric handle");
}

static uint64_t fabric_free(vmm_system *sys)
{
    vmm_context ctx;
    uint64_t bytes = 0;
    vmm_ctx_create(sys, &ctx, 0, 0);
    bytes = rig_free(sys);
    vmm_ctx_destroy(sys, ctx);
    return bytes;
}

static void fabrics(void)
{
    static struct fabric_rig rig;
    struct fuzz fuzz = {.seed = random_seed(2002)};
    unsigned rounds = random_rounds(FABRICS);
    handle_t handle = 0;
    fabric_set_up(&rig);
    uint64_t one = fabric_free(rig.one), two = fabric_free(rig.two);
    struct census before = census_now();
    for (unsigned i = 0; i < rounds; i++)
        malformed_handle(&fuzz, &rig);
    verdict(&fuzz, rounds, "malformed fabric handles");
    census_same(&before, "descriptors and files are unchanged");
    tap_ok(fabric_free(rig.one) == one && fabric_free(rig.two) == two, "free memory is unchanged");
    for (unsigned i = 0; i < GOOD; i++)
        tap_ok(!vmm_mem_import_from_shareable_handle(rig.one, &handle, rig.of[i], FABRIC) &&
                   !vmm_mem_release(rig.one, handle),
               "the valid handle is still accepted");
    fabric_tear_down(&rig);
}

int main(void)
{
    rig_begin();
    descriptors();
    fabrics();
    rig_end();
    return tap_done();
}
