/* SPDX-License-Identifier: Apache-2.0 */
/* Files of programs are Mach-O here, and the loader knows the names of their functions; it was asked before. */
#include "findings_site.h"

void site_symbol(const char *path, size_t offset, char *name, size_t size)
{
    (void)path, (void)offset;
    if (size)
        name[0] = '\0';
}
