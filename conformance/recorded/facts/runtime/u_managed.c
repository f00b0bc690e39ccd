/* SPDX-License-Identifier: Apache-2.0 */
/* Group U: managed memory that is prefetched, advised, asked and attached. Part of ../runtime.c, which includes it. CUDA 12 has the
 * forms that name a place under other names; the batches are CUDA 13's.
 *
 *     U.prefetch.host(Success) <TAB> Success -1          a prefetch of managed memory, and where the last one went
 */

#if CUDART_VERSION >= 13000
#define U_PREFETCH cudaMemPrefetchAsync
#define U_ADVISE cudaMemAdvise
#else
#define U_PREFETCH cudaMemPrefetchAsync_v2
#define U_ADVISE cudaMemAdvise_v2
#endif

enum { U_SIZE = 16384 };

static char *u_managed, *u_plain;
static cudaStream_t u_stream;

static void u_begin(void)
{
    need(cudaMallocManaged((void **)&u_managed, U_SIZE, cudaMemAttachGlobal));
    need(cudaMalloc((void **)&u_plain, U_SIZE));
    need(cudaStreamCreateWithFlags(&u_stream, cudaStreamNonBlocking));
}

static int u_attribute(enum cudaMemRangeAttribute which)
{
    int value = 77;
    need(cudaMemRangeGetAttribute(&value, sizeof value, which, u_managed, U_SIZE));
    return value;
}

static struct cudaMemLocation u_place(int type, int id)
{
    return (struct cudaMemLocation){.type = (enum cudaMemLocationType)type, .id = id};
}

static void u_prefetch(void)
{
    u_begin();
    for (int type = -1; type < 6; type++)
        for (int id = -1; id < 1; id++)
            AV(with("U.prefetch.%d.%d", type, id), U_PREFETCH(u_managed, U_SIZE, u_place(type, id), 0, u_stream), "%d",
               u_attribute(cudaMemRangeAttributeLastPrefetchLocation));
    A("U.prefetch.flags", U_PREFETCH(u_managed, U_SIZE, u_place(1, 0), 1, u_stream));
    A("U.prefetch.null", U_PREFETCH(NULL, U_SIZE, u_place(1, 0), 0, u_stream));
    A("U.prefetch.nothing", U_PREFETCH(u_managed, 0, u_place(1, 0), 0, u_stream));
    A("U.prefetch.nowhere", U_PREFETCH(NULL, 0, u_place(1, 0), 0, u_stream));
    A("U.prefetch.past", U_PREFETCH(u_managed, U_SIZE + 1, u_place(1, 0), 0, u_stream));
    A("U.prefetch.plain", U_PREFETCH(u_plain, U_SIZE, u_place(1, 0), 0, u_stream));
    A("U.prefetch.default", U_PREFETCH(u_managed, U_SIZE, u_place(1, 0), 0, 0));
}

static void u_advise(void)
{
    u_begin();
    for (int advice = 0; advice < 8; advice++)
        for (int type = 0; type < 6; type++)
            AV(with("U.advise.%d.%d", advice, type), U_ADVISE(u_managed, U_SIZE, (enum cudaMemoryAdvise)advice, u_place(type, 0)), "%d %d",
               u_attribute(cudaMemRangeAttributeReadMostly), u_attribute(cudaMemRangeAttributePreferredLocation));
    A("U.advise.device", U_ADVISE(u_managed, U_SIZE, cudaMemAdviseSetAccessedBy, u_place(1, 99)));
    A("U.advise.nothing", U_ADVISE(u_managed, 0, cudaMemAdviseSetReadMostly, u_place(1, 0)));
    A("U.advise.null", U_ADVISE(NULL, U_SIZE, cudaMemAdviseSetReadMostly, u_place(1, 0)));
    A("U.advise.past", U_ADVISE(u_managed, U_SIZE + 1, cudaMemAdviseSetReadMostly, u_place(1, 0)));
    A("U.advise.plain", U_ADVISE(u_plain, U_SIZE, cudaMemAdviseSetReadMostly, u_place(1, 0)));
}

