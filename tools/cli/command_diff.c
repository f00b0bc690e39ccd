/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm diff: the conformance harness's random calls, on the driver unless another backend is named. */
#include "diff.h"

#include "arguments.h"

/* The run writes to the process's own standard output, from children too. */
static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    fflush(out);
    int status = diff_main(arguments->rest_count, arguments->rest, "shadow|cuda", err);
    return status == 2 ? command_usage(err, arguments->command) : status;
}

const struct command command_diff = {
    .name = "diff",
    .summary = "compares random calls on a driver or simulator with a reference model",
    .about = "Makes random calls, valid and invalid, and compares result, outputs, rights, free memory and bytes with what the "
             "reference model of the driver expects; with a shadow layer also with the simulator's answers. A difference "
             "is shrunk to the shortest script of calls that shows it. Calls that are known to end the process on a driver are "
             "not made there. Prints TAP; the exit status is 1 if something differs.",
    .option = {{.name = "--backend", .value = "SPEC", .words = WORDS_SPECS,
                .about = "what is compared: shadow|cuda (default), cuda, sim:h100, ...; several are taken in turn"},
               {.name = "--seed", .value = "N",
                .about = "the first episode's seed (1); every episode has its own seed and can be run alone"},
               {.name = "--calls", .value = "N", .about = "how many random calls (800000)"},
               {.name = "--episode", .value = "N", .about = "calls per episode, each on a fresh system (2000)"},
               {.name = "--budget", .value = "SECONDS", .about = "on a driver: no episode begins after this many seconds"},
               {.name = "--check-every", .value = "N", .about = "calls between complete comparisons of the state (250)"},
               {.name = "--script", .value = "FILE", .about = "on a simulator: writes the shortest script there"},
               {.name = "--replay", .value = "FILE", .about = "runs such a script"},
               {.name = "--explained", .value = "FILE",
                .about = "on a driver: known kinds of differences, one \"signature<tab>reason\" per line"},
               {.name = "--transcript", .value = "FILE", .about = "on a driver: writes every call with its result"},
               {.name = "--record", .value = "FILE", .about = "on a driver: writes one line per episode, for --replay-recording"},
               {.name = "--replay-recording", .value = "FILE",
                .about = "makes the recorded episodes again (sim:h100) and compares"},
               {.name = "--follow", .value = "FILE", .about = "makes the calls of a transcript again (sim:h100), and prints each answer that differs"},
               {.name = "--shard", .value = "I/N",
                .about = "runs only every Nth episode, continues after differences, shrinks nothing, and exits with 0 whatever "
                         "it finds; auto: takes I and N from the rank that mpirun or srun assigned"},
               {.name = "--findings", .value = "FOLDER", .about = "the folder for a shard's findings, for --merge"},
               {.name = "--merge", .value = "FOLDER",
                .about = "joins the shards' findings and shrinks each kind once; names missing shards. It takes no other option"},
               {.name = "--strict", .about = "on a simulator: in strict mode"},
               {.name = "--as-driver", .about = "treats a simulator like a driver"},
               {.name = "--mix", .value = "N",
                .about = "which calls: 0 virtual memory, 1 (default) also memory operations of the default stream, 2 also "
                         "memory pools, several streams and batches, 3 also stream-ordered copies, boxes, captures, "
                         "graphs and host pools, 4 also arrays, tiles and managed memory"},
               {.name = "--counts", .about = "counts the calls, and those left out, with their reasons"},
               {.name = "--rules", .about = "on a simulator: counts how often each rule determined the result"},
               {.name = "--flip", .value = "N",
                .about = "inverts the Nth expectation of every episode, which must be noticed"}},
    .examples = (const char *const[]){"cuvmm diff --calls 20000 --budget 30", "cuvmm diff --backend sim:h100 --seed 7",
                                      "srun cuvmm diff --backend sim:h100 --calls 100000000 --shard auto --findings found", "cuvmm diff --merge found", NULL},
    .unread = true,
    .run = run,
};
