/* SPDX-License-Identifier: Apache-2.0 */
/* The words of ../managed.c beside those of ../script/ask.c. Part of ../managed.c, which includes it.
 *
 *     L:1:0               a location, by value
 *     P:g,4K,0            the address of a list of numbers and names: addresses, sizes, indices
 *     K:1.0,2.0           of a list of locations
 *     ra:1.4,3.8          of lists of attributes of a range and of the sizes of their outputs, for "attrs COUNT ra:... P N"
 *
 * Calls of the program itself:
 *
 *     free                    how much more device memory is free than when the line began
 *     attrs N ra:... P C      cuMemRangeGetAttributes with N of them, and what each output is then
 *     advised P C             attributes of a range: READ_MOSTLY, PREFERRED_LOCATION, the first 4 ACCESSED_BY, type and id of the
 *                             preferred location;  fetched P C: LAST_PREFETCH_LOCATION, its type and id
 *     read P, write P V       the host's own access to a byte
 *     gate S, open, settle S  a host function that holds the stream; lets it go; waits for the stream without synchronising
 */

enum { LIST = 16, LISTS = 4, DATA_INTS = 4 };

static u64 number_list[LISTS][LIST];
static unsigned number_lists;
static CUmemLocation location_list[LIST];
static CUmem_range_attribute attribute_list[LIST];
static size_t size_list[LIST];
static int data_list[LIST][DATA_INTS];
static void *data_pointers[LIST];
static size_t attribute_count;

static u64 new_numbers(const char *word)
{
    char text[TEXT], *next = NULL;
    u64 *list = number_list[number_lists++ % LISTS];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", word);
    for (char *one = strtok_r(text, ",", &next); one && count < LIST; one = strtok_r(NULL, ",", &next))
        list[count++] = argument(one);
    return (u64)(uintptr_t)list;
}

static u64 new_locations(const char *word)
{
    int type, id, length;
    for (size_t count = 0; count < LIST && sscanf(word, "%d.%d%n", &type, &id, &length) == 2; count++) {
        location_list[count] = loc_at(type, id);
        word += length + (word[length] == ',');
    }
    return (u64)(uintptr_t)location_list;
}

static u64 new_attributes(const char *word)
{
    int attribute, size, length;
    memset(data_list, 0x77, sizeof data_list);
    for (attribute_count = 0; attribute_count < LIST && sscanf(word, "%d.%d%n", &attribute, &size, &length) == 2; attribute_count++) {
        attribute_list[attribute_count] = (CUmem_range_attribute)attribute;
        size_list[attribute_count] = (size_t)size;
        data_pointers[attribute_count] = data_list[attribute_count];
        word += length + (word[length] == ',');
    }
    return 0;
}

static bool own_word(const char *word, u64 *value)
{
    int type, id;
    if (sscanf(word, "L:%d:%d", &type, &id) == 2)
        *value = (unsigned)type | (u64)(unsigned)id << 32;
    else if (strncmp(word, "P:", 2) == 0)
        *value = new_numbers(word + 2);
    else if (strncmp(word, "K:", 2) == 0)
        *value = new_locations(word + 2);
    else if (strncmp(word, "ra:", 3) == 0)
        *value = new_attributes(word + 3);
    else
        return false;
    return true;
}

static void show_own(char *text, size_t room, const struct output *o)
{
    (void)text, (void)room, (void)o;
}

