/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the block that a descriptor or a label names, with one more holder. */
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "share_parts.h"
#include "share_token.h"

/* Adds a holder in this machine to an existing block. */
static enum share_found take(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                             struct sim_block **block, char text[SHARE_WHY])
{
    enum share_found found = share_see(share, machine, index, number, block, text);
    if (found != SHARE_FOUND)
        return found;
    (*block)->holders++;
    share_hold(&share->folder.state->block[index], share->slot, true);
    share_count(share, *block, 0);
    return SHARE_FOUND;
}

/* The entry that the token names, if the token is the file that was created for that entry, with unchanged contents. */
static bool names(const struct share *share, const struct share_token *token, const struct os_file_is *is)
{
    char name[sizeof token->name] = "";
    memcpy(name, share->name, sizeof share->name);
    if (memcmp(name, token->name, sizeof name) != 0 || token->index >= share_blocks(share->folder.state) ||
        !token->number)
        return false;
    const struct share_block *entry = &share->folder.state->block[token->index];
    return atomic_load(&entry->number) == token->number && !memcmp(entry->nonce, token->nonce, sizeof token->nonce) &&
           entry->file_device == is->device && entry->file_number == is->number;
}

enum share_found share_import(struct share *share, struct sim_machine *machine, int file, struct sim_block **block,
                              char text[SHARE_WHY])
{
    struct share_token token;
    struct os_file_is is;
    text[0] = '\0';
    enum share_token_is read = share_token_read(file, &token, &is);
    if (read == SHARE_TOKEN_UNREAD)
        snprintf(text, SHARE_WHY, SHARE_UNREADABLE);
    if (read != SHARE_TOKEN)
        return read == SHARE_TOKEN_NONE ? SHARE_NO_TOKEN : SHARE_NO_FILE;
    if (!share || token.machine != share->folder.state->id) {
        snprintf(text, SHARE_WHY, "%s%.40s%s", token.name[0] ? "it belongs to machine=" : "its machine has no name",
                 token.name, "");
        return SHARE_OTHER_MACHINE;
    }
    if (!names(share, &token, &is)) {
        snprintf(text, SHARE_WHY, "it claims to come from this machine, which did not create it");
        return SHARE_UNKNOWN;
    }
    return take(share, machine, (unsigned)token.index, token.number, block, text);
}

/* The entry that the label names; NULL when there is none. */
static const struct share_block *labelled(const struct share *share, const struct share_label *label)
{
    if (label->machine != share->folder.state->id || label->index >= share_blocks(share->folder.state) || !label->number)
        return NULL;
    const struct share_block *entry = &share->folder.state->block[label->index];
    bool same = atomic_load(&entry->number) == label->number && !memcmp(entry->nonce, label->nonce, sizeof label->nonce);
    return same ? entry : NULL;
}

enum share_found share_import_named(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                    const struct imex_place *place, struct sim_block **block, char text[SHARE_WHY])
{
    const struct share_block *entry = labelled(share, label);
    text[0] = '\0';
    if (!entry || !place->domain || entry->fabric.domain != place->domain || entry->fabric.channel != place->channel)
        return SHARE_UNKNOWN;
    return take(share, machine, label->index, label->number, block, text);
}

/* Does the process with that serial hold the block? */
static bool held_by(const struct share *share, const struct share_block *entry, uint64_t home)
{
    for (unsigned i = 0; i < share_slots(share->folder.state); i++) {
        const struct share_slot *slot = &share->folder.state->slot[i];
        if (atomic_load(&slot->taken) && atomic_load(&slot->serial) == home)
            return share_holds(entry, i);
    }
    return false;
}

enum share_found share_import_from(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                   uint64_t home, struct sim_block **block, char text[SHARE_WHY])
{
    const struct share_block *entry = labelled(share, label);
    text[0] = '\0';
    if (!entry || !held_by(share, entry, home))
        return SHARE_UNKNOWN;
    return take(share, machine, label->index, label->number, block, text);
}

enum share_found share_import_labelled(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                       struct sim_block **block, char text[SHARE_WHY])
{
    text[0] = '\0';
    return labelled(share, label) ? take(share, machine, label->index, label->number, block, text) : SHARE_UNKNOWN;
}
