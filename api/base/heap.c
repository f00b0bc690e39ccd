/* SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

const struct heap heap = {.malloc = malloc, .calloc = calloc, .realloc = realloc, .free = free, .strdup = strdup,
                          .strndup = strndup};
