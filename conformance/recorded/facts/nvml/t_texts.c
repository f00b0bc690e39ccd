/* SPDX-License-Identifier: Apache-2.0 */
/* T: the texts of codes. Part of ../nvml.c. */
static nvmlReturn_t text_of(int number)
{
    const char *text = nvmlErrorString((nvmlReturn_t)number);
    snprintf(out.text, sizeof out.text, "%s", text ? text : "NULL");
    return NVML_SUCCESS;
}

static void texts(struct turn *turn)
{
    static const int others[] = {31, 32, 77, 998, 999, 1000, -1};
    for (int i = 0; i <= 30; i++)
        NV("T", text_of(i), "%s", out.text);
    for (size_t i = 0; i < COUNT(others); i++)
        NV("T", text_of(others[i]), "%s", out.text);
}
