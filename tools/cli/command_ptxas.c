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
    .about = "Checks a file of PTX as the simulator reads it, and writes it to the output in the place of machine code: PTX is what runs on "
             "the simulator, and what a driver compiles. A compiler that starts ptxas by a path, as Triton does, finds this "
             "command under that name beside libcuda.so.1; cuvmm exec sets TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH to it where they "
             "are not set.",
    .argument = {.name = "FILE"},
    .option = {{.name = "--output-file", .alias = "-o", .value = "FILE", .about = "the output (elf.o)"},
               {.name = "--gpu-name", .alias = "-arch", .value = "NAME", .example = "sm_90a",
                .about = "the device; PTX for a newer one is refused"},
               {.name = "--verbose", .alias = "-v", .about = "what each kernel takes of parameters and memory"},
               {.name = "--version", .alias = "-V", .about = "the release whose PTX is read"}},
    .more = "The other options of ptxas are read and change nothing. Exit status: 255 where the text is not PTX, with line and column, 2 where "
            "the command is wrong or nothing could be written. A kernel that the simulator cannot run is a warning.",
    .examples = (const char *const[]){"cuvmm ptxas -arch=sm_90 add.ptx -o add.cubin",
                                      "TRITON_PTXAS_PATH=/usr/local/lib/cuvmm/ptxas python train.py", NULL},
    .unread = true,
    .run = run,
};
