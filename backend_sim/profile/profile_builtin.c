/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

/* Recorded values were measured on that machine with driver 580.159.04, except where a comment says published. The recordings do
 * not contain the address space's bounds, the host memory and the driver's own share, so these are choices of this project on
 * every machine. */

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
    "# recorded: results of cuOccupancyMaxActiveClusters for clusters of 1 to 18 blocks; another chip has other groups\n" \
    "device.clusters = 18 18 16 16 16 16 16 8 2 2 2 2\n" \
    "# recorded: every attribute except a device's position on the bus (33, 34, 50, 85)\n" \
    "attribute.1 = 1024\nattribute.2 = 1024\nattribute.3 = 1024\nattribute.4 = 64\n" \
    "attribute.5 = 2147483647\nattribute.6 = 65535\nattribute.7 = 65535\nattribute.8 = 49152\n" \
    "attribute.9 = 65536\nattribute.10 = 32\nattribute.11 = 2147483647\nattribute.12 = 65536\n" \
    "attribute.13 = 1980000\nattribute.14 = 512\nattribute.15 = 1\nattribute.16 = 132\n" \
    "attribute.17 = 0\nattribute.18 = 0\nattribute.19 = 1\nattribute.20 = 0\n" \
    "attribute.21 = 131072\nattribute.22 = 131072\nattribute.23 = 65536\nattribute.24 = 16384\n" \
    "attribute.25 = 16384\nattribute.26 = 16384\nattribute.27 = 32768\nattribute.28 = 32768\n" \
    "attribute.29 = 2048\nattribute.30 = 512\nattribute.31 = 1\nattribute.32 = 1\n" \
    "attribute.35 = 0\nattribute.36 = 2619000\nattribute.37 = 5120\nattribute.38 = 52428800\n" \
    "attribute.39 = 2048\nattribute.40 = 3\nattribute.41 = 1\nattribute.42 = 32768\n" \
    "attribute.43 = 2048\nattribute.44 = 1\nattribute.45 = 32768\nattribute.46 = 32768\n" \
    "attribute.47 = 8192\nattribute.48 = 8192\nattribute.49 = 32768\nattribute.51 = 32\n" \
    "attribute.52 = 32768\nattribute.53 = 32768\nattribute.54 = 2046\nattribute.55 = 32768\n" \
    "attribute.56 = 131072\nattribute.57 = 65536\nattribute.58 = 16384\nattribute.59 = 16384\n" \
    "attribute.60 = 16384\nattribute.61 = 32768\nattribute.62 = 2048\nattribute.63 = 32768\n" \
    "attribute.64 = 32768\nattribute.65 = 2048\nattribute.66 = 32768\nattribute.67 = 32768\n" \
    "attribute.68 = 2046\nattribute.69 = 268435456\nattribute.70 = 131072\nattribute.71 = 65000\n" \
    "attribute.72 = 2097120\nattribute.73 = 32768\nattribute.74 = 32768\nattribute.75 = 9\n" \
    "attribute.76 = 0\nattribute.77 = 32768\nattribute.78 = 1\nattribute.79 = 1\n" \
    "attribute.80 = 1\nattribute.81 = 233472\nattribute.82 = 65536\nattribute.83 = 1\n" \
    "attribute.84 = 0\nattribute.86 = 0\nattribute.87 = 2\nattribute.88 = 0\n" \
    "attribute.89 = 1\nattribute.90 = 1\nattribute.91 = 1\nattribute.92 = 0\n" \
    "attribute.93 = 0\nattribute.94 = 0\nattribute.95 = 1\nattribute.96 = 1\n" \
    "attribute.97 = 232448\nattribute.98 = 0\nattribute.99 = 1\nattribute.100 = 0\n" \
    "attribute.101 = 0\nattribute.102 = 1\nattribute.103 = 1\nattribute.104 = 0\n" \
    "attribute.105 = 0\nattribute.106 = 32\nattribute.107 = 1\nattribute.108 = 32768000\n" \
    "attribute.109 = 134217728\nattribute.110 = 1\nattribute.111 = 1024\nattribute.112 = 1\n" \
    "attribute.113 = 1\nattribute.114 = 1\nattribute.115 = 1\nattribute.116 = 1\n" \
    "attribute.117 = 1\nattribute.118 = 100\nattribute.119 = 9\nattribute.120 = 1\n" \
    "attribute.121 = 1\nattribute.122 = 1\nattribute.123 = 1\nattribute.124 = 1\n" \
    "attribute.125 = 1\nattribute.126 = 4\nattribute.127 = 1\nattribute.128 = 1\n" \
    "attribute.129 = 1\nattribute.130 = 0\nattribute.131 = -1\nattribute.132 = 0\n" \
    "attribute.133 = 0\nattribute.134 = 0\nattribute.135 = 0\nattribute.136 = 0\n" \
    "attribute.137 = 0\nattribute.138 = 0\nattribute.139 = 590352606\nattribute.140 = 381751518\n" \
    "attribute.141 = 1\nattribute.142 = 1\nattribute.143 = 0\nattribute.144 = 1\n" \
    "attribute.145 = 1\nattribute.146 = 0\nattribute.147 = 0\n"

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
    "# recorded: the second device's first address is 4 GiB higher\n" \
    "va.start = 0x402000000\n" \
    "# recorded: attributes that differ from the H100's\n" \
    "attribute.36 = 3201000\n" \
    "attribute.37 = 6016\n" \
    "attribute.38 = 62914560\n" \
    "attribute.108 = 39321600\n" \
    "attribute.139 = 590680286\n" \
    "attribute.140 = 415174878\n" \
    "attribute.132 = 1\n"

