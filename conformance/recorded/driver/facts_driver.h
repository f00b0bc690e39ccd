/* SPDX-License-Identifier: Apache-2.0 */
/* facts_driver.h - the simulator in the place of the driver, for a recording program's replay.
 *
 * The program prints its lines; the stand-in puts what it has to add into the same stream, between two control
 * characters, wherever the program is in its line (shown here as < and >):
 *
 *   <refused VMM-MAP-OVERLAP|what its explanation lacks, nothing when it is complete>
 *   <later export and import>
 *   A.again.unmap <TAB> INVALID_VALUE
 *
 * A call that a rule says to crash the recorded driver ends the process by SIGSEGV here too.
 */
#ifndef CUVMM_FACTS_DRIVER_H
#define CUVMM_FACTS_DRIVER_H

#include "factcheck.h"

#define FACTS_REMARK '\001'
#define FACTS_REMARK_END '\002'
#define FACTS_REFUSED "refused "
#define FACTS_LATER "later "

/* Opens the system for this process's calls; a process has one driver. The caller keeps f. */
void facts_driver_open(struct facts *f);

/* Runs main of edges.c with its standard output, and that of its children, going to the descriptor; false when the
 * build has no edges.c (facts_edges.c). */
bool facts_edges_run(int out);

#endif
