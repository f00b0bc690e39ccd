/* SPDX-License-Identifier: Apache-2.0 */
/* Group Z: what every call answers after an operation faulted, in order. Part of ../memops.c.
 *
 *     Z.write_unmapped.3.alloc    the fourth call after the fault
 */

static const char *const fault_ways[] = {"write_unmapped", "write64_unmapped", "wait_unmapped", "wait_narrowed", "write_narrowed",
                                         "write_read_only", "write_no_rights", "wait_no_rights", "batch_unmapped", "kernel"};
static size_t fault_case;

static const char *const after_calls[] = {"query",   "query_again", "sync",   "context", "alloc",    "write",      "wait",
                                          "batch",   "other_stream", "event", "dtoh",    "get_info", "reserve",    "create",
                                          "unmap",   "set_access",  "other_context", "other_write", "stream_destroy",
                                          "bad_flags", "unaligned"};

static CUresult after_fault(size_t which)
{
    static CUcontext other;
    static CUstream other_stream;
    CUdeviceptr p = 0;
    CUevent e = NULL;
    Handle h = 0;
    size_t a, b;
    int v = 0;
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    CUstreamBatchMemOpParams one = entry_of(WRITE32, dev, 1, 0);
    CUresult r;
    switch (which) {
    case 0:
    case 1: return cuStreamQuery(st);
    case 2: return cuStreamSynchronize(st);
    case 3: return cuCtxSynchronize();
    case 4: return cuMemAlloc(&p, 4096);
    case 5: return write_to(st, dev, 1, 4);
    case 6: return wait_for(st, dev, 1, 4);
    case 7: return batch(2, st, 1, &one, 0);
    case 8: return cuStreamQuery(st2);
    case 9: return cuEventCreate(&e, 0);
    case 10: return cuMemcpyDtoH(&v, dev, 4);
    case 11: return cuMemGetInfo(&a, &b);
    case 12: return cuMemAddressReserve(&p, G, 0, 0, 0);
    case 13: return cuMemCreate(&h, G, &prop, 0);
    case 14: return cuMemUnmap(vm_alias, G);
    case 15: return give(vm_alias, G, L_DEVICE, RW);
    case 16: return cuCtxCreate(&other, NULL, 0, 0);
    case 17:
        r = other ? cuStreamCreate(&other_stream, 0) : CUDA_ERROR_INVALID_CONTEXT;
        return r ? r : write_to(other_stream, flag_at, 1, 4);
    case 18: return cuStreamDestroy(st);
    case 19: return op(&ops[0], st2, dev, 1, 0x10);
    default: return write_to(st2, dev + 1, 1, 4);
    }
}

static void fault_body(void)
{
    char id[CASE_ID];
    const char *way = fault_ways[fault_case];
    start_vmm();
    load_kernels();
    within(2500);
    CUresult r = CUDA_SUCCESS;
    CUstreamBatchMemOpParams two[2] = {entry_of(WRITE32, dev, 5, 0), entry_of(WRITE32, vm, 6, 0)};
    switch (fault_case) {
    case 0:
    case 1:
        gate(st);
        r = write_to(st, vm, 5, fault_case ? 8 : 4);
        cuMemUnmap(vm, G);
        break;
    case 2:
        r = wait_for(st, vm, 5, 4);
        cuMemUnmap(vm, G);
        break;
    case 3:
        r = wait_for(st, vm, 5, 4);
        give(vm, G, L_DEVICE, NONE);
        break;
    case 4:
        gate(st);
        r = write_to(st, vm, 5, 4);
        give(vm, G, L_DEVICE, READ);
        break;
    case 5:
        give(vm, G, L_DEVICE, READ);
        r = write_to(st, vm, 5, 4);
        break;
    case 6:
        give(vm, G, L_DEVICE, NONE);
        r = write_to(st, vm, 5, 4);
        break;
    case 7:
        give(vm, G, L_DEVICE, NONE);
        r = wait_for(st, vm, 5, 4);
        break;
    case 8:
        gate(st);
        r = batch(2, st, 2, two, 0);
        cuMemUnmap(vm, G);
        break;
    default:
        r = kernel_writes(st, vm + 8 * G - G);
        break;
    }
    CUresult behind = cuMemsetD8Async(dev + 4096, 1, 16, st);
    open_gate();
    snprintf(id, sizeof id, "Z.%s", way);
    say(id, "%s behind=%s %s", name_of(r), name_of(behind), settle(st));
    for (size_t i = 0; i < COUNT(after_calls); i++) {
        snprintf(id, sizeof id, "Z.%s.%zu.%s", way, i, after_calls[i]);
        R(id, after_fault(i));
    }
    _exit(0);
}

static void group_z(void)
{
    char id[CASE_ID];
    for (fault_case = 0; fault_case < COUNT(fault_ways); fault_case++) {
        snprintf(id, sizeof id, "Z.%s!", fault_ways[fault_case]);
        child(id, fault_body);
    }
}
