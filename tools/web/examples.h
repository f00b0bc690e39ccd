/* SPDX-License-Identifier: Apache-2.0 */
/* examples.h - the scripts of the demo as they were when the page was built (ci/embed-examples). */
#ifndef CUVMM_TOOLS_EXAMPLES_H
#define CUVMM_TOOLS_EXAMPLES_H

struct example_source {
    const char *name;         /* "01-create" */
    const char *const *lines; /* NULL past the last */
};

/* In the order of their names; name is NULL past the last. */
extern const struct example_source examples[];

#endif
