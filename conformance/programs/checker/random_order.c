/* SPDX-License-Identifier: Apache-2.0 */
/* Random work on streams of every kind, with events and waits, and a plain model of what is ordered: sets of earlier work, by the
 * documentation's rules. The program writes the pairs of lines that nothing orders, "race 41 37", and the lines of reads of
 * bytes that nothing wrote, "unwritten 41", or perhaps nothing, "perhaps 41". ci/checker-random compares them with what the
 * checker reports. SEED in the environment is the seed.
 *
 *     op      0 fill A    1 record E on A    2 B waits for E    3 copy on B    4 fill A
 *     before  {}          {0}                {0,1}              {0,1,2}        {0,1}    3, 4: neither is first
 */
#include "buffer.h"

enum { OPS = 48, EVENTS = 3, STREAMS = 6, PAGE = 4096, WRITTEN = 3000 /* bytes that are filled in the beginning */ };

enum what { FILLS, COPIES, FILLS_ROWS, READS, RECORDS, WAITS, SYNC_STREAM, SYNC_EVENT, SYNC_ALL, KINDS };

struct op {
    enum what what;
    int stream, event;
    size_t from, to, size; /* bytes that it reads and writes, offsets into the page */
    bool reads, writes;
};

static CUdeviceptr page;
static CUstream stream[STREAMS]; /* legacy, per thread, two blocking ones, two non-blocking ones */
static CUevent event[EVENTS];
static unsigned char host[PAGE];
static unsigned int longest; /* of odd seeds the ranges are short, and most runs in order */

static uint64_t state;

static unsigned int chance(unsigned int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(state >> 33) % below;
}

/* ---- the model ---- */

typedef uint64_t set; /* of ops */

static set before[OPS], known;       /* known: what the host has seen done */
static int newest[STREAMS], record[EVENTS];

static set with_itself(int op)
{
    return op < 0 ? 0 : before[op] | (set)1 << op;
}

static bool blocking(int s)
{
    return s >= 1 && s <= 3;
}

/* What comes before the next op of stream s. */
static set comes_before(int s)
{
    set all = known | with_itself(newest[s]);
    for (int other = 0; other < STREAMS; other++)
        if ((s == 0 && blocking(other)) || (other == 0 && blocking(s)))
            all |= with_itself(newest[other]);
    return all;
}

static void model(int i, const struct op *op)
{
    bool nothing = op->what == WAITS && record[op->event] < 0; /* a functional no-op, as the documentation has it */
    if (op->what < SYNC_STREAM && !nothing) {
        before[i] = comes_before(op->stream);
        if (op->what == WAITS)
            before[i] |= with_itself(record[op->event]);
        newest[op->stream] = i;
    }
    if (op->what == RECORDS)
        record[op->event] = i;
    if (op->what == SYNC_STREAM || op->what == READS)
        known |= with_itself(newest[op->stream]);
    if (op->what == SYNC_EVENT)
        known |= with_itself(record[op->event]);
    for (int s = 0; s < STREAMS && op->what == SYNC_ALL; s++)
        known |= with_itself(newest[s]);
}

