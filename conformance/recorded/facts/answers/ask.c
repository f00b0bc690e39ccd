/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls from their text. Part of ../answers.c, which includes it.
 *
 *     cuMemGetAddressRange_v2 o8 o8 @     the entry point of that name, found in the driver's library, with two outputs of
 *                                         8 bytes and the address of the case
 *
 * Arguments are integers or addresses, so one type of function serves all. Each is one of:
 *
 *     12, G        a number; 2 MiB              @            the address
 *     r, r+        bytes from there to the end of the place; one more
 *     o4           an output of 4 bytes, shown after the call: "-" when nothing was written
 *     d, h         64 KiB and more of device memory, of host memory, that are in order
 *     own, other   contexts: the caller's, and the other device's (the caller's again when there is one device)
 *     last, last2, out   the first output of the call before, of the one before that; the bytes of the former
 *     s, e, handle, module, function, library, kernel      things that are in order
 *     forged       zeros where a thing should be
 *     i:1          the address of an int        'text       the address of a text
 *     loc:1,0  acc:1,0,3  attr:7                the address of a location, of rights, of a list of one attribute
 *     outs         a list of one output         2d:@2,d     a copy of 4 by 2 bytes: from the address as type 2, to d
 */

enum { ARGUMENTS = 12, OUTPUTS = 4, SCRATCH = 8 << 20 };

typedef CUresult (*entry_point)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

static unsigned char host_scratch[SCRATCH] __attribute__((aligned(4096)));
static unsigned char nothing[4096] __attribute__((aligned(64)));

/* The current values of the words in a call. */
static struct {
    u64 at, rest;      /* the address, and the bytes from there to the end of its place */
    u64 base, size;    /* the place */
    u64 near, near_size; /* the reservation of the place */
    u64 device;        /* valid device memory */
    CUcontext own, other;
    CUstream stream;
    CUevent event;
    Handle handle;
    CUmodule module;
    CUfunction function, reads, writes;
    CUlibrary library;
    CUkernel kernel;
    u64 last[4];
    char out[64];
} now;

static struct {
    unsigned char bytes[OUTPUTS][64];
    unsigned size[OUTPUTS], count;
    CUmemLocation location;
    CUmemAccessDesc access;
    CUpointer_attribute attribute;
    void *list;
    int number;
    CUDA_MEMCPY2D copy;
    char text[64];
} arg;

static u64 new_output(unsigned size)
{
    memset(arg.bytes[arg.count], 0x77, sizeof arg.bytes[0]);
    arg.size[arg.count] = size;
    return (u64)(uintptr_t)arg.bytes[arg.count++];
}

/* 2d:FROM,TO: one of them is @ with the declared type, the other is d. */
static u64 copy_2d(const char *word)
{
    bool from = word[0] == '@';
    int type = atoi(from ? word + 1 : word + 3);
    memset(&arg.copy, 0, sizeof arg.copy);
    arg.copy.srcPitch = arg.copy.dstPitch = 512;
    arg.copy.WidthInBytes = 4;
    arg.copy.Height = 2;
    arg.copy.srcMemoryType = from ? (CUmemorytype)type : CU_MEMORYTYPE_DEVICE;
    arg.copy.dstMemoryType = from ? CU_MEMORYTYPE_DEVICE : (CUmemorytype)type;
    arg.copy.srcDevice = from ? now.at : now.device;
    arg.copy.dstDevice = from ? now.device : now.at;
    arg.copy.srcHost = from ? (void *)(uintptr_t)now.at : NULL;
    arg.copy.dstHost = from ? NULL : (void *)(uintptr_t)now.at;
    return (u64)(uintptr_t)&arg.copy;
}

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

static u64 compound(const char *word)
{
    int a = 0, b = 0, c = 0;
    if (sscanf(word, "loc:%d,%d", &a, &b) == 2) {
        arg.location = loc_at(a, b);
        return (u64)(uintptr_t)&arg.location;
    }
    if (sscanf(word, "acc:%d,%d,%d", &a, &b, &c) == 3) {
        arg.access = desc(a, b, c);
        return (u64)(uintptr_t)&arg.access;
    }
    if (sscanf(word, "attr:%d", &a) == 1) {
        arg.attribute = (CUpointer_attribute)a;
        return (u64)(uintptr_t)&arg.attribute;
    }
    if (sscanf(word, "i:%d", &a) == 1) {
        arg.number = a;
        return (u64)(uintptr_t)&arg.number;
    }
    if (begins(word, "2d:"))
        return copy_2d(word + 3);
    if (word[0] == '\'') {
        snprintf(arg.text, sizeof arg.text, "%s", word + 1);
        return (u64)(uintptr_t)arg.text;
    }
    fprintf(stderr, "answers: no argument is called %s\n", word);
    exit(3);
}

static u64 argument(const char *word)
{
    const struct {
        const char *name;
        u64 value;
    } words[] = {{"@", now.at},
                 {"r", now.rest},
                 {"r+", now.rest + 1},
                 {"G", G},
                 {"d", now.device},
                 {"h", (u64)(uintptr_t)host_scratch},
                 {"own", (u64)(uintptr_t)now.own},
                 {"other", (u64)(uintptr_t)now.other},
                 {"s", (u64)(uintptr_t)now.stream},
                 {"e", (u64)(uintptr_t)now.event},
                 {"handle", now.handle},
                 {"module", (u64)(uintptr_t)now.module},
                 {"function", (u64)(uintptr_t)now.function},
                 {"library", (u64)(uintptr_t)now.library},
                 {"kernel", (u64)(uintptr_t)now.kernel},
                 {"last", now.last[0]},
                 {"last2", now.last[1]},
                 {"last3", now.last[2]},
                 {"out", (u64)(uintptr_t)now.out},
                 {"forged", (u64)(uintptr_t)nothing}};
    char *end;
    u64 number = (u64)strtoll(word, &end, 0);
    if (!*end)
        return number;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].name, word) == 0)
            return words[i].value;
    if (word[0] == 'o' && word[1] >= '0' && word[1] <= '9')
        return new_output((unsigned)atoi(word + 1));
    if (strcmp(word, "outs") == 0) {
        arg.list = (void *)(uintptr_t)new_output(16);
        return (u64)(uintptr_t)&arg.list;
    }
    return compound(word);
}

