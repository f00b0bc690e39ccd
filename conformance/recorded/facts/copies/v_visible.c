/* SPDX-License-Identifier: Apache-2.0 */
/* Group V: the devices that a process sees with CUDA_VISIBLE_DEVICES, their order, and the effects. Part of ../copies.c, which
 * includes it.
 *
 *     V.list.1,0     init=SUCCESS count=SUCCESS 2: 1 0     the visible devices, by their ordinals without the variable
 *
 * Each case runs in a newly executed process with the variable, because a driver may read it at any time. In lists, U0 and U1
 * stand for the devices' UUIDs as nvidia-smi prints them (GPU-xxxxxxxx-xxxx-...); with one device, U1 belongs to no device. */

enum { UUID_TEXT = 64, BUS_TEXT = 32, MOST = 16 };

static char uuids[MOST][UUID_TEXT], buses[MOST][BUS_TEXT];
static int there; /* the number of devices without the variable */

static void uuid_text(char *text, const CUuuid *uuid)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(text, UUID_TEXT, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
             b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* ---- in the process with the variable ---- */

/* Parses main's arguments after the first: UUIDs and bus addresses of all devices, alternately. */
static void know_all(int argc, char **argv)
{
    for (there = 0; there < MOST && 2 * there + 3 < argc; there++) {
        snprintf(uuids[there], UUID_TEXT, "%s", argv[2 + 2 * there]);
        snprintf(buses[there], BUS_TEXT, "%s", argv[3 + 2 * there]);
    }
}

static int which(CUdevice device)
{
    CUuuid uuid;
    char text[UUID_TEXT] = "";
    if (cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS)
        uuid_text(text, &uuid);
    for (int i = 0; i < there; i++)
        if (strcmp(text, uuids[i]) == 0)
            return i;
    return -1;
}

static int show_all(void)
{
    int count = 0;
    cuInit(0);
    cuDeviceGetCount(&count);
    for (CUdevice d = 0; d < count && d < MOST; d++) {
        CUuuid uuid;
        char text[UUID_TEXT], bus[BUS_TEXT] = "";
        if (cuDeviceGetUuid(&uuid, d) || cuDeviceGetPCIBusId(bus, sizeof bus, d))
            return 1;
        uuid_text(text, &uuid);
        printf("%s %s\n", text, bus);
    }
    return 0;
}

static void show_list(void)
{
    int count = -1, again = -1;
    CUresult init = cuInit(0);
    CUresult r = cuDeviceGetCount(&count);
    printf("init=%s count=%s %d:", name_of(init), name_of(r), count);
    for (CUdevice d = 0; d < count && d < MOST; d++)
        printf(" %d", which(d));
    CUdevice device;
    printf(" | get(%d)=%s again=%s", count, name_of(cuDeviceGet(&device, count)), name_of(cuInit(0)));
    printf(" count=%s\n", name_of(cuDeviceGetCount(&again)));
}

/* Prints the ordinal of each bus address, and the answers about peers, memory and rights for ordinals. */
static void show_uses(void)
{
    int count = 0, can = -1;
    init();
    cuDeviceGetCount(&count);
    for (int i = 0; i < there; i++) {
        CUdevice device = -9;
        CUresult r = cuDeviceGetByPCIBusId(&device, buses[i]);
        printf("bus%d=%s:%d ", i, name_of(r), device);
    }
    for (CUdevice d = 0; d < count; d++) {
        char bus[BUS_TEXT] = "";
        int number = -1, attribute = -1;
        cuDeviceGetPCIBusId(bus, sizeof bus, d);
        cuDeviceGetAttribute(&attribute, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, d);
        for (int i = 0; i < there; i++)
            if (strcmp(bus, buses[i]) == 0)
                number = i;
        unsigned on_bus = 0;
        sscanf(bus, "%*x:%x", &on_bus);
        printf("id%d=%d,%s ", d, number, (int)on_bus == attribute ? "same" : "other");
    }
    for (CUdevice d = -1; d <= 2; d++) {
        CUmemAllocationProp p = prop_at(L_DEVICE, d);
        CUmemAccessDesc to_it = desc(L_DEVICE, d, RW);
        CUdeviceptr at = reserve(G);
        Handle mine = make(G), h = 0;
        CUcontext ctx;
        map(at, G, mine);
        printf("dev%d: create=%s access=%s peer=%s:%d retain=%s ", d, name_of(cuMemCreate(&h, G, &p, 0)),
               name_of(cuMemSetAccess(at, G, &to_it, 1)), name_of(cuDeviceCanAccessPeer(&can, 0, d)), can,
               name_of(cuDevicePrimaryCtxRetain(&ctx, d)));
    }
    putchar('\n');
}

/* Imports memory from a process with other visible devices. */
static void show_import(int fd)
{
    CUmemGenericAllocationHandle h = 0;
    CUdeviceptr p;
    CUmemAllocationProp prop;
    int ordinal = -9, byte = -9;
    init();
    CUresult r = cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    printf("import=%s", name_of(r));
    if (r == CUDA_SUCCESS) {
        memset(&prop, 0, sizeof prop);
        r = cuMemGetAllocationPropertiesFromHandle(&prop, h);
        printf(" prop=%s type=%d id=%d", name_of(r), (int)prop.location.type, prop.location.id);
        p = reserve(G);
        printf(" map=%s", name_of(cuMemMap(p, G, 0, h, 0)));
        printf(" access=%s", name_of(give(p, G, L_DEVICE, RW)));
        r = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
        printf(" ordinal=%s:%d", name_of(r), ordinal);
        byte = byte_at(p);
        printf(" byte=%d", byte);
    }
    putchar('\n');
}

static int visible_child(int argc, char **argv)
{
    know_all(argc, argv);
    alarm(20);
    if (strcmp(argv[1], "--all") == 0)
        return show_all();
    if (strcmp(argv[1], "--list") == 0)
        show_list();
    else if (strcmp(argv[1], "--uses") == 0)
        show_uses();
    else
        show_import(atoi(argv[1] + 9)); /* --import=FD */
    return 0;
}

/* ---- in the process that starts the cases ---- */

/* Runs this program again with the variable (NULL: without it) and what to print. Returns its line, or how it ended. */
static void again(const char *visible, const char *what, char *line, size_t size)
{
    char *args[3 + 2 * MOST] = {"copies", (char *)what};
    int ends[2], status = 0;
    size_t have = 0;
    for (int i = 0; i < there; i++) {
        args[2 + 2 * i] = uuids[i];
        args[3 + 2 * i] = buses[i];
    }
    fflush(stdout);
    pid_t pid = pipe(ends) ? -1 : fork();
    if (pid < 0)
        return;
    if (pid == 0) {
        if (visible)
            setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execv("/proc/self/exe", args);
        _exit(7);
    }
    close(ends[1]);
    for (ssize_t n; have + 1 < size && (n = read(ends[0], line + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    line[have] = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        snprintf(line, size, "SIGNAL %d", WTERMSIG(status));
}

/* Replaces U0, U1, P0 (a prefix of U0), B0 (upper case) and N0 (without GPU-). */
static void written_out(const char *list, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (const char *c = list; *c && at + UUID_TEXT + 1 < size; c++) {
        const char *uuid = c[1] == '1' ? (there > 1 ? uuids[1] : "GPU-00000000-1111-4222-8333-444444444444") : uuids[0];
        bool stands = strchr("UPBNQ", *c) && (c[1] == '0' || c[1] == '1') && strncmp(c, "GPU", 3);
        if (!stands) {
            text[at++] = *c;
            text[at] = 0;
            continue;
        }
        size_t length = *c == 'P' ? 8 : *c == 'Q' ? 5 : strlen(uuid);
        snprintf(text + at, size - at, "%.*s", (int)length, *c == 'N' ? uuid + 4 : uuid);
        if (*c == 'B')
            for (char *u = text + at + 4; *u; u++)
                *u = *u >= 'a' && *u <= 'f' ? (char)(*u - 32) : *u;
        at = strlen(text);
        c++;
    }
}

static const char *const lists[] = {
    "", " ", ",", "0", "1", "2", "15", "16", "1,0", "0,1", "0,0", "1,1", "0,1,0", "0,1,2", "1,0,2", "2,0", "0,2,1", "-1",
    "0,-1,1", "1,-1,0", "-1,0", "-2", "0,-2", "junk", "0,junk,1", "junk,0", "0junk", "0junk,1", "0x0", "0x1", "00", "01",
    "+0", "+1", "-0", " 0", "0 ", "0 ,1", "0, 1", " 1 , 0 ", "\t0", "0\t", "0,", ",0", "0,,1", "1,,0", "0;1", "0 1", "0:1",
    "0.0", "0.5", "0e0", "4294967296", "4294967297", "2147483648", "4294967295", "18446744073709551616",
    "99999999999999999999", "all", "none", "None", "void", "NoDevFiles", "\"0\"", "U0", "U1", "U1,U0", "U0,U1", "U0,U0",
    "U0,0", "0,U0", "U0,1", "1,U0", "U1,0", "0,U1", "P0", "P1", "P1,P0", "Q0", "Q1", "Q1,Q0", "GPU-", "GPU", "gpu-", "GPU-0",
    "B0", "N0", "GPU-N0", "gpu-N0", "Gpu-N0", "GPU-unknown", "U0,GPU-unknown,U1", "GPU-unknown,U0", "0,GPU-unknown",
    "0,GPU-unknown,1", " U0", "U0 ", "U0 ,U1", "U0, U1", "U0x", "U0,", ",U0", "U0-", "P0-", "P0x", "P0,P0", "P0,U0", "MIG-",
    "MIG-0", "MIG-U0/0/0", "MIG-N0", "MIG-U0", "0,MIG-U0/0/0", "MIG-U0/0/0,0", "0:0", "1:0", "U0/0/0",
};

enum { WORKERS = 8 };

/* Every eighth list. */
static void some_lists(size_t first)
{
    char text[512], line[1024], id[CASE_ID];
    for (size_t i = first; i < COUNT(lists); i += WORKERS) {
        written_out(lists[i], text, sizeof text);
        again(text, "--list", line, sizeof line);
        snprintf(id, sizeof id, "V.list.\"%s\"", 
                 lists[i][0] == '\t' ? "\\t0" : lists[i][0] && lists[i][1] == '\t' ? "0\\t" : lists[i]);
        line[strcspn(line, "\n")] = 0;
        say(id, "%s", line);
    }
}

/* Starting a driver takes long, so several start in parallel. */
static void visible_lists(void)
{
    pid_t pid[WORKERS];
    char line[1024];
    for (size_t i = 0; i < WORKERS; i++) {
        fflush(stdout);
        pid[i] = fork();
        if (pid[i] == 0) {
            some_lists(i);
            _exit(0);
        }
    }
    again(NULL, "--list", line, sizeof line);
    line[strcspn(line, "\n")] = 0;
    say("V.list.unset", "%s", line);
    for (size_t i = 0; i < WORKERS; i++)
        report("V.lists!", pid[i]);
}

static void visible_uses(void)
{
    static const char *const few_lists[] = {"0", "1", "1,0", "0,1", "0,0", "1,1"};
    char line[2048], id[CASE_ID];
    for (size_t i = 0; i < COUNT(few_lists); i++) {
        again(few_lists[i], "--uses", line, sizeof line);
        snprintf(id, sizeof id, "V.uses.\"%s\"", few_lists[i]);
        line[strcspn(line, "\n")] = 0;
        say(id, "%s", line);
    }
}

/* When does the driver read the variable: the process sets it before cuInit, or after. */
static void visible_when(void)
{
    int count = -1;
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    R("V.when.set_before_init", cuInit(0));
    RV("V.when.set_before_init.count", cuDeviceGetCount(&count), "%d", count);
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    R("V.when.other_after_failure", cuInit(0));
    count = -1;
    RV("V.when.other_after_failure.count", cuDeviceGetCount(&count), "%d", count);
}

static void visible_after(void)
{
    int count = -1;
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    R("V.when.init", cuInit(0));
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    RV("V.when.set_after_init.count", cuDeviceGetCount(&count), "%d", count);
    R("V.when.set_after_init.again", cuInit(0));
}

/* Passes memory of this process's device 0 to processes with another ordinal for it, or without the device. */
static void visible_shared(void)
{
    static const char *const importers[] = {NULL, "0", "1", "1,0"};
    CUmemAllocationProp p = prop_at(L_DEVICE, 0);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    Handle h = 0;
    int fd = -1;
    char line[1024], id[CASE_ID], what[32];
    const char *mine = getenv("CUDA_VISIBLE_DEVICES");
    init();
    R("V.shared.create", cuMemCreate(&h, G, &p, 0));
    CUdeviceptr at = reserve(G);
    map(at, G, h);
    give(at, G, L_DEVICE, RW);
    cuMemsetD8(at, 77, G);
    cuCtxSynchronize();
    R("V.shared.export", cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    fd = dup(fd); /* the copy stays open across exec */
    snprintf(what, sizeof what, "--import=%d", fd);
    for (size_t i = 0; i < COUNT(importers); i++) {
        again(importers[i], what, line, sizeof line);
        snprintf(id, sizeof id, "V.shared.of_%s.seen_by_%s", mine ? mine : "unset", importers[i] ? importers[i] : "unset");
        line[strcspn(line, "\n")] = 0;
        say(id, "%s", line);
    }
}

static void learn_all(void)
{
    char text[MOST * (UUID_TEXT + BUS_TEXT)] = "", *line = text;
    there = 0;
    again(NULL, "--all", text, sizeof text);
    while (there < MOST && sscanf(line, "%63s %31s", uuids[there], buses[there]) == 2) {
        there++;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static void group_v(void)
{
    static const char *const exporters[] = {"0", "1", "1,0"};
    if (!is_wanted("V"))
        return;
    const char *given = getenv("CUDA_VISIBLE_DEVICES");
    char before[256];
    snprintf(before, sizeof before, "%s", given ? given : "");
    learn_all();
    unsetenv("CUDA_VISIBLE_DEVICES");
    visible_lists();
    visible_uses();
    child("V.when!", visible_when);
    child("V.after!", visible_after);
    for (size_t i = 0; i < COUNT(exporters); i++) {
        setenv("CUDA_VISIBLE_DEVICES", exporters[i], 1);
        child("V.shared!", visible_shared);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (given)
        setenv("CUDA_VISIBLE_DEVICES", before, 1);
}
