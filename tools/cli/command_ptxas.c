/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm ptxas: replaces NVIDIA's assembler. */
#include "ptxas.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    return ptxas_main(arguments->rest_count, arguments->rest, out, err);
}

const struct command command_ptxas = {
    .name = "ptxas",
    .summary = "takes the place of NVIDIA's ptxas where a compiler starts it",
    .about = "Checks a PTX file as the simulator reads it, and writes it to the output in place of machine code: the "
             "simulator runs PTX, and a driver compiles it. A compiler that starts ptxas by a path, as Triton does, finds "
             "this command under that name next to libcuda.so.1; cuvmm exec sets TRITON_PTXAS_PATH and "
             "TRITON_PTXAS_BLACKWELL_PATH to it unless they are set.",
    .argument = {.name = "FILE"},
    .option = {{.name = "--output-file", .alias = "-o", .value = "FILE", .about = "the output (elf.o)"},
               {.name = "--gpu-name", .alias = "-arch", .value = "NAME", .example = "sm_90a",
                .about = "the device; PTX for a newer one is refused"},
               {.name = "--verbose", .alias = "-v", .about = "prints the parameters and memory that each kernel needs"},
               {.name = "--version", .alias = "-V", .about = "prints the CUDA release whose PTX is supported"}},
    .more = "Other options of ptxas are accepted and ignored. Exit status: 255 if the text is not valid PTX, with line "
            "and column; 2 if the arguments are wrong or the output could not be written. A kernel that the simulator "
            "cannot run draws a warning.",
    .examples = (const char *const[]){"cuvmm ptxas -arch=sm_90 add.ptx -o add.cubin",
                                      "TRITON_PTXAS_PATH=/usr/local/lib/cuvmm/ptxas python train.py", NULL},
    .unread = true,
    .run = run,
};
