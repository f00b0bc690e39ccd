/* SPDX-License-Identifier: Apache-2.0 */
/* visit.h - walking over all that lives in a process, for vmm_visit and vmm_leaks. */
#ifndef SIM_VISIT_H
#define SIM_VISIT_H

#include "backend.h"

/* The slots of struct vmm_backend_ops. */
vmm_result sim_visit(struct vmm_backend *self, vmm_visit_fn visit, void *user);
uint64_t sim_leaks(struct vmm_backend *self, vmm_report_fn report, void *user);

#endif
