/* SPDX-License-Identifier: Apache-2.0 */
/* fake_entries.h - the signature that the driver returns for a name, from each CUDA version on. */
#ifndef CUVMM_CUDA_FAKE_ENTRIES_H
#define CUVMM_CUDA_FAKE_ENTRIES_H

struct fake_entry {
    const char *name; /* NULL ends the table */
    int version;
    int (*function)(void); /* NULL: this fake lacks the symbol */
};

extern const struct fake_entry fake_entries[];

#endif
