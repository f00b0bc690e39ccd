/* SPDX-License-Identifier: Apache-2.0 */
/* form.h - the two forms of a kernel of the library: as the library has it, a twin or machine code, and from its PTX. */
#ifndef CUVMM_SUITE_FORM_H
#define CUVMM_SUITE_FORM_H

#include "test.h"

/* Skips the test where the device is too old for the PTX. */
void form_need(struct fix *f);

/* The number to launch the kernel by; loads the PTX where it is asked for. */
vmm_kernel form_of(struct fix *f, vmm_kernel kernel, bool ptx);

#endif
