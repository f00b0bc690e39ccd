/* twin.h - the kernels once more, for the host: what the simulator runs in place of device code.
 *
 *     twin  ->  twin_run(address, size, use)  ->  the simulator: translation and the launching device's rights
 *           <-  host bytes, as many as lie together         one question per run, not one per byte
 *
 * A twin reaches memory through its accessor and nothing else, and leaves the same bytes behind as the device's kernel
 * whatever the grid: a kernel's threads share its loop out among themselves, a twin goes through it in order. At the
 * first byte that may not be touched the accessor notes a fault, and the twin returns at once; what was written before
 * stays, as on a device, where it is not said which threads came how far.
 */
#ifndef KERNELS_TWIN_H
#define KERNELS_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

enum twin_use { TWIN_READ, TWIN_WRITE, TWIN_ATOMIC };

struct twin_memory {
    /* The host's bytes for [address, address + *size), of which only the first *size come back: at least one element of
     * width when the address is a multiple of it. NULL in *bytes, for TWIN_READ only: all of them are zero. False: the
     * kernel ends here. width is what one access of the kernel moves, for the report. */
    bool (*run)(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                unsigned char **bytes);
    /* A dry run: *bytes is NULL whatever the use, what is read counts as zero, and a kernel that compares finds what it
     * looks for wrong. It goes everywhere that it could go. */
    bool dry;
};

typedef bool (*twin_kernel)(struct twin_memory *memory, const uint64_t *args);

/* The twin of a kernel that exists. It returns false where the accessor said so. */
twin_kernel twin_of(vmm_kernel kernel);

/* One element of 1, 4 or 8 bytes at a multiple of its width. */
bool twin_load(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *value);
bool twin_store(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t value);
bool twin_add(struct twin_memory *memory, uint64_t address, uint64_t value); /* 8 bytes */

/* The twins, for the table. */
#define VMM_KERNEL(name, NUMBER) bool twin_##name(struct twin_memory *memory, const uint64_t *args);
#include "kernels.def"

#endif
