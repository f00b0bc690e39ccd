/* SPDX-License-Identifier: Apache-2.0 */
/* layout_check.h - checks at compile time that a struct has the layout given by a list. */
#ifndef CUVMM_TESTING_LAYOUT_CHECK_H
#define CUVMM_TESTING_LAYOUT_CHECK_H

#include <stddef.h>

/* Sizes and offsets in bytes. */
#define LAYOUT_STRUCT(name, size) _Static_assert(sizeof(name) == (size), #name);
#define LAYOUT_FIELD(name, field, offset, size)                           \
    _Static_assert(offsetof(name, field) == (offset), #name "." #field); \
    _Static_assert(sizeof(((name *)0)->field) == (size), #name "." #field);

#endif
