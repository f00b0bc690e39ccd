/* SPDX-License-Identifier: Apache-2.0 */
#include "thread.h"

_Thread_local struct vmm_thread vmm_thread_here;