#define H200 \
    "base = h200x2\n" \
    "name = h200\n" \
    "source = recorded on one NVIDIA H200, driver 580.159.04\n" \
    "devices = 1\n" \
    "peers = none\n" \
    "va.start = 0x302000000\n" \
    "# recorded: one device without others has no multicast\n" \
    "attribute.132 = 0\n"

#define H200X4 \
    "base = h200x2\n" \
    "name = h200x4\n" \
    "source = recorded on four NVIDIA H200 of one host, driver 580.159.04\n" \
    "devices = 4\n" \
    "# not recorded: extrapolated from one and two devices, 4 GiB for each further device\n" \
    "va.start = 0x602000000\n"

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

/* Wherever possible, every size differs from all others and from 2 MiB, so that code that confuses two of them fails. */
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

/* A machine of realistic size whose granularities are all different, and not 2 MiB where h100's are: code that passes
 * on `odd`, where everything fits into 48 MiB, meets sizes past 4 GiB here. */
#define LARGE \
    "base = h100\n" \
    "name = large\n" \
    "source = made up: real sizes, granularities from 64 KiB to 256 MiB\n" \
    "devices = 4\n" \
    "device.name = cuvmm large device\n" \
    "device.memory = 192GiB\n" \
    "compression.memory = 96GiB\n" \
    "peers = 0-1,2-3\n" \
    "host.nodes = 2\n" \
    "host.memory = 512GiB\n" \
    "granularity.device.minimum = 4MiB\n" \
    "granularity.device.recommended = 32MiB\n" \
    "granularity.host.minimum = 64KiB\n" \
    "granularity.host.recommended = 2MiB\n" \
    "granularity.multicast.minimum = 16MiB\n" \
    "granularity.multicast.recommended = 256MiB\n" \
    "va.start = 0x100000000000\n" \
    "va.end = 0x600000000000\n" \
    "va.granularity = 4MiB\n" \
    "va.chunk = 0\n" \
    "va.context = 0\n" \
    "va.taken = none\n" \
    "attribute.132 = 1\n"

static const struct {
    const char *name, *text;
} builtin[] = {
    {"h100", H100}, {"h200", H200}, {"h200x2", H200X2}, {"h200x4", H200X4}, {"gb200x4", GB200X4},
    {"min", MIN},   {"max", MAX},   {"large", LARGE},   {"odd", ODD},
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
