/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the device of this machine what instructions and random kernels compute, and writes pairs.tsv, kernels.tsv, facts.tsv and printf.txt
 * into the folder PTX_OUT. `make record-ptx` builds and runs it. */
#include <string.h>

#define DRIVER_DEFINE
#include "driver.h"
#include "facts.h"
#include "pairs.h"
#include "random_kernel.h"

static FILE *file_named(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", getenv("PTX_OUT"), name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: the driver answers %d\n", what, (int)result);
    exit(1);
}

/* The function k of the text; 0: the driver refuses it, which becomes the row. */
static int load(const char *text, CUmodule *module, CUfunction *function, FILE *file, const char *name)
{
    static char log[4096];
    CUresult result = driver_load(text, module, log, sizeof log);
    if (result == CUDA_SUCCESS)
        result = d_cuModuleGetFunction(function, *module, "k");
    if (result == CUDA_SUCCESS)
        return 1;
    log[strcspn(log, "\n")] = '\0';
    fprintf(file, "%s\trefused %d\t%.200s\n", name, (int)result, log);
    return 0;
}

/* ---- pairs ---- */

enum { PAIRS_MOST = 4000, BLOCK = 128 };

static void record_pair(const struct pair *pair, CUdeviceptr in, CUdeviceptr out, FILE *file)
{
    static uint64_t operands[4 * PAIR_TUPLES], results[2 * PAIR_TUPLES];
    static char text[PAIR_TEXT], line[1 << 16];
    CUmodule module;
    CUfunction function;
    pair_text(pair, text);
    if (!load(text, &module, &function, file, pair->name))
        return;
    for (unsigned t = 0; t < PAIR_TUPLES; t++)
        for (unsigned i = 0; i < 4; i++)
            operands[4 * t + i] = *pair->type[i + 1] ? pair_operand(pair, t, i) : 0;
    memset(results, 0, sizeof results);
    check(d_cuMemcpyHtoD_v2(in, operands, sizeof operands), pair->name);
    check(d_cuMemcpyHtoD_v2(out, results, sizeof results), pair->name);
    void *params[] = {&in, &out};
    check(d_cuLaunchKernel(function, PAIR_TUPLES / BLOCK + 1, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL), pair->name);
    check(d_cuCtxSynchronize(), pair->name);
    check(d_cuMemcpyDtoH_v2(results, out, sizeof results), pair->name);
    pair_row(pair, results, line, sizeof line);
    fprintf(file, "%s\n", line);
    d_cuModuleUnload(module);
}

static void record_pairs(void)
{
    static struct pair pairs[PAIRS_MOST];
    unsigned count = pairs_all(pairs, PAIRS_MOST);
    FILE *file = file_named("pairs.tsv");
    CUdeviceptr in, out;
    check(d_cuMemAlloc_v2(&in, 4 * 8 * (PAIR_TUPLES + 2 * BLOCK)), "cuMemAlloc");
    check(d_cuMemAlloc_v2(&out, 2 * 8 * (PAIR_TUPLES + 2 * BLOCK)), "cuMemAlloc");
    check(d_cuMemsetD8_v2(in, 0, 4 * 8 * (PAIR_TUPLES + 2 * BLOCK)), "cuMemsetD8");
    for (unsigned i = 0; i < count; i++)
        record_pair(&pairs[i], in, out, file);
    fclose(file);
    fprintf(stderr, "%u pairs\n", count);
}

/* ---- random kernels ---- */

static void record_kernel(const struct random_kernel *kernel, CUdeviceptr memory, FILE *file)
{
    static uint64_t in[RANDOM_THREADS_MOST * RANDOM_INPUTS], out[RANDOM_THREADS_MOST * RANDOM_CHECKPOINTS], cells[RANDOM_CELLS];
    static char line[4096];
    char name[24];
    CUmodule module;
    CUfunction function;
    snprintf(name, sizeof name, "%llu", (unsigned long long)kernel->seed);
    if (!load(kernel->text, &module, &function, file, name))
        return;
    unsigned threads = kernel->grid * kernel->block;
    for (unsigned i = 0; i < threads * RANDOM_INPUTS; i++)
        in[i] = random_kernel_input(kernel, i);
    memset(out, 0, sizeof out);
    memset(cells, 0, sizeof cells);
    CUdeviceptr to = memory + sizeof in, sums = to + sizeof out;
    check(d_cuMemcpyHtoD_v2(memory, in, sizeof in), name);
    check(d_cuMemcpyHtoD_v2(to, out, sizeof out), name);
    check(d_cuMemcpyHtoD_v2(sums, cells, sizeof cells), name);
    void *params[] = {&memory, &to, &sums};
    check(d_cuLaunchKernel(function, kernel->grid, 1, 1, kernel->block, 1, 1, 0, NULL, params, NULL), name);
    check(d_cuCtxSynchronize(), name);
    check(d_cuMemcpyDtoH_v2(out, to, sizeof out), name);
    check(d_cuMemcpyDtoH_v2(cells, sums, sizeof cells), name);
    random_kernel_row(kernel, out, cells, line, sizeof line);
    fprintf(file, "%s\n", line);
    d_cuModuleUnload(module);
}

static void record_kernels(unsigned count)
{
    static struct random_kernel kernel;
    FILE *file = file_named("kernels.tsv");
    CUdeviceptr memory;
    check(d_cuMemAlloc_v2(&memory, 1 << 20), "cuMemAlloc");
    for (unsigned seed = 0; seed < count; seed++) {
        random_kernel_make(&kernel, seed);
        record_kernel(&kernel, memory, file);
        fflush(file);
    }
    fclose(file);
    fprintf(stderr, "%u kernels\n", count);
}

int main(int argc, char **argv)
{
    unsigned kernels = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    if (!getenv("PTX_OUT") || !driver_open()) {
        fprintf(stderr, "usage: PTX_OUT=FOLDER %s [KERNELS], on a machine with a driver\n", argv[0]);
        return 2;
    }
    FILE *facts = file_named("facts.tsv");
    facts_record(facts);
    fclose(facts);
    driver_begin();
    record_pairs();
    record_kernels(kernels);
    return 0;
}
