/* SPDX-License-Identifier: Apache-2.0 */
/* share_folder.h - where shared machines lie, and how they come and go.
 *
 *   ROOT/m-NAME/     a machine with a name          state  slot.0 slot.1 ...  mem.SERIAL ...  token.NUMBER ...
 *   ROOT/u-RANDOM/   one without, that exported     the same, without mem
 *   ROOT/t-.../      one that is being made, or removed
 *
 * Whoever has a machine open keeps a hold on its state. A folder whose state nobody holds and of which no exported
 * descriptor is left is nobody's: it goes with the last to close it, or when the next machine is opened. Whatever else lies
 * there is left as it is (share_remove.h).
 */
#ifndef SIM_SHARE_FOLDER_H
#define SIM_SHARE_FOLDER_H

#include "os_own.h"
#include "share_state.h"

enum { SHARE_WHY = IMEX_WHY };

struct share_folder {
    char root[OS_PATH_MAX], path[OS_PATH_MAX];
    int file; /* the state, held; -1 in a forked child */
    uint64_t device, number; /* of that file */
    struct share_state *state;
    struct os_party party; /* ticket 0: not yet, for those who only look write nothing */
    struct os_own own;
};

/* The machine of that name, which is made if it is not there; NULL: a new one that nobody else knows. False when it cannot
 * be had, with the reason in why. */
bool share_folder_open(struct share_folder *folder, const char *name, const struct sim_profile *profile,
                       char why[SHARE_WHY]);

/* The machine with that id, if it is there. False: there is none, with "" in why, or it cannot be had. */
bool share_folder_open_other(struct share_folder *folder, uint64_t id, const struct sim_profile *profile,
                             char why[SHARE_WHY]);

/* Has the machine with that id, another than this, a file of that kind and number? */
bool share_folder_other_has(const struct share_folder *folder, uint64_t id, const char *kind, uint64_t number);

/* The machine of that entry ("m-NAME", "u-RANDOM"), whatever its profile, and never a new one: for those who only look.
 * False: there is none, with "" in why, or it cannot be had. */
bool share_folder_open_there(struct share_folder *folder, const char *entry, char why[SHARE_WHY]);

/* Calls visit with the entry of each of this user's machines. */
bool share_folder_each(void (*visit)(void *user, const char *entry), void *user, char why[SHARE_WHY]);

/* The machine's name; "" for one without. */
const char *share_folder_name(const struct share_folder *folder);

/* May go: nobody else will want it. Then it goes, unless others have it open. */
void share_folder_close(struct share_folder *folder, bool may_go);

/* Is the state still as large as it was, and is it one? Where it is not, nothing in it may be touched: memory that a file has
 * lost is a SIGBUS. Asked before each use. Whoever cuts the file during one, which takes microseconds, ends this process: the
 * folder is its user's alone, who could as well send the signal. */
bool share_folder_sound(const struct share_folder *folder);

/* Opens, or removes, a file of the machine, and no other: what lies at the folder's path is looked at first. */
int share_folder_open_file(const struct share_folder *folder, const char *kind, uint64_t number, enum os_open how);
void share_folder_remove_file(const struct share_folder *folder, const char *kind, uint64_t number);

/* The path of a file in it, to look at: "slot", 3 -> FOLDER/slot.3 */
const char *share_folder_file(const struct share_folder *folder, const char *kind, uint64_t number,
                              char path[OS_PATH_MAX]);

#endif
