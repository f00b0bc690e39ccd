/* SPDX-License-Identifier: Apache-2.0 */
/* Groups X and P: each call with each kind of address of answers/places.c, and with two devices addresses of the other one's
 * memory. Part of ../memops.c.
 *
 *     X.wait32.read.start    a wait that any memory but ones satisfies
 *     X.write64.rw.over      4 bytes before the end, so that 8 bytes run past it
 */

static const char *const spots[] = {"start", "inside", "over", "end"};
static struct place place;
static size_t built = SIZE_MAX;
static char set_name;

static void start_addresses(void)
{
    start();
    built = SIZE_MAX;
    if (owner != asker) {
        must("retain", cuDevicePrimaryCtxRetain(&primary[1], 1));
        now.other = primary[1];
        cuCtxSetCurrent(now.own);
    }
}

static void build_kind(size_t kind)
{
    if (built != SIZE_MAX)
        undo(&place, 0);
    if (owner != asker && kinds[kind].build != build_memory)
        cuCtxSetCurrent(now.other);
    kinds[kind].build(&place, &kinds[kind]);
    cuCtxSetCurrent(now.own);
    built = kind;
}

static bool no_address(const struct kind *kind)
{
    return kind->build == build_number;
}

static bool spot_left_out(const struct kind *kind, size_t spot, const struct op *o)
{
    if (no_address(kind) || owner != asker)
        return spot != 0 || (kind->whose && owner == asker);
    if (kind->whose)
        return true;
    /* What follows memory of the host belongs to the program or the driver. */
    bool host = kind->build == build_host_alloc || kind->build == build_pages || kind->build == build_registered;
    return spot >= 2 && host && !o->waits;
}

static CUdeviceptr spot_at(size_t spot, unsigned width)
{
    return spot == 0 ? place.base : spot == 1 ? place.base + place.size / 2 + 16 : spot == 2 ? place.base + place.size - width / 2
                                                                                         : place.base + place.size;
}

static void address_one(size_t i, char *id, int run)
{
    const size_t each = NEW_OPS * COUNT(spots);
    const struct kind *kind = &kinds[i / each];
    const size_t spot = i % COUNT(spots);
    const struct op *o = &ops[i / COUNT(spots) % NEW_OPS];
    snprintf(id, CASE_ID, "%c.%s.%s.%s", set_name, o->name, kind->name, spots[spot]);
    if (!run || spot_left_out(kind, spot, o))
        return;
    if (built != i / each)
        build_kind(i / each);
    CUdeviceptr at = spot_at(spot, o->width);
    CUresult r = op(o, st, at, o->waits ? 0 : 0x1122334455667788, o->waits ? NOR : 0);
    const char *then = settle(st);
    CUresult later = strcmp(then, "WAITS") ? cuCtxSynchronize() : CUDA_SUCCESS;
    say(id, "%s then=%s%s%s is=%s", name_of(r), then, later ? " later=" : "", later ? name_of(later) : "",
        r || o->waits || later ? "-" : value_at(at, o->width));
    if (strcmp(then, "WAITS") == 0)
        _exit(0);
}

static void addresses(char name)
{
    set_name = name;
    run_cases(start_addresses, COUNT(kinds) * NEW_OPS * COUNT(spots), address_one);
}

static void group_x(void)
{
    asker = owner = 0;
    if (is_wanted("X.addresses"))
        addresses('X');
}

/* ---- two devices ---- */

static int devices_there(void)
{
    int ends[2], n = 0;
    if (pipe(ends))
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        int count = 0;
        cuInit(0);
        cuDeviceGetCount(&count);
        if (write(ends[1], &count, sizeof count) != sizeof count)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &n, sizeof n) != sizeof n)
        n = 1;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return n;
}

/* A wait on one device that the other one satisfies, and streams of the other device. */
static void both_devices(void)
{
    CUstream there = NULL;
    start();
    must("retain", cuDevicePrimaryCtxRetain(&primary[1], 1));
    cuCtxSetCurrent(primary[1]);
    must("stream", cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    cuCtxSetCurrent(primary[0]);
    R("P.other_stream.write_host", write_to(there, flag_at + 64, 5, 4));
    SETTLE_SAY("P.other_stream.write_host.then", there, " is=%u", flag[16]);
    R("P.other_stream.wait", wait_for(there, flag_at, 9, 4));
    say("P.other_stream.wait.then", "%s", settle(there));
    R("P.here.write", write_to(st, flag_at, 9, 4));
    SETTLE_SAY("P.here.write.then", st, " there=%s", settle(there));
    R("P.other_stream.write_mine", write_to(there, dev, 5, 4));
    SETTLE_SAY("P.other_stream.write_mine.then", there, " is=%s", value_at(dev, 4));
    cuCtxSetCurrent(primary[1]);
    R("P.other_context.write", write_to(st, dev, 6, 4));
    SETTLE_SAY("P.other_context.write.then", st, " is=%s", value_at(dev, 4));
    R("P.peer.enable", cuCtxEnablePeerAccess(primary[0], 0));
    R("P.peer.write_mine", write_to(there, dev, 7, 4));
    SETTLE_SAY("P.peer.write_mine.then", there, " is=%s", value_at(dev, 4));
    R("P.peer.wait_mine", wait_for(there, dev, 8, 4));
    say("P.peer.wait_mine.then", "%s", settle(there));
    cuCtxSetCurrent(primary[0]);
    R("P.peer.satisfy", write_to(st, dev, 8, 4));
    SETTLE_SAY("P.peer.satisfy.then", st, " there=%s", settle(there));
    cuCtxSetCurrent(primary[1]);
    R("P.peer.disable", cuCtxDisablePeerAccess(primary[0]));
    R("P.disabled.write_mine", write_to(there, dev, 9, 4));
    say("P.disabled.write_mine.then", "%s", settle(there));
}

/* Rights that the other device loses while its wait is pending. */
static void peer_access_ends(void)
{
    CUstream there = NULL;
    start();
    must("retain", cuDevicePrimaryCtxRetain(&primary[1], 1));
    cuCtxSetCurrent(primary[1]);
    must("stream", cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    must("peer", cuCtxEnablePeerAccess(primary[0], 0));
    R("P.ends.wait", wait_for(there, dev, 8, 4));
    say("P.ends.wait.then", "%s", settle(there));
    within(1000);
    R("P.ends.disable", cuCtxDisablePeerAccess(primary[0]));
    say("P.ends.disable.then", "%s", settle(there));
    cuCtxSetCurrent(primary[0]);
    R("P.ends.satisfy", write_to(st, dev, 8, 4));
    SETTLE_SAY("P.ends.satisfy.then", st, " there=%s", settle(there));
}

static void group_p(void)
{
    if (!is_wanted("P.addresses") || devices_there() < 2)
        return;
    asker = 0;
    owner = 1;
    addresses('P');
    asker = owner = 0;
    child("P.both!", both_devices);
    child("P.ends!", peer_access_ends);
}
