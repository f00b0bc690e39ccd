/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: code. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */
