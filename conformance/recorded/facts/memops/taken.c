/* SPDX-License-Identifier: Apache-2.0 */
/* Group T: operations behind a gate, or a pending wait, whose memory is unmapped, narrowed or freed meanwhile. Part of ../memops.c.
 *
 *     T.write32.unmap    gate, write; unmap; open the gate
 *     T.pending.none     a wait that the device polls; revoke the rights; satisfy it through an alias
 */

enum { TAKES = 9, TAKEN_OPS = 6 };
static const char *const takes[TAKES] = {"nothing", "unmap",   "none", "read", "release",
                                         "remap",   "replace", "remap_none", "unmap_free"};
static const char *const taken_ops[TAKEN_OPS] = {"write32", "wait32", "write64", "wait64", "batch", "pending"};

static CUresult take(size_t how)
{
    CUresult r = CUDA_SUCCESS;
    switch (how) {
    case 1: return cuMemUnmap(vm, G);
    case 2: return give(vm, G, L_DEVICE, NONE);
    case 3: return give(vm, G, L_DEVICE, READ);
    case 4: return cuMemRelease(vm_handle);
    case 5:
        r = cuMemUnmap(vm, G);
        map(vm, G, vm_handle);
        give(vm, G, L_DEVICE, RW);
        return r;
    case 6: /* other memory, which holds 7 */
        r = cuMemUnmap(vm, G);
        map(vm, G, make(G));
        give(vm, G, L_DEVICE, RW);
        cuMemsetD32(vm, 7, 16);
        return r;
    case 7:
        r = cuMemUnmap(vm, G);
        map(vm, G, vm_handle);
        return r;
    case 8:
        r = cuMemUnmap(vm, G);
        cuMemUnmap(vm_alias, G);
        cuMemAddressFree(vm, 16 * G);
        return r;
    default: return r;
    }
}

static void taken_one(size_t i, char *id, int run)
{
    const size_t what = i / TAKES, how = i % TAKES;
    snprintf(id, CASE_ID, "T.%s.%s", taken_ops[what], takes[how]);
    if (!run)
        return;
    char opened[CASE_ID + 8];
    snprintf(opened, sizeof opened, "%s.opened", id);
    make_vmm();
    CUstreamBatchMemOpParams two[2] = {entry_of(WRITE32, vm + 64, 5, 0), entry_of(WRITE64, vm + 128, 6, 0)};
    const bool pending = what == 5;
    CUresult r;
    if (!pending)
        gate(st);
    switch (what) {
    case 0: r = write_to(st, vm, 5, 4); break;
    case 1: r = wait_for(st, vm, 0, 4); break;
    case 2: r = write_to(st, vm, 5, 8); break;
    case 3: r = wait_for(st, vm, 0, 8); break;
    case 4: r = batch(2, st, 2, two, 0); break;
    default: r = wait_for(st, vm, 7, 4); break;
    }
    const char *before = settle(st);
    CUresult taken = take(how);
    const char *between = settle(st);
    say(id, "%s before=%s taken=%s between=%s", name_of(r), before, name_of(taken), between);
    CUresult satisfied = CUDA_SUCCESS;
    if (pending && how != 8)
        satisfied = write_to(st2, vm_alias, 7, 4);
    open_gate();
    const char *after = settle(st);
    if (strcmp(after, "WAITS") == 0) {
        say(opened, "%s by=%s", after, name_of(satisfied));
        _exit(0);
    }
    CUresult again = cuStreamQuery(st), sync = cuStreamSynchronize(st), context = cuCtxSynchronize();
    const char *is = value_at(vm + (what == 4 ? 64 : 0), 4), *alias = value_at(vm_alias + (what == 4 ? 64 : 0), 4);
    say(opened, "%s by=%s again=%s sync=%s context=%s is=%s alias=%s", after, name_of(satisfied), name_of(again), name_of(sync),
        name_of(context), is, alias);
    unmake_vmm();
}

/* Memory that is freed under a pending wait: does the call wait, and what becomes of the wait? */
enum { FREES = 6 };
static const char *const frees[FREES] = {"mem_free", "free_host", "unregister", "free_other", "unregister_other", "free_host_other"};
static size_t taken_case;
static CUdeviceptr other_alloc;
static void *other_host, *pages_of[2];

static CUresult free_it(size_t which)
{
    switch (which) {
    case 0: return cuMemFree(dev);
    case 1:
    case 5: return cuMemFreeHost(other_host);
    case 2: return cuMemHostUnregister(pages_of[0]);
    case 3: return cuMemFree(other_alloc);
    default: return cuMemHostUnregister(pages_of[1]);
    }
}

/* Waits on dev cannot be ended by a store: another stream's write ends them. */
static void freed_body(void)
{
    char id[CASE_ID];
    start();
    within(3000);
    snprintf(id, sizeof id, "T.free.%s", frees[taken_case]);
    must("alloc", cuMemAlloc(&other_alloc, 4 << 20));
    must("host", cuMemHostAlloc(&other_host, 65536, 0));
    for (int i = 0; i < 2; i++) {
        if (posix_memalign(&pages_of[i], 4096, 65536))
            _exit(1);
        memset(pages_of[i], 0, 65536);
        must("register", cuMemHostRegister(pages_of[i], 65536, 0));
    }
    memset(other_host, 0, 65536);
    const CUdeviceptr at[FREES] = {dev, (CUdeviceptr)(uintptr_t)other_host, (CUdeviceptr)(uintptr_t)pages_of[0], flag_at, flag_at, flag_at};
    CUresult r = wait_for(st, at[taken_case], 1, 4);
    const char *before = settle(st);
    const char *freed = call_aside(free_it, taken_case);
    say(id, "%s before=%s freed=%s after=%s", name_of(r), before, freed, settle(st));
    if (taken_case < 3 && !aside.returned) {
        if (taken_case == 0)
            write_to(st2, dev, 1, 4);
        else
            *(volatile uint32_t *)(uintptr_t)at[taken_case] = 1;
        const bool returns = aside_returns();
        say(id, "%s answer=%s then=%s", returns ? "returns" : "BLOCKS", returns ? name_of(aside.answer) : "-", settle(st));
    }
    _exit(0);
}

static void group_t(void)
{
    char id[CASE_ID];
    if (is_wanted("T.taken"))
        run_cases(start, (size_t)TAKES * TAKEN_OPS, taken_one);
    for (taken_case = 0; taken_case < FREES; taken_case++) {
        snprintf(id, sizeof id, "T.free.%s!", frees[taken_case]);
        child(id, freed_body);
    }
}
