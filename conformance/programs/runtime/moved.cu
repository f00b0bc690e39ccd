/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the CUDA runtime with managed memory and arrays, as nvcc compiles it, with the C++ forms of the toolkit's header. Its
 * kernel runs from its PTX.
 *
 *     moved --help      prints how it is used: no driver is needed for that
 *     moved             1024 of 1024 elements are right, then cudaSuccess
 */
#include <cstdio>
#include <cstring>

__global__ void triple(unsigned *all)
{
    all[blockDim.x * blockIdx.x + threadIdx.x] *= 3;
}

__managed__ unsigned offset = 5;

enum { WIDTH = 64, HEIGHT = 16, N = WIDTH * HEIGHT };

/* To where a pointer's memory is wanted: the first device. */
static void prefetch(const void *at, size_t size)
{
    cudaMemLocation device = {};
    device.type = cudaMemLocationTypeDevice;
    cudaMemAdvise(at, size, cudaMemAdviseSetPreferredLocation, device);
    cudaMemPrefetchAsync(at, size, device, 0, 0);
}

/* Through an array of pairs, turned upside down by the copies back. */
static void through_array(unsigned *all)
{
    cudaArray_t array = 0;
    cudaChannelFormatDesc pairs = cudaCreateChannelDesc<uint2>();
    cudaMemcpy3DParms row = {};
    cudaMallocArray(&array, &pairs, WIDTH / 2, HEIGHT);
    cudaMemcpy2DToArray(array, 0, 0, all, WIDTH * sizeof *all, WIDTH * sizeof *all, HEIGHT, cudaMemcpyDefault);
    row.srcArray = array;
    row.extent = make_cudaExtent(WIDTH / 2, 1, 1);
    row.kind = cudaMemcpyDefault;
    for (int y = 0; y < HEIGHT; y++) {
        row.srcPos = make_cudaPos(0, y, 0);
        row.dstPtr = make_cudaPitchedPtr(all + (HEIGHT - 1 - y) * WIDTH, WIDTH * sizeof *all, WIDTH, 1);
        cudaMemcpy3D(&row);
    }
    cudaFreeArray(array);
}

static int moved()
{
    unsigned *all = 0;
    int right = 0, place = 77;
    cudaMallocManaged(&all, N * sizeof *all);
    for (int i = 0; i < N; i++)
        all[i] = i + offset;
    prefetch(all, N * sizeof *all);
    triple<<<HEIGHT, WIDTH>>>(all);
    through_array(all);
    cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeLastPrefetchLocation, all, N * sizeof *all);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++)
        right += place == 0 && all[i] == 3 * ((HEIGHT - 1 - i / WIDTH) * WIDTH + i % WIDTH + offset);
    cudaFree(all);
    return right;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts("Triples numbers in managed memory, and turns them over in an array.");
        return 0;
    }
    int right = moved();
    printf("%d of %d elements are right, then %s\n", right, N, cudaGetErrorName(cudaGetLastError()));
    return right != N;
}
