/* SPDX-License-Identifier: Apache-2.0 */
/* share_remove.h - identifies the entries of the folder of machines that are certainly cuvmm's, and removes exactly these.
 *
 *   ROOT/m-NAME/cuvmm-CHECK   the mark: CHECK follows from the number of the folder, so no folder of another program has it,
 *                             not even a copy of a machine; it exists before the folder gets its name
 *   ROOT/t-RANDOM-CHECK       a folder that is being created or removed, with or without a mark: CHECK follows from RANDOM and
 *                             the number of ROOT, so no other program uses such a name
 *   everything else           belongs to other programs, and stays unchanged
 *
 * A folder is removed as a whole or kept as a whole: a folder that contains anything but regular files with cuvmm's names stays
 * in its place. All removal works in open folders, never through a link, because a path can change at any time.
 */
#ifndef SIM_SHARE_REMOVE_H
#define SIM_SHARE_REMOVE_H

#include "os_share.h"

enum { SHARE_ENTRY_MAX = 64 };

/* Makes a new name for a folder that is being created or removed. False: the system provides no random numbers. root is open. */
bool share_spare_name(int root, char entry[SHARE_ENTRY_MAX]);

/* Marks an open folder as cuvmm's. */
bool share_mark_folder(int folder);

/* Did cuvmm create the open folder, which is that entry of root? */
bool share_is_ours(int root, const char *entry, int folder);

/* Removes a folder that this process has just created under a new name, with its mark and its state. folder: the open folder, or
 * -1 if opening it failed. */
void share_unmake(int root, const char *spare, int folder);

/* Removes the folder if it belongs to cuvmm and contains nothing else: renames it first, so that no process finds it half
 * removed. */
void share_remove(int root, const char *entry, int folder);

#endif
