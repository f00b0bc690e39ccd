/* SPDX-License-Identifier: Apache-2.0 */
/* order_detail.h - what is said of accesses that nothing orders, and of bytes that nothing wrote.
 *
 *     order_take_found  ->  order_warn  ->  hazard VMM-ORDER-STREAMS: cuMemcpyDtoDAsync (call 10) ...
 */
#ifndef SIM_ORDER_DETAIL_H
#define SIM_ORDER_DETAIL_H

#include "order.h"
#include "vmm.h"

/* Writes the thread's record, which has no message yet. It is about the later access, whichever call found it. nearest: an object
 * that shows the bytes. */
void order_warn(const struct order_found *found, const vmm_object *nearest);

#endif
