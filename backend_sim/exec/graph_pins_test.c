/* SPDX-License-Identifier: Apache-2.0 */
/* graph_pins: a graph's memory stays in place until its stream's work is done, whatever other streams have to do. */
#include "graph_pins.h"

#include "in_flight.h"
#include "pool_policy.h"
#include "refusal.h"
#include "system.h"
#include "tap.h"

enum { A, B, STREAMS };

static vmm_system *sys;
static struct sim_process *process;
static struct sim_graph_memory *memory;
static vmm_stream stream[STREAMS];
static vmm_deviceptr at;
static uint64_t start;

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", what, vmm_last_detail()->note);
}

static void begin(const char *spec)
{
    vmm_context context;
    need(vmm_open(spec, &sys), spec);
    need(vmm_init(sys, 0), "init");
    need(vmm_ctx_create(sys, &context, 0, 0), "context");
    for (int i = 0; i < STREAMS; i++)
        need(vmm_stream_create(sys, &stream[i], VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_mem_alloc(sys, &at, 4096), "memory");
    process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    memory = sim_graph_memory_of(process, 0);
    if (!memory || !sim_graph_memory_take(process, memory, 1, &start))
        tap_bail("no addresses");
    sim_machine_unlock(process->machine);
}

static void work(int lane)
{
    need(vmm_memset_d8_async(sys, at + 64 * (unsigned)lane, 1, 64, stream[lane]), "work");
}

/* Graph memory that waits for the stream's current work. */
static void pin(int lane)
{
    uint64_t lacks, left;
    struct sim_context *context;
    sim_machine_lock(process->machine);
    struct sim_graph_pin *made = sim_graph_memory_back(process, memory, start, POOL_CHUNK, &lacks, &left);
    if (!made || sim_stream_context(process, stream[lane], &context) != VMM_SUCCESS)
        tap_bail("no memory");
    const struct queue_place place = in_flight_place(process, context, stream[lane]);
    graph_pin_await(process, made, &place);
    sim_machine_unlock(process->machine);
}

static void expect(bool there, const char *when)
{
    sim_machine_lock(process->machine);
    graph_pins_settle(process, memory);
    tap_ok((memory->pins != NULL) == there, "%s it %s", when, there ? "stays" : "may go");
    sim_machine_unlock(process->machine);
}

static void end(void)
{
    expect(false, "when all is done");
    sim_machine_lock(process->machine);
    sim_graph_memory_give(memory, start);
    sim_machine_unlock(process->machine);
    vmm_close(sys);
}

static void late(void)
{
    begin("sim:h100,schedule=late");
    pin(A);
    expect(false, "where nothing is to be done");
    work(B);
    pin(A);
    expect(false, "where the last piece of work is another stream's");
    work(A);
    pin(A);
    expect(true, "while its stream has work to do");
    work(A);
    need(vmm_stream_synchronize(sys, stream[A]), "wait");
    expect(false, "when that is done, though the other stream's is not,");
    pin(A);
    work(A);
    expect(false, "after later work");
    work(B);
    work(A);
    pin(B);
    expect(true, "while its stream has work before that of another");
    need(vmm_ctx_synchronize(sys), "wait for all");
    end();
}

/* Work runs as it is issued, except for waits for a value. */
static void eager(void)
{
    begin("sim:h100,schedule=eager");
    need(vmm_stream_wait_value32(sys, stream[B], at + 1024, 1, VMM_STREAM_WAIT_VALUE_EQ), "wait for a value");
    work(A);
    pin(A);
    expect(false, "where its stream's work is done and no call has waited for it");
    pin(B);
    expect(true, "while its stream waits for a value");
    need(vmm_memset_d32(sys, at + 1024, 1, 1), "the value");
    need(vmm_ctx_synchronize(sys), "wait for all");
    end();
}

int main(void)
{
    late();
    eager();
    return tap_done();
}