static const char *symbol_of_short(const char *name)
{
    static const struct { const char *name, *symbol; } shorts[] = {
        {"alloc", "cuMemAllocManaged"},      {"drop", "cuMemFree_v2"},
        {"rattr", "cuMemRangeGetAttribute"}, {"advise", "cuMemAdvise_v2"},
        {"prefetch", "cuMemPrefetchAsync_v2"}, {"attach", "cuStreamAttachMemAsync"},
        {"about", "cuPointerGetAttribute"},  {"sync", "cuCtxSynchronize"},
        {"begin", "cuStreamBeginCapture_v2"}, {"end", "cuStreamEndCapture"},
        {"status", "cuStreamIsCapturing"},   {"exchange", "cuThreadExchangeStreamCaptureMode"},
        {"query", "cuStreamQuery"},          {"current", "cuCtxSetCurrent"},
        {"htod", "cuMemcpyHtoD_v2"},         {"dtoh", "cuMemcpyDtoH_v2"},
        {"pbatch", "cuMemPrefetchBatchAsync"}, {"dbatch", "cuMemDiscardBatchAsync"},
        {"dpbatch", "cuMemDiscardAndPrefetchBatchAsync"},
    };
    for (size_t i = 0; i < COUNT(shorts); i++)
        if (strcmp(shorts[i].name, name) == 0)
            return shorts[i].symbol;
    return NULL;
}

/* The ints of each output that may have been written. */
static CUresult ask_attributes(const u64 *a, char *more, size_t room)
{
    CUresult r = cuMemRangeGetAttributes(data_pointers, size_list, attribute_list, (size_t)a[0], (CUdeviceptr)a[2], (size_t)a[3]);
    for (size_t i = 0; i < attribute_count; i++)
        for (size_t k = 0; k < DATA_INTS && k * 4 < (size_list[i] ? size_list[i] : 4); k++) {
            size_t length = strlen(more);
            if (data_list[i][k] == 0x77777777)
                snprintf(more + length, room - length, "%s-", k ? "," : " ");
            else
                snprintf(more + length, room - length, "%s%d", k ? "," : " ", data_list[i][k]);
        }
    return r;
}

static CUresult ask_range(const u64 *a, const char *attributes, char *more, size_t room)
{
    CUresult first = CUDA_SUCCESS;
    for (const char *at = attributes; *at; at++) {
        int data[4] = {0x77777777, 0x77777777, 0x77777777, 0x77777777};
        const bool several = *at == '3';
        CUresult r = cuMemRangeGetAttribute(data, several ? sizeof data : sizeof data[0], (CUmem_range_attribute)(*at - '0'),
                                            (CUdeviceptr)a[0], (size_t)a[1]);
        first = at == attributes ? r : first;
        for (size_t i = 0; i < (several ? COUNT(data) : 1); i++) {
            size_t length = strlen(more);
            if (r || data[i] == 0x77777777)
                snprintf(more + length, room - length, "%s%s", i ? "," : " ", r ? name_of(r) : "-");
            else
                snprintf(more + length, room - length, "%s%d", i ? "," : " ", data[i]);
        }
    }
    return first;
}

static bool own_call(const char *name, const u64 *a, size_t count, CUresult *r, char *more, size_t room)
{
    volatile unsigned char *at = (volatile unsigned char *)(uintptr_t)a[0];
    (void)count;
    *r = CUDA_SUCCESS;
    if (strcmp(name, "free") == 0)
        snprintf(more, room, " %lld", (i64)free_memory() - (i64)free_before);
    else if (strcmp(name, "attrs") == 0)
        *r = ask_attributes(a, more, room);
    else if (strcmp(name, "advised") == 0)
        *r = ask_range(a, "12356", more, room);
    else if (strcmp(name, "fetched") == 0)
        *r = ask_range(a, "478", more, room);
    else if (strcmp(name, "read") == 0)
        snprintf(more, room, " %d", *at);
    else if (strcmp(name, "write") == 0)
        *at = (unsigned char)a[1];
    else if (strcmp(name, "gate") == 0)
        *r = gate_in((CUstream)(uintptr_t)a[0]);
    else if (strcmp(name, "open") == 0)
        snprintf(more, room, "%s", gate_opened());
    else if (strcmp(name, "settle") == 0)
        *r = settle((CUstream)(uintptr_t)a[0]);
    else
        return false;
    return true;
}
