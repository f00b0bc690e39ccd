/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the runtime: memory. Included by cuda_runtime_api.h. */
