/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the device of this machine what instructions and random kernels compute, and writes pairs.tsv, kernels.tsv, facts.tsv and printf.txt
 * into the folder PTX_OUT, line by line, for at most PTX_SECONDS. `make record-ptx` builds and runs it.
 *
 * Most of the time the driver compiles, on one core: processes beside each other take the next instruction or kernel, others the facts. */
#include <string.h>
#include <unistd.h>

#define DRIVER_DEFINE
#include "crew.h"
#include "driver.h"
#include "facts.h"
#include "pairs.h"
#include "random_kernel.h"

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

enum { PAIRS_MOST = 4000, BLOCK = 128, PAIR_IN = 4 * 8 * (PAIR_TUPLES + 2 * BLOCK), MEMORY = 1 << 20 };

static struct pair pairs[PAIRS_MOST];
static unsigned pair_count;

/* Of a process that computes. */
static CUdeviceptr memory;
static FILE *pair_file, *kernel_file;

static void record_pair(const struct pair *pair, FILE *file)
{
    static uint64_t operands[4 * PAIR_TUPLES], results[2 * PAIR_TUPLES];
    static char text[PAIR_TEXT], line[1 << 16];
    CUdeviceptr in = memory, out = memory + PAIR_IN;
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

/* ---- random kernels ---- */

static void record_kernel(const struct random_kernel *kernel, FILE *file)
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

/* ---- all of it, the most wanted first ---- */

static void compute_begin(void)
{
    pair_file = crew_file("pairs.tsv");
    kernel_file = crew_file("kernels.tsv");
    driver_begin();
    check(d_cuMemAlloc_v2(&memory, MEMORY), "cuMemAlloc");
    check(d_cuMemsetD8_v2(memory, 0, MEMORY), "cuMemsetD8");
}

static void compute(unsigned job)
{
    static struct random_kernel kernel;
    if (job < pair_count) {
        record_pair(&pairs[job], pair_file);
        return;
    }
    random_kernel_make(&kernel, job - pair_count);
    record_kernel(&kernel, kernel_file);
}

/* The number that the environment gives, or the one here. */
static unsigned number(const char *name, unsigned otherwise)
{
    const char *value = getenv(name);
    return value && atoi(value) > 0 ? (unsigned)atoi(value) : otherwise;
}

int main(int argc, char **argv)
{
    static const char *const files[] = {"pairs.tsv", "kernels.tsv", "facts.tsv", "printf.txt"};
    unsigned kernels = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!getenv("PTX_OUT") || !driver_open()) {
        fprintf(stderr, "usage: PTX_OUT=FOLDER [PTX_SECONDS=60] [PTX_PROCESSES=N] %s [KERNELS], on a machine with a driver\n", argv[0]);
        return 2;
    }
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* nothing is compiled twice */
    unsigned processes = number("PTX_PROCESSES", cores > 16 ? 16 : cores > 4 ? (unsigned)cores : 4);
    crew_begin(number("PTX_SECONDS", 60));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        crew_empty(files[i]);
    pair_count = pairs_all(pairs, PAIRS_MOST);
    const struct team teams[] = {
        {"pairs and kernels", processes - processes / 4, pair_count + kernels, compute_begin, compute},
        {"facts", processes / 4 ? processes / 4 : 1, facts_count(), facts_begin, facts_record},
    };
    unsigned missing = crew_run(teams, sizeof teams / sizeof teams[0]);
    if (missing)
        fprintf(stderr, "%u are missing: another run with more PTX_SECONDS has them\n", missing);
    return missing == pair_count + kernels + facts_count();
}
