/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a table of lines, the whole or a share of it, until a deadline. Part of the recording programs that include it, and that have
 * start, start_nothing (for group B, before cuInit) and add_table.
 *
 *     PROGRAM [LETTERS [words [SHARE/SHARES [SECONDS]]]]
 *
 * Lines run in the order of the table, those that matter most first, so that what a deadline cuts off is the end. */

static void add_table(void);
static void start(void);
static void start_nothing(void);

static size_t share, shares = 1;

/* Of each line of the recording that LINES_KNOWN names, a hash: what is known already comes last. */
static u64 known[LINES * 2];
static size_t known_count;

static u64 hash_of(const char *text, size_t length)
{
    u64 hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

static void read_known(void)
{
    const char *path = getenv("LINES_KNOWN");
    FILE *file = path ? fopen(path, "r") : NULL;
    static char line[65536];
    while (file && known_count < COUNT(known) && fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\t");
        length -= length && line[length - 1] == '!';
        if (line[0] != '#' && length > 2)
            known[known_count++] = hash_of(line, length);
    }
    if (file)
        fclose(file);
}

static bool is_known(const char *name, const char *text)
{
    char id[TEXT + 8];
    const int length = snprintf(id, sizeof id, "%s.%s", name, text);
    const u64 hash = hash_of(id, (size_t)length);
    for (size_t i = 0; i < known_count; i++)
        if (known[i] == hash)
            return true;
    return false;
}

static bool asked_first(const char *name, const char *text)
{
    return name[0] != 'B' && is_wanted(name) && !is_known(name, text);
}

static bool asked_late(const char *name, const char *text)
{
    return name[0] != 'B' && is_wanted(name) && is_known(name, text);
}

static bool asked_early(const char *name, const char *text)
{
    (void)text;
    return name[0] == 'B' && is_wanted(name);
}

static void run_table(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        exit(1);
    add_table();
    read_known();
    run_lines(0, start, share, shares, asked_first);
    run_lines(0, start_nothing, share, shares, asked_early);
    run_lines(0, start, share, shares, asked_late);
}

static int run_program(const char *source, int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") != 0)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    words = argc > 2 && strcmp(argv[2], "words") == 0;
    if (argc > 3 && sscanf(argv[3], "%zu/%zu", &share, &shares) != 2)
        return 2;
    if (argc > 4)
        run_until = time(NULL) + atoi(argv[4]);
    patience = 1;
    if (shares == 1)
        return record(source, run_table);
    setvbuf(stdout, NULL, _IOLBF, 0); /* one of many: others keep the devices awake, and the first has the header */
    if (share == 0)
        printf("# made by conformance/recorded/facts/%s, in %zu shares\n", source, shares);
    run_table();
    return 0;
}
