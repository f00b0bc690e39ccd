/* SPDX-License-Identifier: Apache-2.0 */
/* Group E: the name and the text of every result code, and the output for codes without one. Part of ../copies.c, which includes
 * it. */

static const char *shown(const char *text, const char *before)
{
    return text == before ? "kept" : text ? text : "NULL";
}

static void words(void)
{
    static const char before[] = "before";
    for (int code = -1; code <= 1100; code++) {
        char id[CASE_ID];
        const char *name = before, *text = before;
        CUresult a = cuGetErrorName((CUresult)code, &name), b = cuGetErrorString((CUresult)code, &text);
        snprintf(id, sizeof id, "E.%d", code);
        say(id, "%s %s; %s %s", name_of(a), shown(name, before), name_of(b), shown(text, before));
    }
}

static void w_null_name(void)
{
    R("E.null.name", cuGetErrorName(CUDA_SUCCESS, NULL));
}

static void w_null_text(void)
{
    R("E.null.text", cuGetErrorString(CUDA_SUCCESS, NULL));
}

static void w_null_text_unknown(void)
{
    R("E.null.text_unknown", cuGetErrorString((CUresult)12345, NULL));
}

static void group_e(void)
{
    child("E.words!", words);
    child("E.null.name!", w_null_name);
    child("E.null.text!", w_null_text);
    child("E.null.text_unknown!", w_null_text_unknown);
}
