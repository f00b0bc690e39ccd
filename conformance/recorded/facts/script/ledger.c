/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of calls made and did not end, and its end. Part of the recording programs that include it.
 *
 *     static const struct maker makers[] = {{"cuArray3DCreate_v2", 0, "cuArrayDestroy", end_array}, ...}
 *
 * The first argument of a maker is where the new thing is written; the `ended`th of its end is the thing itself. */

typedef void (*end_of)(u64 thing);

struct maker {
    const char *makes;
    const char *ends;
    end_of end;
};

enum { LEDGER = 256 };

static struct {
    u64 thing;
    const struct maker *maker;
    CUcontext context; /* that was current then */
} ledger[LEDGER];
static size_t ledger_count;

static void ledger_add(const struct maker *maker, u64 thing)
{
    CUcontext now = NULL;
    cuCtxGetCurrent(&now);
    if (ledger_count == LEDGER)
        exit(3);
    ledger[ledger_count].thing = thing;
    ledger[ledger_count].maker = maker;
    ledger[ledger_count++].context = now;
}

static void ledger_drop(size_t i)
{
    memmove(&ledger[i], &ledger[i + 1], (ledger_count - i - 1) * sizeof ledger[0]);
    ledger_count--;
}

static void ledger_forget(const char *ends, u64 thing)
{
    for (size_t i = ledger_count; i-- > 0;)
        if (ledger[i].thing == thing && strcmp(ledger[i].maker->ends, ends) == 0) {
            ledger_drop(i);
            return;
        }
}

/* What was made in a context ends with it. */
static void ledger_forget_context(CUcontext context)
{
    for (size_t i = ledger_count; i-- > 0;)
        if (ledger[i].context == context)
            ledger_drop(i);
}

static void ledger_note(const struct maker *makers, size_t count, const char *symbol, const u64 *a, CUresult r)
{
    u64 thing = 0;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        if (strcmp(makers[i].makes, symbol) == 0 && a[0]) {
            memcpy(&thing, (const void *)(uintptr_t)a[0], sizeof thing);
            ledger_add(&makers[i], thing);
            return;
        }
        if (strcmp(makers[i].ends, symbol) == 0)
            ledger_forget(symbol, a[0]);
    }
}

/* Ends what is left, the last first. */
static void ledger_end(void)
{
    while (ledger_count) {
        ledger_count--;
        if (ledger[ledger_count].context)
            cuCtxSetCurrent(ledger[ledger_count].context);
        ledger[ledger_count].maker->end(ledger[ledger_count].thing);
    }
}
