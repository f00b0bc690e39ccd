/* SPDX-License-Identifier: Apache-2.0 */
/* factcheck.h - replays a real driver's recorded answers and compares line by line.
 *
 *   recording   map.overlap_mid <TAB> INVALID_VALUE          (facts/h100-580.159.04.tsv)
 *   replay      facts_result(f, fc_map(...), "map.overlap_mid")
 *   verdict     ok - h100: map.overlap_mid: INVALID_VALUE
 *
 * Every line of a recording ends with one verdict: reproduced, differs (a failure), later (a capability that is not
 * modelled yet, facts_later.c) or exception (facts/exceptions.tsv). A line without one is a failure, and so is a
 * replayed line that was never recorded, an exception that is no longer needed and a "later" that matches nothing.
 *
 * The recording process made each group of calls in a process of its own; the replay opens a system for each group.
 * Names repeat in a recording; the nth answer by a name is compared with the nth line of that name.
 */
#ifndef CUVMM_FACTCHECK_H
#define CUVMM_FACTCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm.h"

/* Granularity of the machines that were recorded; opening a group stops the program when the profile has another. */
#define FACTS_G ((uint64_t)2 << 20)

#define FACTS_ARGS_MAX 4096 /* a recording grants rights by lists of a thousand */

enum fact_verdict { FACT_OPEN, FACT_REPRODUCED, FACT_DIFFERS, FACT_LATER, FACT_EXCEPTION };

struct fact {
    const char *name, *value; /* into the book's text */
    enum fact_verdict verdict;
};

/* One recording in its original order. */
struct fact_book {
    char *text;
    struct fact *facts;
    size_t count;
};

/* A listed difference: profile, pattern of names, why. One whose reason begins with "varies: " may be absent: the driver
 * answers one or the other from run to run. */
struct fact_exceptions {
    char *text;
    struct fact_exception {
        const char *profile, *name, *reason;
        bool used;
    } *rows;
    size_t count;
};

/* An argument of the last call, by its documented name. Several entries may share a name. */
struct facts_arg {
    const char *name;
    uint64_t value;
};

struct facts_count {
    unsigned lines, reproduced, later, exceptions; /* lines of the recordings */
    unsigned failing, explained;                   /* refused calls among them */
    unsigned reasons, same_reasons;                /* of those that the driver's log explained */
    unsigned not_run;                              /* recordings that this build cannot replay */
    uint64_t later_used;                           /* rows of facts_later.c that some line needed */
};

struct fact_later_row;

/* One replay in progress. */
struct facts {
    const char *profile;
    const char *spec; /* what vmm_open gets */
    struct fact_book *book;
    struct fact_book *words; /* what the driver's log said about the refusals, by name; may be NULL */
    struct fact_exceptions *exceptions;
    const struct fact_later_row *later; /* may be NULL */
    struct facts_count *count;
    vmm_system *sys; /* of the group that runs */
    int devices;
    vmm_context ctx;
    struct { /* the call made last */
        const char *function;
        struct facts_arg args[FACTS_ARGS_MAX];
        size_t count;
    } call;
};

/* ---- recordings (facts_book.c): all bail out with the line at fault when a file cannot be read ---- */
void fact_book_read(struct fact_book *book, const char *path);
void fact_book_free(struct fact_book *book);
/* Does the recording have a line of that name? Older recordings lack whole groups. */
bool fact_book_has(const struct fact_book *book, const char *name);
/* Does the recording have anything of the name's group? The group is the part before the first point. */
bool fact_book_asks(const struct fact_book *book, const char *name);
void fact_exceptions_read(struct fact_exceptions *exceptions, const char *path);
void fact_exceptions_free(struct fact_exceptions *exceptions);
struct fact_exception *fact_exceptions_find(struct fact_exceptions *exceptions, const char *profile, const char *name);

/* ---- relations (facts_relation.c) ---- */
/* Whether got says what recorded says. Most lines must be equal; addresses, handle values and crashes are compared by
 * the relation that they express. *reason is why, NULL where equality is asked. */
bool fact_agrees(const char *name, const char *recorded, const char *got, const char **reason);

/* ---- later (facts_later.c) ---- */
/* What the public calls of this build cannot query. Remove a row when its capability is added. */
struct fact_later_row {
    const char *name, *value; /* patterns */
    const char *capability;
};
/* A list has at most 64 rows, and one without a name at its end. */
extern const struct fact_later_row facts_later_rows[];
/* The capability that the line waits for, or NULL. Sets the row's bit in *used. rows may be NULL: none. */
const char *fact_later(const struct fact_later_row *rows, const char *name, const char *value, uint64_t *used);
/* The name pattern of the nth row whose bit is not set; NULL past the last. */
const char *fact_later_stale(const struct fact_later_row *rows, uint64_t used, size_t nth);

