/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's own error log says, as comments before the answers. Part of the recording programs that include it. */

static bool words;

static void CUDA_CB log_line(void *unused, CUlogLevel level, char *text, size_t length)
{
    (void)unused;
    if (!muted)
        printf("#%d %.*s\n", (int)level, (int)length, text);
}

static void init_with_words(void)
{
    CUlogsCallbackHandle handle;
    init();
    if (words)
        cuLogsRegisterCallback(log_line, NULL, &handle);
}

#define init init_with_words
