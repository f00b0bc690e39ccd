/* SPDX-License-Identifier: Apache-2.0 */
#include "os_huge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { SIZE = 8 << 20 };

/* Is the memory marked in the system's list of this process ("hg")? -1 if the system has no such list. */
static int marked(const unsigned char *memory)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    int found = file ? 0 : -1;
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long first, end;
        if (sscanf(line, "%llx-%llx ", &first, &end) == 2)
            inside = first <= (size_t)memory && (size_t)memory < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, " hg") != NULL;
    }
    if (file)
        fclose(file);
    return found;
}

int main(void)
{
    unsigned char *memory = malloc(SIZE);
    if (!memory)
        tap_bail("no memory");
    errno = 7;
    os_huge_pages(memory, SIZE);
    tap_ok(errno == 7, "errno is unchanged");
    FILE *support = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (support && marked(memory + SIZE / 2) >= 0)
        tap_ok(marked(memory + SIZE / 2) == 1, "the memory is marked");
    else
        tap_skip("no huge pages here", "the memory is marked");
    if (support)
        fclose(support);
    os_huge_pages(memory + 1, 100);
    memset(memory, 3, SIZE);
    tap_ok(memory[0] == 3 && memory[SIZE - 1] == 3, "and is the program's as before; less than a page is left as it is");
    free(memory);
    return tap_done();
}
