/* SPDX-License-Identifier: Apache-2.0 */
/* call_graph.h, and that what it refuses is not a success. */
#ifndef CUVMM_CI_ANALYSED_CALL_GRAPH_H
#define CUVMM_CI_ANALYSED_CALL_GRAPH_H

#include <call_graph.h>

#ifndef CUVMM_DEFINES_graph_refuse
#define graph_refuse(...) ((void)graph_refuse(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_graph_refuse_value
#define graph_refuse_value(...) ((void)graph_refuse_value(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif
#ifndef CUVMM_DEFINES_graph_null
#define graph_null(...) ((void)graph_null(__VA_ARGS__), VMM_ERROR_INVALID_VALUE)
#endif

#endif
