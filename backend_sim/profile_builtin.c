/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

/* Recorded means: measured on that machine with driver 580.159.04, except for what a comment calls published. Address
 * space bounds, host memory and the driver's own share are this project's choices on every machine: the recordings do
 * not tell them. */

#define H100 \
    "name = h100\n" \
    "source = recorded on one NVIDIA H100 80GB HBM3, driver 580.159.04\n" \
    "driver.version = 13000\n" \
    "devices = 1\n" \
    "device.name = NVIDIA H100 80GB HBM3\n" \
    "device.memory = 85017493504\n" \
    "device.reserved = 0\n" \
    "peers = none\n" \
    "host.nodes = 1\n" \
    "host.memory = 1TiB\n" \
    "granularity.device.minimum = 2MiB\n" \
    "granularity.device.recommended = 2MiB\n" \
    "granularity.host.minimum = 2MiB\n" \
    "granularity.host.recommended = 2MiB\n" \
    "# recorded: how addresses are handed out (the driver's own range and the program's image are taken)\n" \
    "va.start = 0x302000000\n" \
    "va.end = 0x7ffffe000000\n" \
    "va.granularity = 2MiB\n" \
    "va.chunk = 32MiB\n" \
    "va.context = 0x7f8a36000000\n" \
    "va.taken = 0x10000000000-0x10004000000,0x555500000000-0x565800000000\n" \
    "va.alignment_max = 1<<45\n" \
    "va.hint_max = 1<<56\n" \
    "map.partial = no\n" \
    "fabric.imex = no\n" \
    "compression.memory = 85017493504\n" \
    "# published: threads per block, multiprocessors, compute mode, compute capability\n" \
    "attribute.1 = 1024\n" \
    "attribute.16 = 132\n" \
    "attribute.20 = 0\n" \
    "attribute.75 = 9\n" \
    "attribute.76 = 0\n" \
    "# recorded: unified addressing, pageable and managed access\n" \
    "attribute.41 = 1\n" \
    "attribute.88 = 0\n" \
    "attribute.89 = 1\n" \
    "attribute.100 = 0\n" \
    "# recorded: virtual memory management and handle types\n" \
    "attribute.102 = 1\n" \
    "attribute.103 = 1\n" \
    "attribute.104 = 0\n" \
    "attribute.105 = 0\n" \
    "attribute.107 = 1\n" \
    "attribute.110 = 1\n" \
    "attribute.112 = 1\n" \
    "attribute.116 = 1\n" \
    "attribute.124 = 1\n" \
    "attribute.128 = 1\n" \
    "attribute.132 = 0\n" \
    "attribute.134 = 0\n" \
    "attribute.141 = 1\n" \
    "attribute.143 = 0\n" \
    "attribute.145 = 1\n"

#define H200X2 \
    "base = h100\n" \
    "name = h200x2\n" \
    "source = recorded on two NVIDIA H200 of one host, driver 580.159.04\n" \
    "driver.version = 13000\n" \
    "devices = 2\n" \
    "device.name = NVIDIA H200\n" \
    "device.memory = 150109880320\n" \
    "compression.memory = 150109880320\n" \
    "peers = all\n" \
    "# recorded: the first address lies 4 GiB higher for the second device\n" \
    "va.start = 0x402000000\n" \
    "attribute.132 = 1\n"

#define GB200X4 \
    "base = h100\n" \
    "name = gb200x4\n" \
    "source = from documents, not recorded: four GB200 GPUs with extended GPU memory and an IMEX channel\n" \
    "devices = 4\n" \
    "device.name = NVIDIA GB200\n" \
    "device.memory = 184GiB\n" \
    "compression.memory = 184GiB\n" \
    "peers = all\n" \
    "host.nodes = 2\n" \
    "host.memory = 480GiB\n" \
    "fabric.imex = yes\n" \
    "attribute.16 = 152\n" \
    "attribute.75 = 10\n" \
    "attribute.88 = 1\n" \
    "attribute.100 = 1\n" \
    "attribute.132 = 1\n" \
    "attribute.143 = 1\n"

#define MIN \
    "base = h100\n" \
    "name = min\n" \
    "source = made up: a machine with nothing optional\n" \
    "device.name = cuvmm minimal device\n" \
    "device.memory = 1GiB\n" \
    "host.nodes = 0\n" \
    "host.memory = 0\n" \
    "compression.memory = 0\n" \
    "va.start = 0x100000000000\n" \
    "va.end = 0x600000000000\n" \
    "va.chunk = 0\n" \
    "va.context = 0\n" \
    "va.taken = none\n" \
    "attribute.89 = 0\n" \
    "attribute.103 = 0\n" \
    "attribute.107 = 0\n" \
    "attribute.110 = 0\n" \
    "attribute.112 = 0\n" \
    "attribute.116 = 0\n" \
    "attribute.124 = 0\n" \
    "attribute.128 = 0\n" \
    "attribute.134 = -1\n" \
    "attribute.141 = 0\n" \
    "attribute.145 = 0\n"

#define MAX \
    "base = h100\n" \
    "name = max\n" \
    "source = made up: a machine with everything\n" \
    "devices = 8\n" \
    "device.name = cuvmm maximal device\n" \
    "device.memory = 256GiB\n" \
    "compression.memory = 256GiB\n" \
    "peers = all\n" \
    "host.nodes = 2\n" \
    "va.start = 0x100000000000\n" \
    "va.end = 0x600000000000\n" \
    "va.chunk = 0\n" \
    "va.context = 0\n" \
    "va.taken = none\n" \
    "map.partial = yes\n" \
    "fabric.imex = yes\n" \
    "attribute.132 = 1\n" \
    "attribute.143 = 1\n"

/* Every size differs from every other and from 2 MiB where it can, so that code which took one for another fails. */
#define ODD \
    "base = h100\n" \
    "name = odd\n" \
    "source = made up: unusual granularities, little of everything\n" \
    "devices = 3\n" \
    "device.name = cuvmm odd device\n" \
    "device.memory = 48MiB\n" \
    "compression.memory = 16MiB\n" \
    "peers = 0-1\n" \
    "host.nodes = 1\n" \
    "host.memory = 32MiB\n" \
    "granularity.device.minimum = 64KiB\n" \
    "granularity.device.recommended = 2MiB\n" \
    "granularity.host.minimum = 4KiB\n" \
    "granularity.host.recommended = 64KiB\n" \
    "granularity.multicast.minimum = 128KiB\n" \
    "granularity.multicast.recommended = 4MiB\n" \
    "va.start = 0x100000000000\n" \
    "va.end = 0x100010000000\n" \
    "va.granularity = 64KiB\n" \
    "va.chunk = 0\n" \
    "va.context = 0\n" \
    "va.taken = none\n" \
    "va.alignment_max = 128MiB\n" \
    "attribute.132 = 1\n"

static const struct {
    const char *name, *text;
} builtin[] = {
    {"h100", H100}, {"h200x2", H200X2}, {"gb200x4", GB200X4}, {"min", MIN}, {"max", MAX}, {"odd", ODD},
};

#define COUNT (sizeof builtin / sizeof builtin[0])

const char *sim_profile_builtin_name(size_t index)
{
    return index < COUNT ? builtin[index].name : NULL;
}

const char *sim_profile_builtin_text(size_t index)
{
    return index < COUNT ? builtin[index].text : NULL;
}
