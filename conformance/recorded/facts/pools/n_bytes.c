/* SPDX-License-Identifier: Apache-2.0 */
/* Group N: the bytes of pool memory: before the allocation was ordered, after the free, after a trim, after reuse. Part of ../pools.c,
 * which includes it. */

/* Each case ends in a synchronisation, whose result it prints; a fault ends the process's context. */
static void n_one(const char *id, u64 which)
{
    Pool pool = keeping_pool();
    CUstream s = new_stream(), t = new_stream();
    gate_reset();
    unsigned char out[16] = {0};
    CUdeviceptr a = 0, b = 0;
    CUresult r = CUDA_SUCCESS, x = CUDA_SUCCESS;
    switch (which) {
    case 0: /* another stream, before the allocation */
        gate_in(s), a = take(pool, G, s), r = cuMemsetD8Async(a, 1, 64, t), x = cuStreamSynchronize(t);
        break;
    case 1: /* the host, before the allocation */
        gate_in(s), a = take(pool, G, s), r = cuMemcpyHtoD(a, out, 16), x = cuMemcpyDtoH(out, a, 16);
        break;
    case 2: /* the stream, after its free */
        a = take(pool, G, s), drop(a, s), r = cuMemsetD8Async(a, 1, 64, s), x = cuStreamSynchronize(s);
        break;
    case 3: /* another stream, while the free is pending */
        a = take(pool, G, s), cuStreamSynchronize(s), gate_in(s), drop(a, s), r = cuMemsetD8Async(a, 1, 64, t), x = cuStreamSynchronize(t);
        break;
    case 4: /* after free and synchronisation, kept by the pool */
        a = take(pool, G, s), drop(a, s), cuStreamSynchronize(s), r = cuMemsetD8(a, 1, 64), x = cuMemcpyDtoH(out, a, 16);
        break;
    case 5: /* after free and trim */
        a = take(pool, G, s), drop(a, s), cuStreamSynchronize(s), cuMemPoolTrimTo(pool, 0), r = cuMemsetD8(a, 1, 64);
        x = cuMemcpyDtoH(out, a, 16);
        break;
    case 6: /* asynchronously after free and trim */
        a = take(pool, G, s), drop(a, s), cuStreamSynchronize(s), cuMemPoolTrimTo(pool, 0), r = cuMemsetD8Async(a, 1, 64, s);
        x = cuStreamSynchronize(s);
        break;
    case 7: /* work was issued, then memory freed and trimmed: the work is pending in the stream */
        a = take(pool, G, s), cuStreamSynchronize(s), gate_in(s), r = cuMemsetD8Async(a, 1, 64, s), drop(a, s), x = cuMemPoolTrimTo(pool, 0);
        break;
    case 8: /* what a reused block holds */
        a = take(pool, G, s), cuMemsetD8Async(a, 0x42, G, s), drop(a, s), b = take(pool, G, s), cuStreamSynchronize(s);
        r = cuMemcpyDtoH(out, b, 16);
        break;
    case 9: /* what a block of another stream holds, with the dependency that the driver added */
        a = take(pool, 32 * MiB, s), cuStreamSynchronize(s), gate_in(s), cuMemsetD8Async(a, 0x42, 64, s), drop(a, s);
        b = take(pool, 32 * MiB, t), gate_opened(), cuMemcpyDtoHAsync(out, b, 16, t), r = cuStreamSynchronize(t);
        break;
    case 10: /* new memory of a new chunk, after another process or pool had it: zero? */
        a = take(pool, 32 * MiB, s), cuMemsetD8Async(a, 0x42, 32 * MiB, s), drop(a, s), cuStreamSynchronize(s), cuMemPoolTrimTo(pool, 0);
        b = take(pool, 32 * MiB, s), cuStreamSynchronize(s), r = cuMemcpyDtoH(out, b, 16);
        break;
    case 11: /* past the size, within the rounding, and past the rounding within the chunk */
        a = take(pool, 100, s), r = cuMemsetD8(a, 1, 512), x = cuMemsetD8(a, 1, 513);
        break;
    case 12: a = take(pool, 100, s), r = cuMemsetD8Async(a, 1, 32 * MiB, s), x = cuStreamSynchronize(s); break;
    case 13: a = take(pool, 100, s), r = cuMemsetD8Async(a, 1, 32 * MiB + 1, s), x = cuStreamSynchronize(s); break;
    case 14: /* two neighbours in one copy */
        a = take(pool, 512, s), b = take(pool, 512, s), r = cuMemsetD8(a, 1, 1024), x = cuMemcpyDtoH(out, a + 510, 4);
        break;
    default: /* two neighbours in different chunks */
        a = take(pool, 32 * MiB, s), b = take(pool, 32 * MiB, s), r = cuMemsetD8(b < a ? b : a, 1, 64 * MiB), x = cuMemcpyDtoH(out, a, 4);
        break;
    }
    const char *waited = gate_opened();
    CUresult end = cuCtxSynchronize();
    say(id, "%s %s end=%s byte=%d%s", name_of(r), name_of(x), name_of(end), which == 10 ? out[0] == 0 || out[0] == 0x42 : out[0], waited);
}

static void group_n(void)
{
    static const struct pool_case cases[] = {
        {"N.other_before_alloc", n_one, 0}, {"N.host_before_alloc", n_one, 1}, {"N.own_after_free", n_one, 2}, {"N.other_pending_free", n_one, 3},
        {"N.freed_kept", n_one, 4}, {"N.freed_trimmed", n_one, 5}, {"N.freed_trimmed_async", n_one, 6}, {"N.work_then_trim", n_one, 7},
        {"N.reused", n_one, 8}, {"N.reused_elsewhere", n_one, 9}, {"N.new_chunk", n_one, 10}, {"N.past_size", n_one, 11},
        {"N.whole_chunk", n_one, 12}, {"N.past_chunk", n_one, 13}, {"N.neighbours", n_one, 14}, {"N.neighbour_chunks", n_one, 15},
    };
    if (is_wanted("N"))
        run_table(cases, COUNT(cases));
}