static void u_ranges(void)
{
    int two[2] = {77, 77}, one = 77;
    void *data[] = {&two[0], &one};
    size_t sizes[] = {sizeof two[0], sizeof one};
    enum cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
    u_begin();
    for (int which = -1; which < 10; which++) {
        one = 77;
        AV(with("U.range.%d", which), cudaMemRangeGetAttribute(&one, sizeof one, (enum cudaMemRangeAttribute)which, u_managed, U_SIZE), "%d", one);
    }
    AV("U.range.accessed", cudaMemRangeGetAttribute(two, sizeof two, cudaMemRangeAttributeAccessedBy, u_managed, U_SIZE), "%d %d", two[0], two[1]);
    A("U.range.null(InvalidValue)", cudaMemRangeGetAttribute(NULL, 4, cudaMemRangeAttributeReadMostly, u_managed, U_SIZE));
    A("U.range.size(InvalidValue)", cudaMemRangeGetAttribute(&one, 3, cudaMemRangeAttributeReadMostly, u_managed, U_SIZE));
    A("U.range.plain(InvalidValue)", cudaMemRangeGetAttribute(&one, 4, cudaMemRangeAttributeReadMostly, u_plain, U_SIZE));
    AV("U.ranges(Success)", cudaMemRangeGetAttributes(data, sizes, asked, 2, u_managed, U_SIZE), "%d %d", two[0], one);
    A("U.ranges.none", cudaMemRangeGetAttributes(data, sizes, asked, 0, u_managed, U_SIZE));
    A("U.ranges.null(InvalidValue)", cudaMemRangeGetAttributes(NULL, sizes, asked, 2, u_managed, U_SIZE));
}

static void u_attach(void)
{
    u_begin();
    for (unsigned flags = 0; flags < 9; flags++) {
        A(with("U.attach.%u", flags), cudaStreamAttachMemAsync(u_stream, u_managed, 0, flags));
        A(with("U.attach.%u.default", flags), cudaStreamAttachMemAsync(0, u_managed, U_SIZE, flags));
    }
    A("U.attach.part", cudaStreamAttachMemAsync(u_stream, u_managed, U_SIZE / 2, cudaMemAttachGlobal));
    A("U.attach.inside", cudaStreamAttachMemAsync(u_stream, u_managed + 4096, 0, cudaMemAttachGlobal));
    A("U.attach.null", cudaStreamAttachMemAsync(u_stream, NULL, 0, cudaMemAttachGlobal));
    A("U.attach.plain", cudaStreamAttachMemAsync(u_stream, u_plain, 0, cudaMemAttachGlobal));
}

#if CUDART_VERSION >= 13000
static void u_batches(void)
{
    u_begin();
    void *list[] = {u_managed, u_managed + 8192}, *plain[] = {u_managed, u_plain};
    size_t sizes[] = {4096, 4096}, none[] = {4096, 0}, index[] = {0, 1};
    struct cudaMemLocation places[] = {u_place(1, 0), u_place(2, 0)};
    A("U.batch.prefetch", cudaMemPrefetchBatchAsync(list, sizes, 2, places, index, 1, 0, u_stream));
    A("U.batch.prefetch.two", cudaMemPrefetchBatchAsync(list, sizes, 2, places, index, 2, 0, u_stream));
    A("U.batch.prefetch.three", cudaMemPrefetchBatchAsync(list, sizes, 2, places, index, 3, 0, u_stream));
    A("U.batch.prefetch.flags", cudaMemPrefetchBatchAsync(list, sizes, 2, places, index, 1, 1, u_stream));
    A("U.batch.prefetch.none", cudaMemPrefetchBatchAsync(list, sizes, 0, places, index, 1, 0, u_stream));
    A("U.batch.prefetch.empty", cudaMemPrefetchBatchAsync(list, none, 2, places, index, 1, 0, u_stream));
    A("U.batch.prefetch.plain", cudaMemPrefetchBatchAsync(plain, sizes, 2, places, index, 1, 0, u_stream));
    A("U.batch.prefetch.default", cudaMemPrefetchBatchAsync(list, sizes, 2, places, index, 1, 0, 0));
    A("U.batch.prefetch.null", cudaMemPrefetchBatchAsync(NULL, sizes, 2, places, index, 1, 0, u_stream));
    A("U.batch.discard", cudaMemDiscardBatchAsync(list, sizes, 2, 0, u_stream));
    A("U.batch.discard.flags", cudaMemDiscardBatchAsync(list, sizes, 2, 1, u_stream));
    A("U.batch.discard.none", cudaMemDiscardBatchAsync(list, sizes, 0, 0, u_stream));
    A("U.batch.discard.default", cudaMemDiscardBatchAsync(list, sizes, 2, 0, 0));
    A("U.batch.both", cudaMemDiscardAndPrefetchBatchAsync(list, sizes, 2, places, index, 1, 0, u_stream));
    A("U.batch.both.no_places", cudaMemDiscardAndPrefetchBatchAsync(list, sizes, 2, NULL, index, 1, 0, u_stream));
    A("U.batch.both.no_indices", cudaMemDiscardAndPrefetchBatchAsync(list, sizes, 2, places, NULL, 1, 0, u_stream));
}
#endif

static void group_u(void)
{
    surviving("U.prefetch", u_prefetch);
    surviving("U.advise", u_advise);
    surviving("U.range", u_ranges);
    surviving("U.attach", u_attach);
#if CUDART_VERSION >= 13000
    surviving("U.batch", u_batches);
#endif
}
