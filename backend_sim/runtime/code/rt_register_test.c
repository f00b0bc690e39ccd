/* SPDX-License-Identifier: Apache-2.0 */
/* Registration at the scale of large libraries, and by several threads: plugins are loaded and closed while others launch. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "testing/emitted.h"

enum { IMAGES = 2000, EACH = 50, FUNCTIONS = IMAGES * EACH, THREADS = 4, ROUNDS = 60 };

static char functions[FUNCTIONS];
static void **images[IMAGES];

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Checks a sample of functions by name; that loads only a few images. */
static void test_many(void)
{
    static const char *const names[2] = {"nothing", "vectorAdd"};
    double begin = milliseconds();
    for (int i = 0; i < IMAGES; i++) {
        images[i] = __cudaRegisterFatBinary(&fat_binary);
        for (int j = 0; j < EACH; j++)
            register_function(images[i], &functions[i * EACH + j], names[j & 1]);
        __cudaRegisterFatBinaryEnd(images[i]);
    }
    tap_note("%d functions of %d fat binaries were registered in %.1f ms of CPU time", FUNCTIONS, IMAGES, milliseconds() - begin);
    int wrong = 0;
    for (int i = 0; i < FUNCTIONS; i += 997) {
        const char *name = NULL;
        wrong += cudaFuncGetName(&name, &functions[i]) != cudaSuccess || strcmp(name, names[i & 1]) != 0;
    }
    EQUAL(wrong, 0);
    OK(cudaLaunchKernel(&functions[FUNCTIONS - 2], dim(1), dim(1), NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    begin = milliseconds();
    for (int i = 0; i < IMAGES; i++)
        __cudaUnregisterFatBinary(images[i]);
    tap_note("and unregistered in %.1f ms", milliseconds() - begin);
    const char *name = NULL;
    for (int i = 0; i < FUNCTIONS; i += 997)
        wrong += cudaFuncGetName(&name, &functions[i]) != cudaErrorInvalidResourceHandle;
    EQUAL(wrong, 0);
    IS(cudaGetLastError(), ErrorInvalidResourceHandle);
}

static atomic_int failures;

static void must(bool good)
{
    if (!good)
        atomic_fetch_add(&failures, 1);
}

/* A plugin: registers its functions, uses them, and is closed. */
static void *come_and_go(void *first)
{
    char *own = first;
    for (int round = 0; round < ROUNDS; round++) {
        const char *name = NULL;
        void **image = __cudaRegisterFatBinary(&fat_binary);
        for (int i = 0; i < EACH; i++)
            register_function(image, &own[i], "nothing");
        __cudaRegisterFatBinaryEnd(image);
        must(cudaLaunchKernel(&own[round % EACH], dim(1), dim(1), NULL, 0, NULL) == cudaSuccess);
        must(cudaFuncGetName(&name, &own[EACH - 1]) == cudaSuccess && !strcmp(name, "nothing"));
        must(cudaDeviceSynchronize() == cudaSuccess);
        __cudaUnregisterFatBinary(image);
        must(cudaFuncGetName(&name, &own[0]) == cudaErrorInvalidResourceHandle);
    }
    return NULL;
}

/* All threads use one function for the first time. */
static void *use_shared(void *stub)
{
    cudaKernel_t kernel = NULL;
    must(cudaGetKernel(&kernel, stub) == cudaSuccess);
    for (int i = 0; i < ROUNDS; i++)
        must(cudaLaunchKernel(stub, dim(1), dim(1), NULL, 0, NULL) == cudaSuccess);
    must(cudaDeviceSynchronize() == cudaSuccess);
    return kernel;
}

static void run(void *(*work)(void *), void *arguments[THREADS], void *results[THREADS])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, arguments[i]))
            tap_bail("no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &results[i]);
}

static void test_threads(void)
{
    void *arguments[THREADS], *results[THREADS];
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &functions[FUNCTIONS - 1], "nothing");
    for (int i = 0; i < THREADS; i++)
        arguments[i] = &functions[FUNCTIONS - 1];
    run(use_shared, arguments, results);
    EQUAL(failures, 0);
    tap_ok(results[0] && results[0] == results[1] && results[1] == results[THREADS - 1], "all threads have one kernel");
    for (int i = 0; i < THREADS; i++)
        arguments[i] = &functions[i * EACH];
    run(come_and_go, arguments, results);
    EQUAL(failures, 0);
    __cudaUnregisterFatBinary(image);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    alarm(60);
    test_many();
    test_threads();
    return tap_done();
}
