/* SPDX-License-Identifier: Apache-2.0 */
/* Memory files of other processes; each is open while a block of this machine maps it. */
#include <stdlib.h>

#include "share_parts.h"
#include "heap.h"

struct share_memory *share_memory_of(struct share *share, uint64_t home)
{
    struct share_memory *memory = share->others;
    while (memory && memory->home != home)
        memory = memory->next;
    if (memory)
        return memory;
    memory = heap.calloc(1, sizeof *memory);
    int file = memory ? share_folder_open_file(&share->folder, "mem", home, OS_OPEN_WRITE) : -1;
    if (file < 0) {
        heap.free(memory);
        return NULL;
    }
    memory->home = home;
    backing_file_init(&memory->backing);
    memory->backing.file = file;
    memory->next = share->others;
    return share->others = memory;
}

void share_forget_memory(struct share *share)
{
    for (struct share_memory **at = &share->others; *at;) {
        struct share_memory *memory = *at;
        if (memory->users) {
            at = &memory->next;
            continue;
        }
        *at = memory->next;
        backing_file_clear(&memory->backing);
        heap.free(memory);
    }
}
