/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - the state of a system as plain text, at most about 100 columns wide.
 *
 *     addresses
 *       r0 (R1), 8MiB          +0           +4MiB        +6MiB
 *         memory               |== M1: h0 ==|== M2: h1 ==|............|
 *         dev0                 |     rw     |     --     |            |
 *
 *     memory
 *       dev0                   [## h0 ##][# h1 #][............ free 79.6GiB of 80GiB ............]
 *
 *     handles
 *       h0 (H1)  4MiB on dev0     references 1  mappings 1: M1 at r0
 *
 *     descriptors
 *       f        open, of h0, 4MiB
 *
 * '=' is mapped, '.' is reserved or free, '#' is in use. The bar is to scale only as far as its labels allow. Descriptors are the
 * caller's, and shown where there are any. Colours repeat what the letters say: green may be written, yellow only read.
 */
#ifndef CUVMM_TOOLS_PICTURE_H
#define CUVMM_TOOLS_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "vmm.h"

#define PICTURE_LABEL 64

/* What a program holds of exported memory: a file descriptor, or a fabric handle. */
struct picture_descriptor {
    char name[PICTURE_LABEL];
    char of[PICTURE_LABEL]; /* the handle's name, or "" */
    uint64_t size, value;
    bool fabric;
};

/* Everything that lives, as vmm_visit showed it. */
struct picture {
    vmm_object *object;
    size_t count, room;
    /* The name of an object: "r0 (R1)" or "R1"; of the memory behind a handle value: "h0". */
    const char *(*label)(void *user, const vmm_object *object, char *buffer, size_t size);
    void *user;
    int addresses; /* show them beside offsets */
    bool colour;   /* with terminal colours */
    struct picture_descriptor *descriptor; /* owned */
    size_t descriptors;
};

/* Collects the objects; a result other than SUCCESS: the backend cannot list them. Free with picture_free. */
vmm_result picture_take(struct picture *picture, vmm_system *sys);
void picture_free(struct picture *picture);

void picture_print(FILE *out, const struct picture *picture);

/* The parts, in files of their own. */
void picture_addresses(FILE *out, const struct picture *picture);
void picture_memory(FILE *out, const struct picture *picture);
void picture_handles(FILE *out, const struct picture *picture);
void picture_descriptors(FILE *out, const struct picture *picture);

/* The handle of a mapping; NULL if the picture does not have it. */
const vmm_object *picture_handle(const struct picture *picture, const vmm_object *mapping);

/* The reservation that an address lies in, or NULL. */
const vmm_object *picture_reservation(const struct picture *picture, uint64_t address);

/* The label cut after the script's name: "h0 (H1)" -> "h0". */
const char *picture_short(const struct picture *picture, const vmm_object *object, char buffer[PICTURE_LABEL]);

#endif
