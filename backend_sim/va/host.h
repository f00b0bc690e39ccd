/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - host memory in place: device addresses that the program reads and writes directly, without a call.
 *
 *   rights of the host   none        READ             READWRITE         none, or unmapped
 *   at the mapping       (SIGSEGV)   [file, to read]  [file, to write]  (SIGSEGV)
 *
 * Only memory of location HOST or HOST_NUMA is shown, and only where the host window backs its addresses (host_window.h).
 * The program and device work share the same bytes: each sees the other's writes at once.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "process.h"

/* Makes the mapping's addresses accessible with these rights, before the mapping gets them for the host. False when the system
 * has no memory or no mapping left (sim_host_refuse): nothing has changed. */
bool sim_host_show(struct sim_process *process, struct sim_mapping *mapping, unsigned rights);

/* Makes the mappings from first on that lie before end inaccessible to the program, before they are unmapped. False when the
 * system has no memory for that: the caller keeps the mappings, and nothing has changed. */
bool sim_host_hide_shown(struct sim_process *process, struct sim_mapping *first, uint64_t end);
static inline bool sim_host_hide(struct sim_process *process, struct sim_mapping *first, uint64_t end)
{
    return !process->host_sees || sim_host_hide_shown(process, first, end);
}

#endif
