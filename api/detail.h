/* SPDX-License-Identifier: Apache-2.0 */
/* detail.h - internals of vmm_last_detail: how backends report reasons.
 *
 * There is one record per thread, as with errno. Dispatch clears it before each call; a backend fills it when it refuses or
 * warns; the text is formatted only on request. A refusal wins over a warning, the first warning over later ones.
 */
#ifndef CUVMM_DETAIL_H
#define CUVMM_DETAIL_H

#include "call.h"
#include "rules.h"
#include "vmm.h"

/* The thread's record, for a backend to fill. */
vmm_detail *vmm_detail_here(void);

/* Clears the thread's record of the previous call. */
void vmm_detail_clear(void);

/* Does it hold anything from the previous call? */
static inline bool vmm_detail_is_used(const vmm_detail *record)
{
    return record->severity != VMM_SEVERITY_NONE || record->result != VMM_SUCCESS;
}

/* Notes which call the record is about. If the call has nothing to report, the record holds nothing else. */
static inline void vmm_detail_note_call(vmm_detail *record, const char *function, uint64_t number)
{
    record->function = function;
    record->call = number;
}

/* Empties the thread's record and notes which call it will be about. */
static inline void vmm_detail_begin_in(vmm_detail *record, const char *function, uint64_t number)
{
    if (vmm_detail_is_used(record))
        vmm_detail_clear();
    vmm_detail_note_call(record, function, number);
}

/* Does the same for callers without the record at hand. */
static inline void vmm_detail_begin(const struct vmm_call *call)
{
    vmm_detail_begin_in(vmm_detail_here(), vmm_call_driver_name((enum vmm_call_id)call->id), call->number);
}

/* Fills the record with a refusal by rule (argument and result come from the rule's row), and returns that result. nearest may be
 * NULL. */
vmm_result vmm_detail_refuse(enum vmm_rule_id rule, uint64_t value, uint64_t expected, const vmm_object *nearest);

/* Fills the record with a warning; does nothing when the record already holds a message. */
void vmm_detail_warn(enum vmm_rule_id rule, uint64_t value, uint64_t expected, const vmm_object *nearest);

/* Replaces the argument's name, for rules that several parameters can break. */
void vmm_detail_argument(const char *argument);

/* Adds text about this particular call. */
void vmm_detail_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Names the call that issued the work that the record is about. */
void vmm_detail_issued(vmm_site site);

/* Attaches the facts of a device fault to the record; copies them. */
void vmm_detail_fault(const vmm_fault *fault);

/* Attaches the accesses that nothing orders to the record; copies them. */
void vmm_detail_order(const vmm_order *order);

/* Refuses to open, attach or visit by a rule, with text about this call. Returns the rule's result. */
vmm_result vmm_refuse_open(enum vmm_rule_id rule, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For helpers that are not calls on a machine (fd.h): text without a rule. Returns result. */
vmm_result vmm_detail_fail(vmm_result result, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