/* ---- answers (factcheck.c): each compares one answer with the next open line of its name ---- */
/* The answer of a call: its code. Also asserts that a refusal is fully explained (facts_explain.c). */
void facts_result(struct facts *f, vmm_result result, const char *name);
/* The same for a call that another process made and judged: fault is what its explanation lacks, "" for nothing. */
void facts_told(struct facts *f, vmm_result result, const char *rule, const char *fault, const char *name);
/* The next line of that name waits for a capability. */
void facts_later(struct facts *f, const char *name, const char *capability);
/* A value: "=" and the formatted text. */
void facts_value(struct facts *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A line of its own format. */
void facts_line(struct facts *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A call that ended the recorded process: must be refused by a rule whose row records the crash. */
void facts_crash(struct facts *f, vmm_result result, const char *name);
/* A property that a line's text cannot show; a point only when it does not hold. */
void facts_require(struct facts *f, bool holds, const char *name, const char *what);
/* Set-up that is no fact by itself: a failing point when result is not SUCCESS. Returns result. */
vmm_result facts_setup(struct facts *f, vmm_result result, const char *what);

/* "INVALID_VALUE": the code's name as the recordings write it. */
const char *facts_code(vmm_result result);

/* ---- explanations (facts_explain.c) ---- */
/* Asserts that the thread's detail explains the refused call made last: rule, argument and its value, way out, nearest
 * object. Does nothing for SUCCESS. */
void facts_explain(struct facts *f, vmm_result result, const char *name);
/* The same for a call that crashes the recorded driver: the rule's row must say so. */
void facts_explain_crash(struct facts *f, vmm_result result, const char *name);
/* The same for a call that another process made and judged. */
void facts_explain_told(struct facts *f, const char *rule, const char *fault, const char *name);
/* The same without a point: NULL, or what is missing. */
const char *facts_unexplained(const struct facts *f, vmm_result result, bool crash);

/* ---- reasons (facts_words.c) ---- */
/* Whether a rule says what the driver's words say. */
bool fact_same_reason(const char *words, const char *rule);
/* One point for a refusal that the driver's log explained. Its exceptions are listed as "NAME (reason)". */
void facts_reason(struct facts *f, const char *rule, const char *name);

/* ---- the groups ---- */
enum facts_start {
    FACTS_OPENED,      /* before vmm_init */
    FACTS_INITIALISED, /* no context */
    FACTS_CONTEXT      /* the primary context of device 0 is current */
};

struct facts_group {
    const char *first; /* a line by which a recording shows that it has the group */
    enum facts_start start;
    void (*run)(struct facts *f);
};

/* Every group, in the order of the recording; in facts_groups.c. */
extern const struct facts_group facts_groups[];
extern const size_t facts_groups_count;

/* A fresh system with a current context in place of the group's, for cases that each had a process. */
void facts_renew(struct facts *f);

/* 8 G of addresses for device work, of which the first 2 G have this memory: FACTS_UNMAPPED it is mapped nowhere,
 * FACTS_NO_RIGHTS nobody was given rights, else the rights of device 0 (facts_work.c). */
enum { FACTS_UNMAPPED = -2, FACTS_NO_RIGHTS = -1 };
vmm_deviceptr facts_beforehand(struct facts *f, int rights, vmm_mem_generic_allocation_handle *handle);

/* What still works after device work on the first 2 G of the 8 G at p, as lines NAME.then and NAME.vmm_after; takes all
 * of it apart (facts_work.c). */
void facts_afterwards(struct facts *f, const char *name, vmm_deviceptr p, vmm_mem_generic_allocation_handle handle);

/* Replays all groups that the recording has. */
void facts_replay(struct facts *f);

/* Replays the program of the second recording (facts_edges_replay.c). False when it could not be run: the build has
 * no edges.c, or no header that stands in for the driver's. */
bool facts_replay_edges(struct facts *f);

/* Gives every line of the recording that is still open its verdict. */
void facts_settle(struct facts *f);

void facts_no_init(struct facts *f);
void facts_no_context(struct facts *f);
void facts_attributes(struct facts *f);
void facts_granularity(struct facts *f);
void facts_create(struct facts *f);
void facts_handles(struct facts *f);
void facts_handle_zero(struct facts *f);
void facts_handle_forged(struct facts *f);
void facts_handle_double(struct facts *f);
void facts_handle_stale(struct facts *f);
void facts_reserve(struct facts *f);
void facts_free(struct facts *f);
void facts_map(struct facts *f);
void facts_access(struct facts *f);
void facts_retain(struct facts *f);
void facts_memory(struct facts *f);
void facts_straddle(struct facts *f);
void facts_span(struct facts *f);
void facts_copy(struct facts *f);
void facts_multi(struct facts *f);
void facts_remap(struct facts *f);
void facts_pointer(struct facts *f);
void facts_dmabuf(struct facts *f);
void facts_share(struct facts *f);
void facts_share_processes(struct facts *f);
void facts_fork(struct facts *f);
void facts_device_work(struct facts *f);
void facts_kernels(struct facts *f);
void facts_peer_kernel(struct facts *f);
/* Where the host cannot have the recorded addresses, the lines about its own accesses wait for this capability. */
#define FACTS_HOST_ADDRESSES "the recorded addresses of the host"
void facts_host_dereference(struct facts *f);
void facts_host_memory(struct facts *f);
void facts_numa_memory(struct facts *f);
void facts_context_end(struct facts *f);
void facts_context_reset(struct facts *f);
void facts_peer_absent(struct facts *f);
void facts_peer(struct facts *f);
void facts_peer_refused(struct facts *f);
void facts_order(struct facts *f);

/* All queries of one address, as lines ptr.NAME.*; in facts_pointer.c. */
void facts_pointer_lines(struct facts *f, const char *name, vmm_deviceptr ptr);

#endif
