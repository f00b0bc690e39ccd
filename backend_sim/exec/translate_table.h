/* SPDX-License-Identifier: Apache-2.0 */
/* translate_table.h - decides whether the device or the host moves the bytes of a copy or fill, by the first byte, as measured.
 *
 * The table below is complete. With a real driver the process ends where the host meets memory that it has no access to, and
 * where a copy of REACH_DEVICE_APART meets memory that the host has rights to.
 */
#ifndef SIM_TRANSLATE_TABLE_H
#define SIM_TRANSLATE_TABLE_H

#include "translate.h"

/* Copies between device addresses up to this length are made like copies to the host. Measured: 24,576 bytes are, 24,578 are
 * not. */
#define REACH_SHORT_COPY UINT64_C(24576)

/* What lies at the first byte. */
enum reach_first {
    REACH_FIRST_DEVICE, /* device memory; or host memory to which the device has rights and the host has none */
    REACH_FIRST_SHARED, /* host memory to which both have rights */
    REACH_FIRST_HOST,   /* host memory to which the device has no rights */
    REACH_FIRSTS
};

enum reach_kind {
    REACH_KIND_NEAR,  /* copies with the host, and the source of short copies between device addresses */
    REACH_KIND_FAR,   /* the other copies */
    REACH_KIND_FILL,
    REACH_KINDS
};

enum reach_mover {
    REACH_DEVICE,       /* the device, with its rights */
    REACH_DEVICE_APART, /* the device; the range must not contain memory that the host has rights to */
    REACH_HOST,         /* the host, with its rights; the device needs its own rights as well */
    REACH_HOST_ALONE    /* the host, with its rights, regardless of the device's */
};

static const unsigned char reach_movers[REACH_FIRSTS][REACH_KINDS] = {
    /* first byte            NEAR                FAR               FILL */
    [REACH_FIRST_DEVICE] = {REACH_DEVICE_APART, REACH_DEVICE,     REACH_DEVICE_APART},
    [REACH_FIRST_SHARED] = {REACH_HOST,         REACH_DEVICE,     REACH_DEVICE_APART},
    [REACH_FIRST_HOST]   = {REACH_HOST_ALONE,   REACH_HOST_ALONE, REACH_DEVICE_APART},
};

static inline enum reach_kind reach_kind_of(enum translate_use use, uint64_t size)
{
    static const unsigned char kind[] = {[TRANSLATE_TO_HOST] = REACH_KIND_NEAR,
                                         [TRANSLATE_READ] = REACH_KIND_FAR,
                                         [TRANSLATE_WRITE] = REACH_KIND_FAR,
                                         [TRANSLATE_FROM_HOST] = REACH_KIND_NEAR,
                                         [TRANSLATE_FILL] = REACH_KIND_FILL};
    return use == TRANSLATE_READ && size <= REACH_SHORT_COPY ? REACH_KIND_NEAR : (enum reach_kind)kind[use];
}

static inline enum reach_first reach_first_of(bool host_memory, unsigned device_rights, unsigned host_rights)
{
    if (!host_memory || (device_rights && !host_rights))
        return REACH_FIRST_DEVICE;
    return device_rights ? REACH_FIRST_SHARED : REACH_FIRST_HOST;
}

#endif
