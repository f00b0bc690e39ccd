/* SPDX-License-Identifier: Apache-2.0 */
/* cubin.h - the sections of a cubin, each read once.
 *
 *     .text.K  <--sh_info--  .nv.info.K  .nv.shared.K      what belongs to a kernel leads to its code
 *        ^
 *        st_shndx  K, a function of the symbol table that is marked as an entry
 */
#ifndef SIM_CUBIN_H
#define SIM_CUBIN_H

#include <elf.h>

#include "image_parts.h"

struct cubin {
    struct image_bytes bytes;
    unsigned char *sections; /* where the table begins */
    uint32_t count;
    Elf64_Shdr names, symbols, strings; /* of the sections, the table, and of the symbols */
    uint32_t indexes;                   /* the section of indexes beyond 16 bits; 0: none */
    uint32_t info;                      /* .nv.info; 0: none */
    uint32_t *of[2];                    /* by the index of a .text: its .nv.info and .nv.shared */
    int architecture, ptx, constant;
    bool reserved; /* each block's shared memory includes the 1 KiB that the system takes */
};

enum { CUBIN_INFO, CUBIN_SHARED };

/* The header of a section; its bytes are in range unless it has none. */
bool cubin_section(const struct cubin *cubin, uint32_t index, Elf64_Shdr *section);
struct image_bytes cubin_bytes(const struct cubin *cubin, const Elf64_Shdr *section);

/* Sets everything. The caller frees of[0]. */
enum image_read cubin_open(const struct image_bytes *bytes, struct cubin *cubin, char why[160]);

/* One attribute of a .nv.info. */
struct cubin_attribute {
    unsigned char format, name;
    uint32_t value; /* for the formats that store the value inline */
    struct image_bytes data;
};
enum { CUBIN_MAX_THREADS = 0x05, CUBIN_REQUIRED_THREADS = 0x10, CUBIN_FRAME_SIZE = 0x11, CUBIN_PARAM = 0x17,
       CUBIN_REGISTERS = 0x2f, CUBIN_CLUSTER = 0x3d, CUBIN_PARAM_2 = 0x45 };

/* The next attribute, which is removed from the bytes. False at the end. */
bool cubin_attribute(struct image_bytes *info, struct cubin_attribute *attribute);

#endif