/* ---- the results of a call ---- */

static const char *known(u64 v)
{
    const struct {
        const char *name;
        u64 value;
    } things[] = {{"own", (u64)(uintptr_t)now.own},       {"other", (u64)(uintptr_t)now.other},
                  {"s", (u64)(uintptr_t)now.stream},      {"handle", now.handle},
                  {"module", (u64)(uintptr_t)now.module}, {"function", (u64)(uintptr_t)now.function},
                  {"library", (u64)(uintptr_t)now.library}, {"kernel", (u64)(uintptr_t)now.kernel}};
    for (size_t i = 0; i < COUNT(things); i++)
        if (v && things[i].value == v)
            return things[i].name;
    return NULL;
}

static bool gives_address; /* the current call returns an address */

/* Prints a value without what differs from run to run. */
static void shown(char *text, size_t room, u64 v)
{
    const struct {
        const char *name;
        u64 at, size;
    } ranges[] = {{"base", now.base, now.size + 1},
                  {"near", now.near, now.near_size},
                  {"d", now.device, SCRATCH},
                  {"h", (u64)(uintptr_t)host_scratch, SCRATCH}};
    const char *name = known(v);
    if (name) {
        snprintf(text, room, "%s", name);
        return;
    }
    for (size_t i = 0; i < COUNT(ranges); i++)
        if (ranges[i].at > G && v >= ranges[i].at && v - ranges[i].at < ranges[i].size) {
            snprintf(text, room, "%s+%llu", ranges[i].name, v - ranges[i].at);
            return;
        }
    if (now.base > G && v < now.base && now.base - v < 64 * G)
        snprintf(text, room, "base-%llu", now.base - v);
    else if (v < 1ULL << (gives_address ? 32 : 40))
        snprintf(text, room, "%llu", v);
    else if ((i64)v < 0 && (i64)v > -4096)
        snprintf(text, room, "%lld", (i64)v);
    else
        snprintf(text, room, "address");
}

/* Prints the bytes that the call wrote to an output; for more than 8, their number. */
static void output(char *text, size_t room, unsigned i, bool identity)
{
    unsigned written = 0, size = arg.size[i];
    u64 v = 0;
    for (unsigned k = 0; k < size; k++)
        if (arg.bytes[i][k] != 0x77)
            written = k + 1;
    unsigned whole = written > 4 ? 8 : written > 1 ? 4 : written;
    memcpy(&v, arg.bytes[i], whole);
    if (!written)
        snprintf(text, room, " -");
    else if (written > 8)
        snprintf(text, room, " %u-bytes", (written + 7) / 8 * 8);
    else if (identity)
        snprintf(text, room, v ? " id" : " 0");
    else {
        snprintf(text, room, whole == 1 ? " byte:" : " ");
        shown(text + strlen(text), room - strlen(text), v);
    }
}

