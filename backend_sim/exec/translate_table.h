/* SPDX-License-Identifier: Apache-2.0 */
/* translate_table.h - decides whether the device or the host moves the bytes of a copy or fill, by the first byte, as measured.
 *
 * The table below is complete. With a real driver the process ends when the host reaches memory that it has no access to, and
 * when a copy of TRANSLATE_MOVER_DEVICE_APART reaches memory that the host has rights to.
 */
#ifndef SIM_TRANSLATE_TABLE_H
#define SIM_TRANSLATE_TABLE_H

#include "translate.h"

/* Copies between device addresses up to this length have the same mover as copies to the host. Measured: 24,576 bytes are,
 * 24,578 are not. */
#define TRANSLATE_SHORT_COPY UINT64_C(24576)

/* The kind of memory at the first byte. */
enum translate_first {
    TRANSLATE_FIRST_DEVICE, /* device memory; or host memory to which the device has rights and the host has none */
    TRANSLATE_FIRST_SHARED, /* host memory to which both have rights */
    TRANSLATE_FIRST_HOST,   /* host memory to which the device has no rights */
    TRANSLATE_FIRSTS
};

enum translate_kind {
    TRANSLATE_KIND_NEAR,  /* copies with the host, and the source of short copies between device addresses */
    TRANSLATE_KIND_FAR,   /* the other copies */
    TRANSLATE_KIND_FILL,
    TRANSLATE_KINDS
};

enum translate_mover {
    TRANSLATE_MOVER_DEVICE,       /* the device, with its rights */
    TRANSLATE_MOVER_DEVICE_APART, /* the device; the range must not contain memory that the host has rights to */
    TRANSLATE_MOVER_HOST,         /* the host, with its rights; the device needs its own rights as well */
    TRANSLATE_MOVER_HOST_ALONE    /* the host, with its rights, regardless of the device's */
};

static const unsigned char translate_movers[TRANSLATE_FIRSTS][TRANSLATE_KINDS] = {
    /* first byte                 NEAR                          FAR                         FILL */
    [TRANSLATE_FIRST_DEVICE] = {TRANSLATE_MOVER_DEVICE_APART, TRANSLATE_MOVER_DEVICE,     TRANSLATE_MOVER_DEVICE_APART},
    [TRANSLATE_FIRST_SHARED] = {TRANSLATE_MOVER_HOST,         TRANSLATE_MOVER_DEVICE,     TRANSLATE_MOVER_DEVICE_APART},
    [TRANSLATE_FIRST_HOST]   = {TRANSLATE_MOVER_HOST_ALONE,   TRANSLATE_MOVER_HOST_ALONE, TRANSLATE_MOVER_DEVICE_APART},
};

static inline enum translate_kind translate_kind_of(enum translate_use use, uint64_t size)
{
    static const unsigned char kind[] = {[TRANSLATE_TO_HOST] = TRANSLATE_KIND_NEAR,
                                         [TRANSLATE_READ] = TRANSLATE_KIND_FAR,
                                         [TRANSLATE_WRITE] = TRANSLATE_KIND_FAR,
                                         [TRANSLATE_FROM_HOST] = TRANSLATE_KIND_NEAR,
                                         [TRANSLATE_FILL] = TRANSLATE_KIND_FILL};
    return use == TRANSLATE_READ && size <= TRANSLATE_SHORT_COPY ? TRANSLATE_KIND_NEAR : (enum translate_kind)kind[use];
}

static inline enum translate_first translate_first_of(bool host_memory, unsigned device_rights, unsigned host_rights)
{
    if (!host_memory || (device_rights && !host_rights))
        return TRANSLATE_FIRST_DEVICE;
    return device_rights ? TRANSLATE_FIRST_SHARED : TRANSLATE_FIRST_HOST;
}

#endif
