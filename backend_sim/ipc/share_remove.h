/* SPDX-License-Identifier: Apache-2.0 */
/* share_remove.h - what in the folder of machines is cuvmm's beyond doubt, and the removal of that and of nothing else.
 *
 *   ROOT/m-NAME/cuvmm-CHECK   the mark: CHECK follows from the number of the folder, so no folder of anybody else's has it,
 *                             not even a copy of a machine; it is there before the folder gets its name
 *   ROOT/t-RANDOM-CHECK       one that is being made or removed, with a mark or without: CHECK follows from RANDOM and the
 *                             number of ROOT, so nobody else gives such a name
 *   everything else           somebody's, and left as it is
 *
 * A folder goes as a whole or stays as a whole: what holds anything but regular files by the names that cuvmm gives is left in
 * its place. All of it happens in folders that are open, never through a link; a path may lead elsewhere at any time.
 */
#ifndef SIM_SHARE_REMOVE_H
#define SIM_SHARE_REMOVE_H

#include "os_share.h"

enum { SHARE_ENTRY_MAX = 64 };

/* A new name for a folder that is being made or removed. False: there are no random numbers. root: open. */
bool share_spare_name(int root, char entry[SHARE_ENTRY_MAX]);

/* Marks an open folder as cuvmm's. */
bool share_mark_folder(int folder);

/* Did cuvmm make the open folder, which is that entry of root? */
bool share_is_ours(int root, const char *entry, int folder);

/* Removes a folder that this process has just made by a new name, with its mark and its state. folder: the same, open; -1 where
 * it could not be opened. */
void share_unmake(int root, const char *spare, int folder);

/* Removes the folder, if it is cuvmm's and holds nothing else's: out of everybody's way first, so that nobody finds half of it. */
void share_remove(int root, const char *entry, int folder);

#endif
