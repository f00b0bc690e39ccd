/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls from their text. Part of the recording programs whose cases are lines of calls, which include it.
 *
 *     begin s 0; B:cuMemAlloc_v2 o8 4096; status s o4; end s q8=g     consecutive calls; the one marked B by a second thread
 *
 * A call is an entry point, found in the driver's library, a short name of the program (`symbol_of_short`), or a call that the
 * program makes itself (`own_call`). Arguments are integers or addresses, so one type of function serves all. Each is one of:
 *
 *     12, 0x10, -1, 3K 3M 3G      a number
 *     NAME, NAME+4, NAME-4K       a value of the case (`names`), and those beside it
 *     o8                          an output of 8 bytes, shown after the call: "-" when nothing was written
 *     q8, q8=NAME, o8=NAME        the same for values of which only the identity matters: the name, "new", 0 or "-". The value
 *                                 gets the name
 *     w8                          an output of which only matters whether it was written
 *     v12                         an output of several ints
 *     a8:NAME                     the same as o8 for addresses, shown as the distance from NAME
 *     i:1                         the address of an int with this value, shown after the call
 *     'text                       the address of a text
 *
 * and what the program adds to these (`own_word`).
 */

enum { ARGUMENTS = 12, OUTPUTS = 12, TEXT = CASE_ID, NAMES = 64, OUTPUT_BYTES = 64 };

typedef CUresult (*entry_point)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

struct name {
    char text[12];
    u64 value;
};

/* What the program adds: the entry point of a short name, or NULL; the value of an argument that begins with `word`; the text of an
 * output of a kind of its own; a call that it makes itself, whose text after the result goes to `more`. */
struct output;
static const char *symbol_of_short(const char *name);
static bool own_word(const char *word, u64 *value);
static void show_own(char *text, size_t room, const struct output *o);
static bool own_call(const char *name, const u64 *a, size_t count, CUresult *r, char *more, size_t room);
static void called(const char *symbol, const u64 *a, CUresult r);

static struct name names[NAMES];
static size_t name_count;
static void *driver;

static void set_name(const char *text, u64 value)
{
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i].text, text) == 0) {
            names[i].value = value;
            return;
        }
    if (name_count == NAMES)
        exit(3);
    snprintf(names[name_count].text, sizeof names[0].text, "%s", text);
    names[name_count++].value = value;
}

static void unknown_word(const char *word)
{
    fprintf(stderr, "no argument is called %s\n", word);
    exit(3);
}

static u64 number(const char *word, bool *is);

static u64 value_of(const char *word)
{
    char text[sizeof names[0].text];
    size_t length = strcspn(word, "+-");
    bool is = true;
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    u64 beside = word[length] ? number(word + length + 1, &is) : 0;
    for (size_t i = 0; is && i < name_count; i++)
        if (strcmp(names[i].text, text) == 0)
            return word[length] == '-' ? names[i].value - beside : names[i].value + beside;
    unknown_word(word);
    return 0;
}

static const char *name_of_value(u64 value)
{
    for (size_t i = 0; value && i < name_count; i++)
        if (names[i].value == value)
            return names[i].text;
    return NULL;
}

/* ---- arguments ---- */

enum output_kind { SHOWN, IDENTITY, DISTANCE, WRITTEN, INTS, OWN };

static struct {
    struct output {
        enum output_kind kind;
        unsigned size, own; /* own: which kind of the program's */
        char name[12];
        unsigned char bytes[OUTPUT_BYTES] __attribute__((aligned(16)));
    } out[OUTPUTS];
    unsigned outputs;
    char text[2][64];
    unsigned texts;
} arg;

static struct output *add_output(enum output_kind kind, unsigned size)
{
    if (arg.outputs == OUTPUTS || size > OUTPUT_BYTES)
        exit(3);
    struct output *o = &arg.out[arg.outputs++];
    o->kind = kind;
    o->size = size;
    o->name[0] = 0;
    memset(o->bytes, 0x77, sizeof o->bytes);
    return o;
}

/* o8, o8=x, q8, w8, v8, a8:x */
static u64 new_output(const char *word)
{
    char *end;
    unsigned size = (unsigned)strtoul(word + 1, &end, 10);
    enum output_kind kind = word[0] == 'o' && !*end ? SHOWN
                            : word[0] == 'a'        ? DISTANCE
                            : word[0] == 'w'        ? WRITTEN
                            : word[0] == 'v'        ? INTS
                                                    : IDENTITY;
    struct output *o = add_output(kind, size);
    snprintf(o->name, sizeof o->name, "%s", *end ? end + 1 : "");
    return (u64)(uintptr_t)o->bytes;
}

static u64 new_int(int value)
{
    u64 at = new_output("o4");
    memcpy(arg.out[arg.outputs - 1].bytes, &value, sizeof value);
    return at;
}

static u64 number(const char *word, bool *is)
{
    char *end;
    u64 v = (u64)strtoll(word, &end, 0);
    if (word[0] != '-' && errno == ERANGE)
        v = strtoull(word, &end, 0);
    if (*end == 'K' || *end == 'M' || *end == 'G')
        v <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
    *is = end != word && !*end;
    return v;
}

static u64 argument(const char *word)
{
    bool is;
    errno = 0;
    u64 v = number(word, &is);
    if (is)
        return v;
    if (strchr("oqwav", word[0]) && word[1] >= '0' && word[1] <= '9')
        return new_output(word);
    if (strncmp(word, "i:", 2) == 0)
        return new_int(atoi(word + 2));
    if (own_word(word, &v))
        return v;
    if (word[0] == '\'') {
        char *text = arg.text[arg.texts++ % COUNT(arg.text)];
        snprintf(text, sizeof arg.text[0], "%s", word + 1);
        return (u64)(uintptr_t)text;
    }
    return value_of(word);
}

