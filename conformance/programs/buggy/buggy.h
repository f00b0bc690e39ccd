/* SPDX-License-Identifier: Apache-2.0 */
/* buggy.h - small programs with one mistake each, beside the corrected form: how to write one.
 *
 *     PROGRAM(free_while_mapped, .does = "frees addresses before unmapping them", .rule = "VMM-FREE-MAPPED",
 *             .at = "cuMemAddressFree", .way = "unmap first", .leaves = "R")
 *     {
 *         vmm_mem_generic_allocation_handle memory;
 *         vmm_deviceptr p = mapped(b, G, RW, &memory);
 *         BUG(REPORTED(vmm_mem_address_free(S, p, G)); DO(vmm_mem_unmap(S, p, G)));    what people write
 *         FIX(DO(vmm_mem_unmap(S, p, G)); DO(vmm_mem_address_free(S, p, G)));          what they should have written
 *         DO(vmm_mem_release(S, memory));
 *     }
 *
 * bin/buggy runs both forms, each in a fresh system and under several schedules, and with --driver on a driver. In the buggy
 * form the call marked REPORTED is reported once, by this rule, and nothing else is. In the corrected form nothing is reported,
 * nothing is left behind, and the bytes are as its RIGHT(...) say. A program that is right by luck is found out: with alias=stale:SEED
 * its bytes are wrong for some seeds, and those of its correction for none. Programs register themselves, and docs/mistakes.md
 * is a table of them.
 */
#ifndef CUVMM_BUGGY_H
#define CUVMM_BUGGY_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

struct run;

struct program {
    const char *name, *file;
    int line;
    void (*run)(struct run *b);
    const char *does;     /* what people do */
    const char *rule;     /* the rule that reports it; for a program that leaks, the rule of the leak */
    /* the driver's name of the reported call, "host read" or "host write"; for a leak, the call that made it */
    const char *at;
    const char *way;      /* the fix, in a few words */
    const char *driver;   /* what a driver answers; NULL: as the rule says */
    const char *argument; /* the one in the message; NULL: not checked */
    vmm_object_kind near; /* the nearest object; NONE: not checked */
    const char *then;     /* a second rule that follows from the mistake, at the call marked THEN. What follows work in
                             flight does so late, never eager, and by chance under a random schedule */
    const char *leaves;   /* kinds of what the buggy form leaves behind, letters of R M H A C S E in this order */
    const char *machine;  /* NULL: sim:h100 */
    bool luck;            /* the buggy form's RIGHT hold, but not under every seed of alias=stale:SEED */
    bool bare;            /* neither initialised nor a context: the program does both itself */
    struct program *next;
};

#define PROGRAM(function, ...)                                                                                        \
    static void function(struct run *b);                                                                             \
    static struct program function##_program = {                                                                     \
        .name = #function, .file = __FILE__, .line = __LINE__, .run = function, __VA_ARGS__};                         \
    __attribute__((constructor)) static void function##_register(void) { program_register(&function##_program); }    \
    static void function(struct run *b)

/* All programs, by file and line. */
struct program *program_first(void);
void program_register(struct program *program);
/* "flight" of a program in in_flight.c. */
const char *program_theme(const struct program *program, char *theme, size_t size);

/* ---------------------------------------------------------------------------------------------- in a program's body */

#define S (b->sys)
#define G (b->g)

#define BUG(...)           \
    do {                   \
        if (b->buggy) {    \
            __VA_ARGS__;   \
        }                  \
    } while (0)
#define FIX(...)           \
    do {                   \
        if (!b->buggy) {   \
            __VA_ARGS__;   \
        }                  \
    } while (0)
/* One of two values. */
#define BUG_OR_FIX(bug, fix) (b->buggy ? (bug) : (fix))

/* A call of the program. It must succeed in the corrected form; in the buggy form only the reports are checked. */
#define DO(call) run_call(b, RUN_ANY, __LINE__, #call, (call))
#define REPORTED(call) run_call(b, RUN_REPORTED, __LINE__, #call, (call)) /* the call that must be reported in the buggy form */
#define CAUSE(call) run_call(b, RUN_CAUSE, __LINE__, #call, (call)) /* a call that the message names as well */
#define THEN(call) run_call(b, RUN_THEN, __LINE__, #call, (call))   /* the call reported by .then */
/* The value of the argument that the message names. */
#define VALUE(value) run_value(b, (value))
/* Where the nearest object that it names starts. */
#define NEAR(start) run_near(b, (start))
/* The result is right: in the corrected form, and by luck in the buggy one. */
#define RIGHT(condition) run_right(b, __LINE__, #condition, (condition))
/* The program reads or writes a byte in place; in the buggy form in a child, which the access ends. */
#define HOST_READ(address) host_read(b, __LINE__, (address))
#define HOST_WRITE(address, value) host_write(b, __LINE__, (address), (value))

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(stream, kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, ARGS(__VA_ARGS__), stream)

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define DEVICE(id) ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (id)})
#define HOST ((vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0})

