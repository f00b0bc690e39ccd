/* SPDX-License-Identifier: Apache-2.0 */
/* share_folder.h - where shared machines are stored, and how they are created and removed.
 *
 *   ROOT/m-NAME/     a machine with a name          state  slot.0 slot.1 ...  mem.SERIAL ...  token.NUMBER ...
 *   ROOT/u-RANDOM/   a machine without a name that has exported; the same files, without mem
 *   ROOT/t-.../      a machine that is being created or removed
 *
 * Each process that has a machine open keeps a hold on its state. A folder is unused when no process holds its state and none of
 * its exported descriptors is left. The last process to close an unused folder removes it, or else the next one that opens any
 * machine. Everything else in ROOT stays unchanged (share_remove.h).
 */
#ifndef SIM_SHARE_FOLDER_H
#define SIM_SHARE_FOLDER_H

#include "os_own.h"
#include "share_state.h"

enum { SHARE_WHY = IMEX_WHY };

struct share_folder {
    char root[OS_PATH_MAX], path[OS_PATH_MAX];
    int file; /* the state's file, with a hold on it; -1 in a forked child */
    uint64_t device, number; /* identify that file */
    struct share_state *state;
    struct os_party party; /* without a ticket (0) for share inspection, which writes nothing */
    struct os_own own;
};

/* Opens the machine of that name, and creates it if it does not exist; with name NULL, creates a private one. Returns false,
 * with the reason in why, on failure. */
bool share_folder_open(struct share_folder *folder, const char *name, const struct sim_profile *profile,
                       char why[SHARE_WHY]);

/* Opens the machine with that id. Returns false if there is none, with "" in why, or if it cannot be opened. */
bool share_folder_open_other(struct share_folder *folder, uint64_t id, const struct sim_profile *profile,
                             char why[SHARE_WHY]);

/* Does the other machine with that id have a file of that kind and number? */
bool share_folder_other_has(const struct share_folder *folder, uint64_t id, const char *kind, uint64_t number);

/* Opens the existing machine of that entry ("m-NAME", "u-RANDOM"), whatever its profile, for share inspection. False when there
 * is none, with "" in why, or when it cannot be opened. */
bool share_folder_open_there(struct share_folder *folder, const char *entry, char why[SHARE_WHY]);

/* Calls visit with the entry of each of this user's machines. */
bool share_folder_each(void (*visit)(void *user, const char *entry), void *user, char why[SHARE_WHY]);

/* The machine's name; "" if it has none. */
const char *share_folder_name(const struct share_folder *folder);

/* Closes the machine. may_go: no other process will need it, so it is removed unless another process has it open. */
void share_folder_close(struct share_folder *folder, bool may_go);

/* Does the state still have its size, and is it still a state? If not, it must not be accessed: access to memory beyond the end
 * of a file raises SIGBUS. Called before each use. Truncating the file during a use, which takes microseconds, ends this
 * process: only its user has access to the folder, and that user could as well send the signal. */
bool share_folder_sound(const struct share_folder *folder);

/* Opens or removes a file of this machine only: first checks that the folder's path still leads to this machine. */
int share_folder_open_file(const struct share_folder *folder, const char *kind, uint64_t number, enum os_open how);
void share_folder_remove_file(const struct share_folder *folder, const char *kind, uint64_t number);

/* The path of a file in the folder, for reading only: "slot", 3 -> FOLDER/slot.3 */
const char *share_folder_file(const struct share_folder *folder, const char *kind, uint64_t number,
                              char path[OS_PATH_MAX]);

#endif
