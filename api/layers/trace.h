/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - the layer that records every call as a line of JSON, for people to read and for `cuvmm replay` to repeat.
 *
 *   trace=FILE         FILE is created or emptied; "-" is standard error
 *   trace=t.%p.jsonl   each process has a file of its own: %p is its number, %% a percent sign
 *   trace=FILE.vtrace  the same calls in the binary form, for many of them: trace_binary.h. What follows here is the readable form
 *
 *   program -> dispatch -> [trace] -> sim            FILE:  header line
 *                             |                             one line per call, when the call has returned
 *                             +--> FILE                     footer line, at close
 *
 * Calls pass one at a time, so lines are in the order of effects even when threads race, and a replay from one thread
 * reproduces the same history. Without %p lines contain no times, so the same calls on the simulator produce the same bytes.
 *
 * Each line is one JSON object in ASCII (other bytes of a text are escaped as \u00XX, one per byte) and ends in '\n';
 * trace.schema.json describes it for programs.
 *
 * HEADER   {"cuvmm-trace":1,"version":"0.1.0","inner":["sim"]}
 *   cuvmm-trace   version of this format; a reader refuses one that it does not know
 *   version       of the library that wrote it
 *   inner         names of the backends that calls went to, the next one first, the innermost last
 *   With %p also (trace_self.h):
 *   host, boot    the machine and its start; traces with one `boot` have one clock
 *   process, parent, program, started
 *   clock         CLOCK_MONOTONIC in nanoseconds when the file was begun
 *   fork_of       in a process that a traced one forked, without an exec: that one. Its objects are not named here
 *
 * CALL     {"n":7,"thread":1,"call":"mem_map","args":{"ptr":"0x100000000000","size":"0x200000","offset":"0x0",
 *           "handle":"0x1000000000001","flags":"0x0"},"names":{"ptr":"R1","handle":"H1"},"result":"CUDA_SUCCESS",
 *           "code":0}                                                                 (in one line)
 *   n             ordinal of the call in its system; gaps are calls that a layer further out kept for itself
 *   thread        1, 2, ... in order of first appearance; the current context belongs to it
 *   call          as in calls.def
 *   args          every parameter under its name in the driver's order, as it was passed; see below
 *   names         for each parameter, in or out, whose value is a known object: "H2", "C1", "S1", or for an address
 *                 "R1", "R1+0x200000" (in the first reservation), "A1+0x10" (in memory of mem_alloc). Left out when
 *                 empty. Objects are counted per kind from 1 by this layer, in the order of the calls that made
 *                 them, so a replay on another machine can substitute its own value for each name. Value 0 has no name.
 *   result, code  what was returned
 *   out           outputs that were written, under their names; left out when there are none
 *   severity      "warning" or "error": there is a detail, and also, unless empty:
 *   rule          "VMM-MAP-OVERLAP"
 *   argument, value, expected      the parameter at fault; numbers as hex strings
 *   nearest       the object that explains it, by the backend's own numbering: "M3"
 *   note          words
 *   With %p also:
 *   shared        of a successful export or import: a number that both processes have of what is passed between them. A
 *                 driver's descriptors have none
 *   time          nanoseconds since the header's clock, when the call was made
 *   place         where it was made: a number for its stack of addresses
 *   frames        of the first call of a place: ["/opt/app/step+0x17bd", ...], nearest first (trace_place.h)
 *   Readers need none of them, and a replay ignores them.
 *
 * ARGS by kind of parameter (call.h):
 *   INT                          a JSON integer: -1
 *   U32 U64 SIZE COUNT ADDRESS HANDLE CONTEXT STREAM EVENT   a hex string: "0x200000" (64 bits do not fit a double)
 *   TEAM                         {"num_devices":"0x2","size":"0x200000","handle_types":"0x0","flags":"0x0"}
 *   PROP                         {"type":1,"requested_handle_types":0,"location":{"type":1,"id":0},
 *                                 "win32_handle_meta_data":"0x0","compression_type":0,"gpu_direct_rdma_capable":0,
 *                                 "usage":0,"reserved":"00000000"}
 *   LOCATION                     {"type":1,"id":0}
 *   LOCATION_VALUE               the same
 *   STRUCT                       {"width":"0x40","format":32}: the fields of call_structs.def that are not 0, and of a union those that
 *                                are used; INTs as JSON integers, the others as hex strings
 *   STRUCTS                      a list of those, at most TRACE_LIST_MAX
 *   DESCS                        [{"location":{"type":1,"id":0},"flags":3}, ...], at most TRACE_LIST_MAX of them
 *   ARGS                         ["0x200000","0x10"], at most TRACE_LIST_MAX
 *   ATTRIBUTES                   [11,12], at most TRACE_LIST_MAX
 *   MEM_OPS                      [{"operation":2,"address":"0x200000","value":"0x5","flags":"0x0"}, ...], without address and
 *                                value when the operation has none; [] for a count above TRACE_LIST_MAX, which is refused
 *   ADDRESSES, SIZES             ["0x200000", ...], at most TRACE_LIST_MAX
 *   COPY_ATTRIBUTES              [{"order":1,"src":{"type":0,"id":0},"dst":{...},"flags":"0x0"}, ...], the same
 *   BOXES                        [{"dst":{"type":1,"at":"0x200000","row":"0x0","rows":"0x0"},"src":{...},"width":"0x10",...}, ...]; a side
 *                                that is an array has its x, y and z as row, rows and z
 *   MEMCPY3D, MEMCPY3D_PEER      {"src_memory_type":2,"src":"0x200000",...}: the addresses, the sizes that are not 0, and the contexts
 *   NODES, EDGES                 ["0x47020001000003"], at most TRACE_LIST_MAX
 *   FILL_NODE                    {"dst":"0x200000","pitch":"0x0","value":"0x1","element_size":"0x4","width":"0x10","height":"0x1"}
 *   KERNEL_NODE                  {"kernel":0,"grid_dim":"0x1","block_dim":"0x20","args":["0x200000","0x10"],"count":"0x2"}
 *   HOST_NODE                    "host"
 *   IO_COUNT, IO_INT             the value before the call: a hex string, a JSON integer
 *   BYTES                        {"length":"0x4","hex":"01020304"} for up to TRACE_BYTES_MAX bytes, for more
 *                                {"length":"0x200000","fnv1a64":"0x..."}; {"length":"0x4"} alone when the call failed,
 *                                because then the pointer need not be readable; {"length":"0x4","device":"0x7f..."} for a device
 *                                address in place of a host address, also for outputs
 *   FD                           "fd", with a name ("D1") if an export of this trace created it; "closed" for a number that is
 *                                not an open descriptor, without a name; "fabric" for a fabric handle, with a name if it was
 *                                exported and this call succeeded
 *   every OUT_ kind              "out"; of OUT_ATTRIBUTES a list with one "out" or null for each element
 *   any pointer that is NULL     null
 *
 * OUT by kind of parameter, written on success:
 *   OUT_INT                      a JSON integer
 *   OUT_FD                       "fabric" for a fabric handle, else "fd", with a name for an export. A descriptor's number
 *                                means nothing in another run; closing is not a traced call, so a replay closes at its end
 *   OUT_U64 OUT_SIZE OUT_ADDRESS OUT_HANDLE OUT_CONTEXT OUT_STREAM OUT_EVENT   a hex string. OUT_U64 also when the call failed
 *                                and wrote to it all the same, as cuMemGetAccess does
 *   OUT_PROP                     as PROP
 *   OUT_STRUCT                   as STRUCT
 *   OUT_RANGE                    a list of JSON integers, as many as data_size has room for
 *   OUT_USER_OBJECT IO_COUNT OUT_ID   a hex string; IO_INT a JSON integer
 *   OUT_NODES OUT_EDGES OUT_NODES_AT OUT_EDGES_AT   as NODES: as many as were written; [] for a list of the system's whose
 *                                length is not asked for
 *   OUT_UPDATE                   {"result":5,"error_node":"0x47020001000003","error_from_node":"0x0"}
 *   OUT_FILL_NODE, OUT_HOST_NODE as FILL_NODE, HOST_NODE
 *   OUT_TEXT                     a string
 *   OUT_BYTES                    as BYTES; of an _async call {"length":"0x4"} alone: they may not be there yet
 *   OUT_ATTRIBUTE                a JSON integer where the attribute is an int or unsigned int, else a hex string;
 *                                left out for an attribute whose type this library does not know
 *   OUT_ATTRIBUTES               a list of those, null where nothing was asked for or the type is not known
 *
 * FOOTER   {"end":1,"calls":7}
 *   calls         call lines in the file
 *   A file without a footer was cut off: the process died, or a line could not be written. The latter is reported once
 *   on standard error; after that nothing more is written, and the program's calls go on undisturbed.
 *
 * Processes: a peer of vmm_attach is not traced. With %p a forked child goes on in a file of its own from its first call on; else
 * it writes nothing.
 */
#ifndef CUVMM_LAYERS_TRACE_H
#define CUVMM_LAYERS_TRACE_H

#include "backend.h"

#define TRACE_FORMAT 1       /* the value of "cuvmm-trace" in the header */
#define TRACE_BYTES_MAX 4096 /* the maximum number of a copy's bytes that are written out; larger copies are hashed */
#define TRACE_LIST_MAX 256   /* the maximum number of a list's elements that are written out */
#define TRACE_TEXT_MAX 4096  /* the maximum number of bytes of a text output, in the binary form */

/* vmm_trace_open is declared in backend.h. It fails with INVALID_VALUE (no file named), OPERATING_SYSTEM (the file
 * cannot be created or written to) or OUT_OF_MEMORY, leaving inner to the caller. */

#endif
