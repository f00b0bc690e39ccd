/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that a line names are created before it, each by a separate call. Part of the recording programs that include it,
 * after ask.c and ledger.c. */

struct thing {
    const char *name;
    const char *calls; /* the last ones give it its name */
    bool of_other;     /* made in the other context */
};

static CUcontext other_context;

/* Is the word in the text, whole, and not the key of a field? */
static bool mentions(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool key = at[length] == '=' && at > text && strchr(",:/", at[-1]);
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]) && at[length] != ':' && !key)
            return true;
    }
    return false;
}

/* Of the other device, or a second one of the same where there is no other. */
static CUcontext other_of_the_process(void)
{
    int devices = 0;
    if (other_context)
        return other_context;
    cuDeviceGetCount(&devices);
    if (devices > 1) {
        cuDevicePrimaryCtxRetain(&primary[1], 1);
        other_context = primary[1];
    } else
        call_here(found("cuCtxCreate_v2"), (u64[ARGUMENTS]){(u64)(uintptr_t)&other_context, 0, 0});
    cuCtxSetCurrent(primary[0]);
    return other_context;
}

static void make_thing(const struct thing *thing)
{
    char calls[512], answer[256] = "", *next = NULL;
    if (thing->of_other)
        cuCtxSetCurrent(other_of_the_process());
    snprintf(calls, sizeof calls, "%s", thing->calls);
    for (char *call = strtok_r(calls, ";", &next); call; call = strtok_r(NULL, ";", &next)) {
        ask(call + strspn(call, " "), answer, sizeof answer);
        if (strncmp(answer, "SUCCESS", 7) != 0)
            say("thing!", "%s: %s: %.200s", thing->name, call, answer);
    }
    if (thing->of_other)
        cuCtxSetCurrent(primary[0]);
}
