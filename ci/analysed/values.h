/* SPDX-License-Identifier: Apache-2.0 */
/* values.h, and that a failure is false. */
#ifndef CUVMM_CI_ANALYSED_VALUES_H
#define CUVMM_CI_ANALYSED_VALUES_H

#include <values.h>

#ifndef CUVMM_DEFINES_value_fail
#define value_fail(...) ((void)value_fail(__VA_ARGS__), false)
#endif

#endif
