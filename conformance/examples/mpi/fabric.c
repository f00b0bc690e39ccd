/* Memory of one node in the hands of all: rank 0 creates it and sends the 64 bytes of its fabric handle, every rank imports
 * it, writes its part, and rank 0 reads all of them.
 *
 *   rank 0   create, export ==64 bytes==> MPI_Send      map, write [0]          barrier   read [0][1][2][3]   release
 *   rank n                                MPI_Recv ==> import, map, write [n]   barrier                       release
 *
 *   mpirun -n 4 fabric 'sim:gb200x4,machine=node%d,imex=DIR'   each rank a node of a simulated NVLink domain
 *   mpirun -n 4 fabric cuda                                    on machines with a CUDA driver and an IMEX channel
 *
 * %d in the spec is the rank. Without an argument $CUVMM_BACKEND says what is opened. */
#include <cuvmm/vmm.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static vmm_system *sys;
static vmm_context ctx;

/* Ends all ranks, with the reason. */
static void fail(const char *what)
{
    char text[2048];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    fprintf(stderr, "rank %d: %s: %s\n%s", rank, what, vmm_result_name(vmm_last_detail()->result), text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define TRY(call)                   \
    do {                            \
        if ((call) != VMM_SUCCESS)  \
            fail(#call);            \
    } while (0)

/* The spec with the rank in place of %d; NULL as it is. */
static const char *spec_of(const char *given, char *spec, size_t room)
{
    const char *place = given ? strstr(given, "%d") : NULL;
    if (!place)
        return given;
    snprintf(spec, room, "%.*s%d%s", (int)(place - given), given, rank, place + 2);
    return spec;
}

/* The device of this rank, with a context; several ranks of a machine take its devices in turn. */
static int open_device(const char *spec)
{
    int devices = 0, fabric = 0, device;
    TRY(vmm_open(spec, &sys));
    TRY(vmm_init(sys, 0));
    TRY(vmm_device_get_count(sys, &devices));
    if (devices < 1) {
        fprintf(stderr, "rank %d: there is no device\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    device = rank % devices;
    TRY(vmm_ctx_create(sys, &ctx, 0, device));
    TRY(vmm_device_get_attribute(sys, &fabric, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, device));
    if (!fabric)
        fprintf(stderr, "rank %d: device %d has no fabric handles\n", rank, device);
    return device;
}

/* Rank 0: memory, and its handle to everybody. */
static vmm_mem_generic_allocation_handle create_and_send(int device, uint64_t *size)
{
    vmm_mem_generic_allocation_handle memory = 0;
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE];
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    TRY(vmm_mem_get_allocation_granularity(sys, size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRY(vmm_mem_create(sys, &memory, *size, &prop, 0));
    TRY(vmm_mem_export_to_shareable_handle(sys, handle, memory, VMM_MEM_HANDLE_TYPE_FABRIC, 0));
    for (int to = 1; to < ranks; to++) {
        MPI_Send(handle, sizeof handle, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        MPI_Send(size, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD); /* no call tells how large an import is */
    }
    return memory;
}

/* The others. */
static vmm_mem_generic_allocation_handle receive_and_import(uint64_t *size)
{
    vmm_mem_generic_allocation_handle memory = 0;
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE];
    MPI_Recv(handle, sizeof handle, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TRY(vmm_mem_import_from_shareable_handle(sys, &memory, handle, VMM_MEM_HANDLE_TYPE_FABRIC));
    return memory;
}

/* Every byte, by the rank that was to write it. */
static int wrong_bytes(vmm_deviceptr at, uint64_t part)
{
    unsigned char *bytes = malloc(part);
    int wrong = 0;
    for (int of = 0; bytes && of < ranks; of++) {
        TRY(vmm_memcpy_dtoh(sys, bytes, at + (uint64_t)of * part, part));
        for (uint64_t i = 0; i < part; i++)
            wrong += bytes[i] != (unsigned char)(of + 1);
    }
    free(bytes);
    return bytes ? wrong : 1;
}

int main(int argc, char **argv)
{
    char text[512];
    uint64_t size = 0, part;
    vmm_deviceptr at = 0;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int device = open_device(spec_of(argc > 1 ? argv[1] : NULL, text, sizeof text));
    vmm_mem_generic_allocation_handle memory =
        rank == 0 ? create_and_send(device, &size) : receive_and_import(&size);
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};

    TRY(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0));
    TRY(vmm_mem_map(sys, at, size, 0, memory, 0));
    TRY(vmm_mem_set_access(sys, at, size, &desc, 1));
    part = size / (uint64_t)ranks;
    TRY(vmm_memset_d8(sys, at + (uint64_t)rank * part, (unsigned char)(rank + 1), part));
    TRY(vmm_ctx_synchronize(sys)); /* written, before anybody is told so */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        wrong = wrong_bytes(at, part);
        printf("%d ranks wrote %llu bytes each, %d are wrong\n", ranks, (unsigned long long)part, wrong);
    }
    TRY(vmm_mem_unmap(sys, at, size));
    TRY(vmm_mem_release(sys, memory));
    TRY(vmm_mem_address_free(sys, at, size));
    TRY(vmm_ctx_destroy(sys, ctx));
    vmm_close(sys);
    MPI_Finalize();
    return wrong != 0;
}
