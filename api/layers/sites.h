/* SPDX-License-Identifier: Apache-2.0 */
/* sites.h - the layer that writes down where each call of a program was made, in a file that all processes of a run share.
 *
 *   sites=FILE      FILE was made by `cuvmm exec --fault=each`, and is mapped: a call costs no system call, a process may be killed
 *
 *   program -> dispatch -> [sites] -> [fault] -> sim       FILE: head | names of modules and functions | a record per call
 *
 *   record   process 2, the 3rd mem_map of that process, as cuMemMap, by pool.so + 0x11f5, made to fail by a layer
 *
 * A process is numbered when it first asks, in the order in which they do; CUVMM_PROCESSES names the file that they count in (8
 * bytes at least). The fault layer's "process=2" is that number.
 */
#ifndef CUVMM_LAYERS_SITES_H
#define CUVMM_LAYERS_SITES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SITES_MAGIC = 0x65746973, SITES_NAMES = 1024, SITES_TEXT = 240 };

/* The text of a module's path or of a function's name. Slot 0 stands for an unknown one. */
struct sites_name {
    _Atomic uint64_t key; /* 0: free */
    char text[SITES_TEXT];
};

struct sites_call {
    uint64_t nth;              /* of its kind in its process, from 1 */
    uint64_t offset;           /* the call's offset in its module, as addr2line expects it */
    uint32_t process;          /* from 1; 0: no file says */
    uint16_t kind;             /* enum vmm_call_id */
    uint16_t module, function; /* the calling function, and the driver's function: indexes into `name` */
    bool injected;             /* a fault layer made it fail */
    _Atomic bool complete;
};

struct sites_file {
    uint32_t magic;
    bool all;               /* every call is recorded; otherwise only those that were made to fail */
    uint64_t room;          /* the number of records that fit */
    _Atomic uint64_t count; /* records that were wanted */
    struct sites_name name[SITES_NAMES];
    struct sites_call call[];
};

/* The number of this process in its run, from 1; 0 without CUVMM_PROCESSES. */
uint32_t sites_process(void);

#endif
