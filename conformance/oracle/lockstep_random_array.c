/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_random_array.c - random calls of arrays, of the tiles of sparse ones, and of managed memory. */
#include "lockstep_maker.h"

struct step_arg maker_old_array(const struct maker *m)
{
    (void)m;
    return literal(0);
}