/* ---- a call ---- */

static void *driver;

static void load_kernels(void);

/* Launches a kernel with one thread on the address. */
static CUresult launch(const char *what)
{
    if (!now.reads)
        load_kernels();
    void *params[] = {&now.at};
    return cuLaunchKernel(strcmp(what, "reads") ? now.writes : now.reads, 1, 1, 1, 1, 1, 1, 0, now.stream, params, NULL);
}

/* Releases what the call itself created, so that the next call finds the same state. */
static void give_back(const char *name)
{
    u64 v = 0;
    int fd = -1;
    memcpy(&v, arg.bytes[0], sizeof v);
    memcpy(&fd, arg.bytes[0], sizeof fd);
    if (strcmp(name, "cuMemAddressReserve") == 0)
        cuMemAddressFree(v, G);
    else if (strcmp(name, "cuMemRetainAllocationHandle") == 0)
        cuMemRelease(v);
    else if (strcmp(name, "cuMemGetHandleForAddressRange") == 0)
        close(fd);
    else if (strcmp(name, "cuEventCreate") == 0)
        cuEventDestroy((CUevent)(uintptr_t)v);
    else if (begins(name, "cuStreamCreate"))
        cuStreamDestroy((CUstream)(uintptr_t)v);
    else if (strcmp(name, "cuMemAlloc_v2") == 0 || strcmp(name, "cuMemAllocPitch_v2") == 0)
        cuMemFree(v);
    else if (strcmp(name, "cuMemHostAlloc") == 0 || strcmp(name, "cuMemAllocHost_v2") == 0)
        cuMemFreeHost((void *)(uintptr_t)v);
}

static CUresult call(const char *name, u64 *a)
{
    entry_point f = NULL;
    void *found = dlsym(driver, name);
    memcpy(&f, &found, sizeof f);
    if (!f)
        return (CUresult)-1;
    return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

/* Stores the first outputs of a line's last calls for last, last2, ... */
static void remember(CUresult r)
{
    memmove(now.last + 1, now.last, sizeof now.last - sizeof now.last[0]);
    now.last[0] = 0;
    if (arg.count && !r)
        memcpy(&now.last[0], arg.bytes[0], 8);
    memcpy(now.out, arg.bytes[0], sizeof now.out);
}

/* Makes the call; answer receives its result and outputs. */
static CUresult ask(const char *text, bool identity, char *answer, size_t room)
{
    char words[CASE_ID], *next = NULL;
    u64 a[ARGUMENTS] = {0};
    size_t count = 0;
    arg.count = 0;
    snprintf(words, sizeof words, "%s", text);
    char *name = strtok_r(words, " ", &next), *word;
    CUresult r;
    if (strcmp(name, "kernel") == 0)
        r = launch(strtok_r(NULL, " ", &next));
    else {
        while ((word = strtok_r(NULL, " ", &next)))
            a[count++] = argument(word);
        r = call(name, a);
    }
    if ((int)r == -1) {
        snprintf(answer, room, "not there");
        return r;
    }
    snprintf(answer, room, "%s", name_of(r));
    gives_address = begins(name, "cuMemAlloc_") || begins(name, "cuMemAllocPitch") || begins(name, "cuMemAddressReserve");
    for (unsigned i = 0; i < arg.count; i++)
        output(answer + strlen(answer), room - strlen(answer), i, identity && !r);
    if (keeps)
        remember(r);
    else if (!r)
        give_back(name);
    return r;
}

/* ---- tables of calls ---- */

enum row_kind { ASKS, IDENTIFIES, WORKS, HOSTS, FAULTS, CHANGES };

struct row {
    enum row_kind kind;
    char text[144];
};

static struct row rows[1024];
static size_t row_count;

/* Adds one row, or one for each number in braces. */
static void add(enum row_kind kind, const char *text)
{
    int from, to;
    const char *brace = strchr(text, '{');
    bool many = brace && sscanf(brace, "{%d..%d}", &from, &to) == 2;
    if (!many)
        from = to = 0;
    for (int n = from; n <= to && row_count < COUNT(rows); n++) {
        struct row *row = &rows[row_count++];
        row->kind = kind;
        if (many)
            snprintf(row->text, sizeof row->text, "%.*s%d%s", (int)(brace - text), text, n, strchr(brace, '}') + 1);
        else
            snprintf(row->text, sizeof row->text, "%s", text);
    }
}
