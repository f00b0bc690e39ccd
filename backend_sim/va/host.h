/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - memory of the host in place: what the program reads and writes at device addresses without any call.
 *
 *   rights of the host   none        READ             READWRITE         none, or unmapped
 *   at the mapping       (SIGSEGV)   [file, to read]  [file, to write]  (SIGSEGV)
 *
 * Only memory of location HOST or HOST_NUMA is ever shown, and only where the host's addresses are backed (host_window.h).
 * The bytes are those that device work sees, at once and both ways.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "process.h"

/* The mapping is about to have these rights for the host: its addresses now behave so. False when the system gives no
 * more memory or mappings (sim_host_refuse); nothing has changed. */
bool sim_host_show(struct sim_process *process, struct sim_mapping *mapping, unsigned rights);

/* What the host sees of the mappings from first on that lie before end is taken away, for they are about to go. False when the
 * system cannot do that: they are to stay, and nothing has changed. */
bool sim_host_hide(struct sim_process *process, struct sim_mapping *first, uint64_t end);

#endif
