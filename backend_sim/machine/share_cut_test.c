/* SPDX-License-Identifier: Apache-2.0 */
/* Another program truncates or empties a machine's state, or truncates and extends it, while processes use it. No call accesses
 * memory beyond the end of the file, which would raise SIGBUS; each call is refused or works without the state; and a newly
 * created machine works. */
#include <signal.h>
#include <sys/wait.h>

#include "process.h"
#include "random.h"
#include "share_rig.h"
#include "share_inspect.h"
#include "state_rig.h"
#include "system.h"

typedef vmm_mem_generic_allocation_handle handle_t;

enum { CALLS = 18 };

/* The process that finds its machine truncated. */
static struct {
    vmm_system *sys, *fresh;
    handle_t own, shared, imported, object, bound;
    vmm_deviceptr at, seen;
    size_t unit;
    int fd;
} side;

static void see(void *user, const vmm_object *object)
{
    (void)user;
    (void)object;
}

static vmm_result make_object(handle_t *object)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = side.unit, .handle_types = RIG_FD};
    return vmm_multicast_create(side.sys, object, &prop);
}

static void furnish(void)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = RIG_FD};
    vmm_context ctx;
    bool ok = !vmm_open("sim:h200x2,machine=cut", &side.sys) && !vmm_init(side.sys, 0) && !vmm_ctx_create(side.sys, &ctx, 0, 0) &&
              !vmm_open("sim:h200x2,machine=cut", &side.fresh) &&
              !vmm_multicast_get_granularity(side.sys, &side.unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM);
    ok = ok && !rig_create(side.sys, RIG_G, &side.own) && !rig_create(side.sys, RIG_G, &side.shared) &&
         !rig_create(side.sys, side.unit, &side.bound);
    side.fd = rig_export(side.sys, side.shared);
    ok = ok && !rig_import(side.sys, side.fd, &side.imported) && !make_object(&side.object);
    int fd = rig_export(side.sys, side.object);
    close(fd);
    ok = ok && fd >= 0 && !vmm_multicast_add_device(side.sys, side.object, 0) &&
        !vmm_multicast_add_device(side.sys, side.object, 1) &&
         !vmm_multicast_bind_mem(side.sys, side.object, 0, side.bound, 0, side.unit, 0);
    side.at = rig_map(side.sys, side.own, RIG_G);
    side.seen = rig_map(side.sys, side.imported, RIG_G);
    if (!ok || !side.at || !side.seen)
        _exit(90);
}

static void look(void)
{
    char why[SHARE_WHY];
    struct share *share = share_open_there("m-cut", why);
    if (!share)
        return;
    share_inspect_free(share_inspect(share));
    share_close(share);
}

/* Does the call report the actual state? */
static bool call(unsigned which)
{
    handle_t handle = 0;
    vmm_deviceptr at = 0;
    vmm_context ctx;
    uint64_t bytes, total;
    vmm_system *sys = side.sys;
    switch (which) {
    case 0: return rig_create(sys, RIG_G, &handle) && rig_reported("VMM-SHARE-STATE");
    case 1: return vmm_mem_alloc(sys, &at, RIG_G) && rig_reported("VMM-SHARE-STATE");
    case 2: return vmm_mem_get_info(sys, &bytes, &total) && rig_reported("VMM-SHARE-STATE");
    case 3: return rig_export(sys, side.own) < 0;
    case 4: return rig_export(sys, side.shared) < 0;
    case 5: return rig_import(sys, side.fd, &handle) && rig_reported("VMM-SHARE-STATE");
    case 6: return vmm_multicast_add_device(sys, side.object, 0) != VMM_SUCCESS;
    case 7: return vmm_multicast_bind_mem(sys, side.object, 0, side.own, 0, RIG_G, 0) != VMM_SUCCESS;
    case 8: return vmm_multicast_unbind(sys, side.object, 0, 0, side.unit) != VMM_SUCCESS;
    case 9: return vmm_init(side.fresh, 0) && rig_reported("VMM-SHARE-STATE");
    case 10: return vmm_visit(sys, see, NULL) == VMM_SUCCESS;
    case 11: return !vmm_memset_d8(sys, side.at, 1, RIG_G) && rig_byte(sys, side.at) == 1;
    case 12: return rig_byte(sys, side.seen) >= 0;
    case 13: rig_unmap(sys, side.seen, RIG_G); return (side.seen = rig_map(sys, side.imported, RIG_G)) != 0;
    case 14: look(); return true;
    case 15: return !vmm_ctx_create(sys, &ctx, 0, 1) && !vmm_ctx_destroy(sys, ctx);
    case 16: make_object(&handle); return rig_export(sys, handle) < 0;
    default: return vmm_mem_release(sys, side.object) == VMM_SUCCESS || side.object == 0;
    }
}

/* Truncates the file to that many bytes, and maybe extends it again. */
static void cut(uint64_t bytes, bool long_again)
{
    const char *path = rig_path("cut", "state");
    if (truncate(path, (off_t)bytes) || (long_again && truncate(path, (off_t)(sizeof(struct share_state) + os_page_size()))))
        _exit(91);
}

/* Exit status 0: all answers were right; 1 + n: call n answered wrong; 50: closing failed. A signal: an access beyond
 * the end of the file. */
static _Noreturn void run(uint64_t seed, uint64_t bytes, bool long_again)
{
    unsigned order[CALLS];
    alarm(60);
    furnish();
    cut(bytes, long_again);
    for (unsigned i = 0; i < CALLS; i++)
        order[i] = i;
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned j = i + (unsigned)random_below(&seed, CALLS - i), next = order[j];
        order[j] = order[i];
        if (!call(next))
            _exit((int)(1 + next));
    }
    vmm_mem_release(side.sys, side.shared);
    vmm_mem_release(side.sys, side.imported);
    rig_close(side.fresh);
    rig_close(side.sys);
    _exit(0);
}

int main(void)
{
    uint64_t seed = random_seed(1010);
    const uint64_t lengths[] = {0, 1, 4096, offsetof(struct share_state, block), sizeof(struct share_state) - 4096,
                                sizeof(struct share_state) - 1};
    rig_begin();
    for (unsigned i = 0; i < random_rounds(12); i++) {
        int status = -1;
        uint64_t length = lengths[i / 2 % (sizeof lengths / sizeof lengths[0])];
        bool long_again = i % 2 && length <= 1; /* with its header the state would be as good as before */
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            run(seed + i, length, long_again);
        waitpid(child, &status, 0);
        tap_ok(status == 0, "a state of %llu bytes%s: signal %d, status %d", (unsigned long long)length,
               long_again ? ", then extended with zeros" : "", WIFSIGNALED(status) ? WTERMSIG(status) : 0, WEXITSTATUS(status));
        os_folder_each(rig_root, 10, rig_count, &(unsigned){0});
        vmm_system *sys = rig_open(NULL); /* sweeps the leftovers */
        rig_close(sys);
        char command[200];
        snprintf(command, sizeof command, "rm -rf %s/m-cut", rig_root);
        if (system(command))
            tap_bail("no rm");
    }
    rig_end();
    return tap_done();
}
