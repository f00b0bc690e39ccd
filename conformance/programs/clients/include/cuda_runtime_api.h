/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_runtime_api.h - for clients compiled without the toolkit that include it and use nothing of the runtime. */
#include "builtin_types.h"
