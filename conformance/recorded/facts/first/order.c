/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with two errors at once: which one determines the result? Recorded later, on the H100. Part of ../first.c. */

static void both_in_create(const char *id, size_t size, int device, int handle_types, u64 flags)
{
    CUmemAllocationProp p = on_device(device);
    Handle h;
    p.requestedHandleTypes = (CUmemAllocationHandleType)handle_types;
    R(id, cuMemCreate(&h, size, &p, flags));
}

static void t_order(void)
{
    begin();
    both_in_create("create bad id+bad size", 1, 99, 0, 0);
    both_in_create("create bad id+flags", G, 99, 0, 1);
    both_in_create("create bad id+size0", 0, 99, 0, 0);
    both_in_create("create fabric+bad size", 1, 0, 8, 0);
    both_in_create("create fabric+huge", 1ull << 44, 0, 8, 0);
    both_in_create("create win32+huge", 1ull << 44, 0, 2, 0);
    Handle h = make(G), h2 = make(2 * G);
    CUdeviceptr p = reserve(4 * G);
    R("map off+unreserved", cuMemMap(p + 64 * G, G, G, h, 0));
    R("map flags+off", cuMemMap(p, G, G, h, 1));
    R("map unreserved+size", cuMemMap(p + 64 * G, 2 * G, 0, h, 0));
    R("map unaligned+size", cuMemMap(p + 1, 2 * G, 0, h, 0));
    R("map h0+unaligned", cuMemMap(p + 1, 2 * G, 0, 0, 0));
    R("map size0+off", cuMemMap(p, 0, G, h, 0));
    cuMemMap(p, G, 0, h, 0);
    R("map overlap+size mismatch", cuMemMap(p, G, 0, h2, 0));
    CUmemAccessDesc a = rights(99, 2), host = desc(L_HOST, 0, RW);
    R("setaccess badflag+badid", cuMemSetAccess(p, G, &a, 1));
    R("setaccess host on unmapped", cuMemSetAccess(p + G, G, &host, 1));
    R("setaccess host sub", cuMemSetAccess(p, 2 * G, &host, 1));
    u64 flags;
    int fd;
    R("getaccess bad id + unmapped", cuMemGetAccess(&flags, &a.location, p + G));
    R("export type0+flags", cuMemExportToShareableHandle(&fd, h, 0, 1));
}
