/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the CUDA runtime: a kernel, a template, variables and launches as compilers emit them. Its kernels for the simulator
 * are in kernels.c.
 *
 *     sums --help       prints how it is used: no driver is needed for that
 *     sums              1000 of 1000 sums are right
 *
 * With -DPLUGIN it is a library instead, whose function sums() a program finds by dlopen. clang compiles it without the toolkit's
 * headers: what it needs of them is declared here.
 */
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __host__ __attribute__((host))
typedef __SIZE_TYPE__ size_t;
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef struct CUstream_st *cudaStream_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDefault = 4 };
extern "C" {
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
int cudaGetLastError(void);
const char *cudaGetErrorName(int);
int printf(const char *, ...);
int strcmp(const char *, const char *);
}
struct index {
    unsigned x;
};
extern "C" __device__ index blockIdx, blockDim, threadIdx;
#define SYMBOL(name) (&(name))
#else
#include <cstdio>
#include <cstring>
#define SYMBOL(name) name
#endif

__constant__ int factor = 1;
__device__ int launches;

template <class T> __global__ void add(const T *a, const T *b, T *c, int n)
{
    int i = (int)(blockDim.x * blockIdx.x + threadIdx.x);
    if (i < n)
        c[i] = factor * (a[i] + b[i]);
    if (!i)
        launches++;
}

enum { N = 1000 };

static int *on_device(const int *from)
{
    void *made = 0;
    cudaMalloc(&made, N * sizeof(int));
    if (from)
        cudaMemcpyAsync(made, from, N * sizeof(int), cudaMemcpyDefault);
    return (int *)made;
}

extern "C" int sums(void)
{
    int a[N], b[N], c[N] = {0}, right = 0, three = 3, count = 0;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    int *x = on_device(a), *y = on_device(b), *z = on_device(0);
    cudaMemcpyToSymbol(SYMBOL(factor), &three, sizeof three);
    add<int><<<4, 256>>>(x, y, z, N);
    add<int><<<dim3(2, 2), dim3(16, 16)>>>(x, y, z, N);
    if (cudaGetLastError())
        return 2;
    cudaMemcpyFromSymbol(&count, SYMBOL(launches), sizeof count);
    cudaMemcpyAsync(c, z, sizeof c, cudaMemcpyDefault);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    for (int i = 0; i < N; i++)
        right += c[i] == 9 * i;
    add<float><<<1, 1>>>(0, 0, 0, 0); // this one has no twin
    printf("%d of %d sums are right, %d launches, then %s\n", right, N, count, cudaGetErrorName(cudaGetLastError()));
    return right != N;
}

#ifndef PLUGIN
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        printf("Adds numbers on a device.\n");
        return 0;
    }
    return sums();
}
#endif