typedef vmm_mem_generic_allocation_handle vmm_handle;

/* What most programs need before their mistake. */
vmm_mem_allocation_prop pinned(vmm_mem_location location);
vmm_handle create(struct run *b, uint64_t size);                 /* on device 0 */
vmm_handle create_at(struct run *b, uint64_t size, vmm_mem_location location);
vmm_deviceptr reserve(struct run *b, uint64_t size);
vmm_result grant(struct run *b, vmm_deviceptr p, uint64_t size, vmm_mem_location location, vmm_mem_access_flags flags);
/* Maps memory of device 0 at new addresses with rights for device 0, and undoes that. */
vmm_deviceptr mapped(struct run *b, uint64_t size, vmm_mem_access_flags flags, vmm_handle *memory);
void give_back(struct run *b, vmm_deviceptr p, uint64_t size, vmm_handle memory);
/* The first G of a reservation of 2 G, so that an access past it faults: behind a whole reservation a driver may keep mapped
 * memory of its own (an H100 let a kernel write there). */
vmm_deviceptr mapped_below_free(struct run *b, vmm_handle *memory);
void give_back_below_free(struct run *b, vmm_deviceptr p, vmm_handle memory);
/* Like mapped, in chunks of G whose handles are released at once; and the end of it: one unmap for all. */
vmm_deviceptr chunks(struct run *b, unsigned count, vmm_mem_access_flags flags);
void give_chunks_back(struct run *b, vmm_deviceptr p, unsigned count);
/* A byte, read by a copy of the current context's device. */
unsigned char byte_at(struct run *b, vmm_deviceptr p);
vmm_stream stream(struct run *b);

/* ---------------------------------------------------------------------------------------------------- one run of one */

enum { RUN_REPORTS_MAX = 8, RUN_TEXT = 4096 };
enum run_mark { RUN_ANY, RUN_REPORTED, RUN_CAUSE, RUN_THEN, RUN_MARKS };

struct reported {
    vmm_detail detail;
    char text[RUN_TEXT];
};

struct run {
    vmm_system *sys;
    const struct program *program;
    const char *schedule; /* and further options of the spec behind it */
    const char *driver;   /* the spec of a driver; NULL: the program's simulated machine */
    bool buggy;
    uint64_t g;
    vmm_context context;
    struct reported reported[RUN_REPORTS_MAX], left[RUN_REPORTS_MAX]; /* while it ran; at its end */
    unsigned reports, lefts;
    uint64_t call[RUN_MARKS];     /* the ordinals of the marked calls; 0: none was made */
    vmm_result result[RUN_MARKS]; /* and what they returned */
    uint64_t value;
    bool value_noted;
    uint64_t near; /* 0: not looked at */
    unsigned rights;   /* how many RIGHT were checked */
    unsigned wrongs;   /* and how many did not hold */
    unsigned failures; /* of the corrected form while it ran */
};

void run_call(struct run *b, enum run_mark mark, int line, const char *what, vmm_result result);
void run_value(struct run *b, uint64_t value);
void run_near(struct run *b, uint64_t start);
void run_right(struct run *b, int line, const char *what, bool holds);
unsigned char host_read(struct run *b, int line, vmm_deviceptr address);
void host_write(struct run *b, int line, vmm_deviceptr address, unsigned char value);

/* Opens a fresh system, runs one form of the program in it, checks what is left and closes it. */
void run_program(struct run *b, const struct program *program, bool buggy, const char *schedule);
/* Does everything match the program's row? Prints differences as notes. */
bool run_verdict(const struct run *b);

/* On a driver, which has no rules: the marked call returns what the row says, and what the corrected form says of the bytes
 * holds. A process has one driver and a fault takes its device, so each run is a separate process. */
void run_on_driver(struct run *b, const struct program *program, bool buggy, const char *driver);
bool run_driver_verdict(const struct run *b);
/* Why a driver does not run this form; NULL: it does. */
const char *run_undriven(const struct program *program, bool buggy);

#endif
