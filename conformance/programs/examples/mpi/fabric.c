/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one node in the hands of all: rank 0 creates it and sends the 64 bytes of its fabric handle, every rank imports
 * it, writes its part, and rank 0 reads all of them.
 *
 *   rank 0   create, export ==64 bytes==> MPI_Send      map, write [0]   barrier   read [0][1][2][3]   release
 *   rank n                                MPI_Recv ==> import, map, write [n]   barrier                       release
 *
 *   mpirun -n 4 fabric 'sim:gb200x4,machine=node%d,imex=DIR'   each rank a node of a simulated NVLink domain
 *   mpirun -n 4 fabric cuda                                    on machines with a CUDA driver and an IMEX channel
 *
 * %d in the spec is the rank. Without an argument $CUVMM_BACKEND says what is opened. */
#include <cuvmm/vmm.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef vmm_mem_generic_allocation_handle handle_t;

static int rank, ranks, device;
static vmm_system *sys;
static vmm_context ctx;

/* Says what is wrong; the ranks end together, at the next everybody(). */
static bool fail(const char *what)
{
    char text[2048];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    fprintf(stderr, "rank %d: %s: %s\n%s", rank, what, vmm_result_name(vmm_last_detail()->result), text);
    return false;
}

#define TRY(call)                  \
    do {                           \
        if ((call) != VMM_SUCCESS) \
            return fail(#call);    \
    } while (0)

/* Is all well with every rank? None continues alone and waits for one that has ended. */
static bool everybody(bool well)
{
    int mine = well, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* The spec with the rank in place of %d; NULL as it is. */
static const char *spec_of(const char *given, char *spec, size_t room)
{
    const char *place = given ? strstr(given, "%d") : NULL;
    if (!place)
        return given;
    snprintf(spec, room, "%.*s%d%s", (int)(place - given), given, rank, place + 2);
    return spec;
}

/* A device and a context on it; several ranks of a machine take its devices in turn. */
static bool open_device(const char *spec)
{
    int devices = 0;
    TRY(vmm_open(spec, &sys));
    TRY(vmm_init(sys, 0));
    TRY(vmm_device_get_count(sys, &devices));
    device = devices ? rank % devices : 0;
    TRY(vmm_ctx_create(sys, &ctx, 0, device));
    return true;
}

/* Rank 0: memory, and the bytes that stand for it. Where there are no fabric handles, or none for this user, create fails. */
static bool create(handle_t *memory, uint64_t *size, unsigned char *handle)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    TRY(vmm_mem_get_allocation_granularity(sys, size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRY(vmm_mem_create(sys, memory, *size, &prop, 0));
    TRY(vmm_mem_export_to_shareable_handle(sys, handle, *memory, VMM_MEM_HANDLE_TYPE_FABRIC, 0));
    return true;
}

static void send_to_all(const uint64_t *size, const unsigned char *handle)
{
    for (int to = 1; to < ranks; to++) {
        MPI_Send(handle, VMM_FABRIC_HANDLE_SIZE, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        MPI_Send(size, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD); /* no call returns the size of an import */
    }
}

/* The others. */
static bool receive_and_import(handle_t *memory, uint64_t *size)
{
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE];
    MPI_Recv(handle, sizeof handle, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TRY(vmm_mem_import_from_shareable_handle(sys, memory, handle, VMM_MEM_HANDLE_TYPE_FABRIC));
    return true;
}

/* Each rank its part, written when this returns. */
static bool map_and_write(handle_t memory, uint64_t size, vmm_deviceptr *at)
{
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    uint64_t part = size / (uint64_t)ranks;
    TRY(vmm_mem_address_reserve(sys, at, size, 0, 0, 0));
    TRY(vmm_mem_map(sys, *at, size, 0, memory, 0));
    TRY(vmm_mem_set_access(sys, *at, size, &desc, 1));
    TRY(vmm_memset_d8(sys, *at + (uint64_t)rank * part, (unsigned char)(rank + 1), part));
    TRY(vmm_ctx_synchronize(sys));
    return true;
}

/* Every byte is that of the rank that was to write it. */
static bool verify(vmm_deviceptr at, uint64_t part)
{
    static unsigned char bytes[1 << 16];
    unsigned long long wrong = 0;
    for (uint64_t done = 0, now; done < part * (uint64_t)ranks; done += now) {
        now = part - done % part < sizeof bytes ? part - done % part : sizeof bytes;
        TRY(vmm_memcpy_dtoh(sys, bytes, at + done, now));
        for (uint64_t i = 0; i < now; i++)
            wrong += bytes[i] != (unsigned char)(done / part + 1);
    }
    printf("%d ranks wrote %llu bytes each, %llu are wrong\n", ranks, (unsigned long long)part, wrong);
    return !wrong;
}

static bool give_back(handle_t memory, uint64_t size, vmm_deviceptr at)
{
    TRY(vmm_mem_unmap(sys, at, size));
    TRY(vmm_mem_release(sys, memory));
    TRY(vmm_mem_address_free(sys, at, size));
    TRY(vmm_ctx_destroy(sys, ctx));
    return true;
}

static bool run(const char *spec)
{
    handle_t memory = 0;
    uint64_t size = 0;
    vmm_deviceptr at = 0;
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE];
    if (!everybody(open_device(spec)))
        return false;
    if (!everybody(rank != 0 || create(&memory, &size, handle)))
        return false;
    if (rank == 0)
        send_to_all(&size, handle);
    if (!everybody(rank == 0 || receive_and_import(&memory, &size))) /* from here on rank 0 might release it */
        return false;
    if (!everybody(map_and_write(memory, size, &at))) /* a barrier: every part is written */
        return false;
    bool right = rank != 0 || verify(at, size / (uint64_t)ranks);
    return everybody(give_back(memory, size, at) && right);
}

int main(int argc, char **argv)
{
    char text[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool well = run(spec_of(argc > 1 ? argv[1] : NULL, text, sizeof text));
    vmm_close(sys);
    MPI_Finalize();
    return !well;
}