/* ---- results ---- */

static void show_value(char *text, size_t room, const struct output *o, u64 v)
{
    const char *name = name_of_value(v);
    if (o->kind == DISTANCE)
        snprintf(text, room, v ? " %s%+lld" : " 0", o->name, (i64)(v - value_of(o->name)));
    else if (name && v > 0xffffffff)
        snprintf(text, room, " %s", name);
    else if (o->kind == IDENTITY)
        snprintf(text, room, " %s", name ? name : v ? "new" : "0");
    else if (v < (u64)1 << 42 || (i64)v > -4096)
        snprintf(text, room, " %lld", (i64)v);
    else
        snprintf(text, room, " address");
}

/* 1,2,-: of the output's ints, those that were not written as "-". */
static void show_ints(char *text, size_t room, const struct output *o)
{
    for (unsigned i = 0; i < o->size / 4; i++) {
        int value;
        memcpy(&value, o->bytes + i * 4, sizeof value);
        size_t length = strlen(text);
        if (value == 0x77777777)
            snprintf(text + length, room - length, "%s-", i ? "," : " ");
        else
            snprintf(text + length, room - length, "%s%d", i ? "," : " ", value);
    }
}

static void show_output(char *text, size_t room, struct output *o)
{
    unsigned written = 0;
    u64 v = 0;
    for (unsigned k = 0; k < o->size; k++)
        if (o->bytes[k] != 0x77)
            written = k + 1;
    if (!written) {
        snprintf(text, room, " -");
        if (o->name[0] && o->kind != DISTANCE)
            set_name(o->name, 0);
        return;
    }
    if (o->kind == WRITTEN) {
        snprintf(text, room, " written");
        return;
    }
    if (o->kind == INTS || o->kind == OWN) {
        text[0] = 0;
        (o->kind == INTS ? show_ints : show_own)(text, room, o);
        return;
    }
    if (o->size > 8) {
        snprintf(text, room, " %u-bytes", (written + 7) / 8 * 8);
        return;
    }
    memcpy(&v, o->bytes, o->size);
    if (o->size == 4 && o->kind == SHOWN)
        snprintf(text, room, " %d", (int)v);
    else
        show_value(text, room, o, v);
    if (o->name[0] && o->kind != DISTANCE)
        set_name(o->name, v);
}

/* ---- the second thread ---- */

static struct {
    pthread_t thread;
    bool started, asked, done;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry_point f;
    const u64 *a;
    CUresult r;
} second = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static CUresult call_here(entry_point f, const u64 *a)
{
    return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

/* Ends at a call that is NULL. */
static void *run_second(void *context)
{
    cuCtxSetCurrent(context);
    pthread_mutex_lock(&second.lock);
    do {
        while (!second.asked)
            pthread_cond_wait(&second.changed, &second.lock);
        second.asked = false;
        if (second.f)
            second.r = call_here(second.f, second.a);
        second.done = true;
        pthread_cond_broadcast(&second.changed);
    } while (second.f);
    pthread_mutex_unlock(&second.lock);
    return NULL;
}

static CUresult call_there(entry_point f, const u64 *a)
{
    CUcontext context = NULL;
    if (!second.started) {
        cuCtxGetCurrent(&context);
        if (pthread_create(&second.thread, NULL, run_second, context))
            exit(3);
        second.started = true;
    }
    pthread_mutex_lock(&second.lock);
    second.f = f;
    second.a = a;
    second.done = false;
    second.asked = true;
    pthread_cond_broadcast(&second.changed);
    while (!second.done)
        pthread_cond_wait(&second.changed, &second.lock);
    pthread_mutex_unlock(&second.lock);
    return second.r;
}

static void end_second(void)
{
    if (!second.started)
        return;
    call_there(NULL, NULL);
    pthread_join(second.thread, NULL);
    second.started = false;
}

/* ---- a call ---- */

static const char *symbol_named(const char *name)
{
    const char *symbol = symbol_of_short(name);
    return symbol ? symbol : name;
}

static entry_point found(const char *name)
{
    entry_point f = NULL;
    void *symbol = dlsym(driver, symbol_named(name));
    memcpy(&f, &symbol, sizeof f);
    return f;
}

/* Makes the call; answer receives its result and outputs. */
static void ask(const char *text, char *answer, size_t room)
{
    char words[TEXT], more[TEXT] = "", *next = NULL;
    u64 a[ARGUMENTS] = {0};
    size_t count = 0;
    arg.outputs = arg.texts = 0;
    snprintf(words, sizeof words, "%s", text);
    char *name = strtok_r(words, " ", &next), *word;
    bool there = strncmp(name, "B:", 2) == 0;
    name += there ? 2 : 0;
    while ((word = strtok_r(NULL, " ", &next))) {
        if (count == ARGUMENTS)
            exit(3);
        a[count++] = argument(word);
    }
    CUresult r;
    if (!own_call(name, a, count, &r, more, sizeof more)) {
        entry_point f = found(name);
        if (!f) {
            snprintf(answer, room, "not there");
            return;
        }
        r = there ? call_there(f, a) : call_here(f, a);
        called(symbol_named(name), a, r);
    }
    snprintf(answer, room, "%s%s", name_of(r), more);
    for (unsigned i = 0; i < arg.outputs; i++)
        show_output(answer + strlen(answer), room - strlen(answer), &arg.out[i]);
}
