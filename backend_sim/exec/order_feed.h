/* SPDX-License-Identifier: Apache-2.0 */
/* order_feed.h - reports to the order of work (order.h) what a process issues, accesses and waits for.
 *
 *     cuMemcpyDtoDAsync on S    order_feed_issue: the copy's lane and tick; it writes [offset, ...) of memory 3, reads memory 4
 *     cuLaunchKernel on T       order_feed_issue; order_feed_access for each access when it runs; order_feed_done
 *     cuEventSynchronize        order_host_waits, in the call
 *
 * With order=report, and with unwritten=report for the bytes that nothing wrote; without both process->in_flight->order is
 * NULL, and nothing here may be called. Addresses become numbers of memory and offsets, so that aliases meet. Under the
 * machine's lock.
 *
 * Whatever the program can observe without a call counts as known: that a host function has started, that a kernel or a memory
 * operation wrote where the host can read it, and copies and fills of at most 8 bytes. In longer ones no byte is known to be
 * the last.
 */
#ifndef SIM_ORDER_FEED_H
#define SIM_ORDER_FEED_H

#include "in_flight.h"
#include "order.h"
#include "transfer.h"
#include "translate.h"
#include "twin.h"
#include "written.h"

/* Opens what the options ask for. Nothing is tracked if host memory is exhausted. */
void order_feed_open(struct in_flight *in_flight, const struct sim_options *options);
void order_feed_close(struct in_flight *in_flight);

/* The work was queued at the place for the call; issued_by as in work.h. */
void order_feed_issue(struct sim_process *process, const struct queue_place *place, struct work *work,
                      const union vmm_any_call *call);
/* A copy or fill that the call makes itself, on a stream: pinned: the host side is pinned memory, so the host does not wait for
 * it. */
void order_feed_now(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                    const struct transfer *t, bool pinned);
/* A kernel's access to a block. */
void order_feed_access(struct sim_process *process, struct work *work, const struct translate_run *run, enum twin_use use);
void order_feed_done(struct in_flight *in_flight, struct work *work);
/* The host can see that the work's turn has come, or some of what it wrote. */
void order_feed_seen(struct sim_process *process, struct work *work, bool turn);
/* The transfer is made now by the work, or by the call itself (NULL). */
void order_feed_moves(struct sim_process *process, const struct work *work, const struct vmm_call *call, const struct transfer *t);

/* The addresses belong to a new object, so earlier accesses to their memory do not matter. */
void order_feed_renew(struct sim_process *process, uint64_t address, uint64_t size);
/* Memory was created, or others may write it from now on. */
void order_feed_created(struct sim_process *process, const struct sim_block *block);
void order_feed_shared(struct sim_process *process, const struct sim_block *block);

/* At the end of a call: warns about findings, unless the call has already drawn another message. */
void order_feed_report(struct sim_process *process);
/* The next finding, for a caller that reports it itself; returns false if none is left. */
bool order_feed_take(struct sim_process *process, vmm_detail *detail);

#endif
