/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that are lines of calls (ask.c), from tables. Part of the recording programs that include ask.c.
 *
 *     add("begin s {0..2}; end s q8")      three lines: "begin s 0; end s q8", ...
 *
 * A group of lines runs in one process until a line ends it. The program gives each line what it needs, and takes it back.
 */

enum { LINES = 16384, HANGS = 2 };

static const char *group = "";
static struct line {
    char text[TEXT];
    const char *group;
    unsigned source; /* which row of the table it is of */
    bool alone;      /* in a separate process */
} lines[LINES];
static size_t line_count;
static const char *adding_group = "";
static unsigned adding_source;
static bool adding_alone;

/* How often a line of each row hung: after HANGS the others of that row are left out. */
static volatile unsigned char *hangs;
static size_t running[LINES]; /* the lines of this run */
static time_t run_until;      /* no line begins after that; 0: no end */

static void start_line(const char *text);
static void end_line(const char *text);

static inline u64 as_value(const void *p)
{
    return (u64)(uintptr_t)p;
}

static void line_one(size_t i, char *id, int run)
{
    char text[TEXT], answers[4096] = "", one[2048], *next = NULL;
    const struct line *line = &lines[running[i]];
    group = line->group;
    snprintf(id, CASE_ID, "%s.%.*s", group, TEXT - 4, line->text);
    if (!run || (hangs && hangs[line->source] >= HANGS) || (run_until && time(NULL) > run_until))
        return;
    snprintf(text, sizeof text, "%s", line->text);
    start_line(text);
    for (char *call = strtok_r(text, ";", &next); call; call = strtok_r(NULL, ";", &next)) {
        ask(call + strspn(call, " "), one, sizeof one);
        snprintf(answers + strlen(answers), sizeof answers - strlen(answers), "%s%s", answers[0] ? "; " : "", one);
    }
    say(id, "%s", answers);
    end_line(line->text);
    last_case = line->alone;
}

static void line_hung(size_t i)
{
    unsigned source = lines[running[i]].source;
    if (hangs[source] < HANGS)
        hangs[source]++;
}

/* Each line of a group once. */
static void add_line(const char *text)
{
    for (size_t i = line_count; i-- > 0 && lines[i].group == adding_group;)
        if (strcmp(lines[i].text, text) == 0)
            return;
    if (line_count == LINES || strlen(text) + 4 > TEXT) {
        fprintf(stderr, "too long, or too many: %s\n", text);
        exit(3);
    }
    struct line *line = &lines[line_count++];
    strcpy(line->text, text);
    line->group = adding_group;
    line->source = adding_source;
    line->alone = adding_alone;
}

static void with_choice(const char *text, const char *open, const char *close, const char *choice, int length);

/* Adds a line, or one for each of {1..3} and {a|b} in it, from the first to the last. */
static void add(const char *text)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    int from, to;
    if (!close) {
        add_line(text);
        return;
    }
    if (sscanf(open, "{%d..%d}", &from, &to) == 2) {
        for (int n = from; n <= to; n++) {
            char number[16];
            int length = snprintf(number, sizeof number, "%d", n);
            with_choice(text, open, close, number, length);
        }
        return;
    }
    for (const char *at = open; at < close;) {
        int length = (int)strcspn(at + 1, "|}");
        with_choice(text, open, close, at + 1, length);
        at += 1 + length;
    }
}

static void with_choice(const char *text, const char *open, const char *close, const char *choice, int length)
{
    char line[1024];
    snprintf(line, sizeof line, "%.*s%.*s%s", (int)(open - text), text, length, choice, close + 1);
    add(line);
}

/* Adds the call with each set of its arguments replaced by 0; with % in before, it stands in the place of that. */
static void zeros(const char *before, const char *text)
{
    char words[TEXT], line[1024], *word[ARGUMENTS], *next = NULL;
    size_t count = 0;
    snprintf(words, sizeof words, "%s", text);
    char *name = strtok_r(words, " ", &next);
    while (count < ARGUMENTS && (word[count] = strtok_r(NULL, " ", &next)))
        count++;
    for (unsigned set = 0; set < 1u << count; set++) {
        bool again = false;
        int length = (int)strcspn(before, "%");
        snprintf(line, sizeof line, "%.*s%s", length, before, name);
        for (size_t i = 0; i < count; i++) {
            again |= set >> i & 1 && strcmp(word[i], "0") == 0;
            snprintf(line + strlen(line), sizeof line - strlen(line), " %s", set >> i & 1 ? "0" : word[i]);
        }
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s", before[length] ? before + length + 1 : "");
        if (!again)
            add_line(line);
    }
}

/* Adds the call during a capture in each mode, by each thread in each mode. */
static inline void forbidden(const char *setting, const char *text)
{
    char line[1024];
    for (int thread = 0; thread < 2; thread++) {
        snprintf(line, sizeof line, "%sbegin s {0..2}; %sexchange i:{0..2}; %s%s; status s o4; end s q8", setting,
                 thread ? "B:" : "", thread ? "B:" : "", text);
        add(line);
    }
}

/* Runs those of the lines since first that are number `share` of so many; `asked` says which groups. */
static void run_lines(size_t first, void (*start)(void), size_t share, size_t shares, bool (*asked)(const char *group, const char *text))
{
    size_t count = 0;
    hangs = mmap(NULL, LINES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (hangs == MAP_FAILED)
        exit(3);
    for (size_t i = first, n = 0; i < line_count; i++)
        if (asked(lines[i].group, lines[i].text) && n++ % shares == share)
            running[count++] = i;
    case_hung = line_hung;
    if (count)
        run_cases(start, count, line_one);
    munmap((void *)(uintptr_t)hangs, LINES);
}
