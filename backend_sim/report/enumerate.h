/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.h - enumerates all live objects of a process, for vmm_visit and vmm_leaks. */
#ifndef SIM_ENUMERATE_H
#define SIM_ENUMERATE_H

#include "backend.h"

/* Entries of struct vmm_backend_ops. */
vmm_result sim_enumerate(struct vmm_backend *self, vmm_visit_fn visit, void *user);
uint64_t sim_leaks(struct vmm_backend *self, vmm_report_fn report, void *user);

#endif