static bool overlap(size_t a, size_t a_size, size_t b, size_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool collide(const struct op *a, const struct op *b)
{
    return (a->writes && b->writes && overlap(a->to, a->size, b->to, b->size)) ||
           (a->writes && b->reads && overlap(a->to, a->size, b->from, b->size)) ||
           (a->reads && b->writes && overlap(a->from, a->size, b->to, b->size));
}

/* Whether op j writes the byte: 2 surely, 1 perhaps, for what a copy moves may be unwritten itself. */
static int writes_byte(const struct op *op, size_t byte)
{
    if (!op->writes || byte < op->to || byte >= op->to + op->size)
        return 0;
    return op->what == COPIES ? 1 : 2;
}

/* What op j, a read of the host, reads that nothing wrote: 2 surely, 1 perhaps. */
static int reads_unwritten(const struct op *op, int count, int j)
{
    int worst = 0;
    for (size_t byte = op[j].from; byte < op[j].from + op[j].size && worst < 2; byte++) {
        bool sure = byte < WRITTEN, ever = sure, copied = false;
        for (int i = 0; i < count; i++) {
            int writes = writes_byte(&op[i], byte);
            ever = ever || writes;
            copied = copied || writes == 1;
            sure = sure || (writes == 2 && (before[j] >> i & 1));
        }
        int unwritten = sure && !copied ? 0 : ever ? 1 : 2;
        worst = unwritten > worst ? unwritten : worst;
    }
    return worst;
}

/* ---- the calls, each op of a run on a separate line ---- */

#define SITE(n)                                                                                                     \
    __attribute__((noinline)) static int site_##n(const struct op *op)                                              \
    {                                                                                                               \
        CUresult result = op->what == FILLS    ? cuMemsetD8Async(page + op->to, 1, op->size, stream[op->stream])    \
                          : op->what == COPIES ? cuMemcpyDtoDAsync(page + op->to, page + op->from, op->size, stream[op->stream]) \
                          : op->what == FILLS_ROWS                                                                  \
                              ? cuMemsetD2D8Async(page + op->to, op->size / 2, 1, op->size / 2, 2, stream[op->stream]) \
                          : op->what == READS       ? cuMemcpyDtoH(host, page + op->from, op->size)                 \
                          : op->what == RECORDS     ? cuEventRecord(event[op->event], stream[op->stream])           \
                          : op->what == WAITS       ? cuStreamWaitEvent(stream[op->stream], event[op->event], 0)    \
                          : op->what == SYNC_STREAM ? cuStreamSynchronize(stream[op->stream])                       \
                          : op->what == SYNC_EVENT  ? cuEventSynchronize(event[op->event])                          \
                                                    : cuCtxSynchronize();                                           \
        DO(result);                                                                                                 \
        return __LINE__;                                                                                            \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)
SITE(10)
SITE(11)
SITE(12)
SITE(13)
SITE(14)
SITE(15)
SITE(16)
SITE(17)
SITE(18)
SITE(19)
SITE(20)
SITE(21)
SITE(22)
SITE(23)
SITE(24)
SITE(25)
SITE(26)
SITE(27)
SITE(28)
SITE(29)
SITE(30)
SITE(31)
SITE(32)
SITE(33)
SITE(34)
SITE(35)
SITE(36)
SITE(37)
SITE(38)
SITE(39)
SITE(40)
SITE(41)
SITE(42)
SITE(43)
SITE(44)
SITE(45)
SITE(46)
SITE(47)

static int (*const site[OPS])(const struct op *) = {
    site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7,
    site_8, site_9, site_10, site_11, site_12, site_13, site_14, site_15,
    site_16, site_17, site_18, site_19, site_20, site_21, site_22, site_23,
    site_24, site_25, site_26, site_27, site_28, site_29, site_30, site_31,
    site_32, site_33, site_34, site_35, site_36, site_37, site_38, site_39,
    site_40, site_41, site_42, site_43, site_44, site_45, site_46, site_47,
};

/* ---- a run ---- */

static struct op draw(void)
{
    static const unsigned char often[KINDS] = {6, 4, 1, 1, 6, 6, 2, 2, 1};
    struct op op = {.stream = (int)chance(STREAMS), .event = (int)chance(EVENTS)};
    unsigned int kind = 0, at = chance(29);
    while (at >= often[kind])
        at -= often[kind++];
    op.what = (enum what)kind;
    op.size = 2 + 2 * chance(longest);
    op.from = chance(4) * 1024 + chance(700);
    op.to = (op.from + 1024) % PAGE;
    op.writes = op.what <= FILLS_ROWS;
    op.reads = op.what == COPIES || op.what == READS;
    if (op.what == READS || (op.what == SYNC_STREAM && op.stream == 0))
        op.stream = op.what == READS ? 0 : 4;
    return op;
}

PROGRAM(random_order, .group = "random")
{
    struct op op[OPS];
    int line[OPS];
    const char *seed = getenv("SEED");
    state = seed ? strtoull(seed, NULL, 10) : 1;
    longest = state % 2 ? 12 : 150;
    for (int i = 0; i < 8; i++)
        chance(2);
    page = buffer_new(PAGE);
    stream[0] = CU_STREAM_LEGACY;
    stream[1] = CU_STREAM_PER_THREAD;
    for (int i = 2; i < STREAMS; i++)
        stream[i] = stream_new(i < 4 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < EVENTS; i++)
        event[i] = event_new();
    memset(newest, -1, sizeof newest);
    memset(record, -1, sizeof record);
    DO(cuMemsetD8(page, 0, WRITTEN));
    DO(cuCtxSynchronize());
    int count = 8 + (int)chance(OPS - 8);
    for (int i = 0; i < count; i++) {
        op[i] = draw();
        model(i, &op[i]);
        line[i] = site[i](&op[i]);
    }
    DO(cuCtxSynchronize());
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (collide(&op[i], &op[j]) && !(before[j] >> i & 1))
                printf("race %d %d\n", line[i], line[j]);
    for (int j = 0; j < count; j++) {
        int unwritten = op[j].what == READS ? reads_unwritten(op, count, j) : 0;
        if (unwritten)
            printf("%s %d\n", unwritten == 2 ? "unwritten" : "perhaps", line[j]);
    }
    for (int i = 0; i < EVENTS; i++)
        DO(cuEventDestroy(event[i]));
    for (int i = 2; i < STREAMS; i++)
        stream_end(stream[i]);
    buffer_free(page, PAGE);
}
