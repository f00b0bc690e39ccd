/* SPDX-License-Identifier: Apache-2.0 */
/* A line that a message names by its number is shown with it. */
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "tap.h"

static char *out_text, *err_text;

static void run(const char *lines)
{
    size_t out_size, err_size;
    free(out_text);
    free(err_text);
    struct script_options options = {.backend = "sim:h100", .keep_going = true, .out = open_memstream(&out_text, &out_size),
                                     .err = open_memstream(&err_text, &err_size)};
    FILE *in = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");
    if (!options.out || !options.err || !in)
        tap_bail("no memory");
    struct script *script = script_new(&options, "x.vmm");
    script_read(script, in);
    script_finish(script);
    fclose(in);
    fclose(options.out);
    fclose(options.err);
}

static unsigned times(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void shows(unsigned count, const char *line, const char *what)
{
    if (!tap_u64(times(out_text, line), count, "%s", what))
        tap_note("%s", out_text);
}

int main(void)
{
    run("init\n"
        "  r = reserve 2gran  # of all\n"
        "h = create 1gran dev0\n"
        "map r 1gran h\n"
        "map r 1gran h\n"
        "release h\n"
        "unmap r 1gran\n"
        "free r 2gran\n");
    shows(1, "\n    |   line 4    map r 1gran h\n", "the line that made what is in the way");
    shows(0, "|   line 5 ", "not the one itself, which stands above");
    if (!tap_ok(strstr(err_text, "x.vmm:5: cuMemMap was refused") && strstr(err_text, "\n    map r 1gran h\n"),
                "the line that was refused, where its number is printed"))
        tap_note("%s", err_text);
    run("init\nr = reserve 2gran\nh = create 1gran dev0\nmap r 1gran h\n");
    shows(1, "|   line 2    r = reserve 2gran\n", "the line that made what is still there at the end");
    shows(1, "|   line 3    h = create 1gran dev0\n", "of each such object");
    run("init\n  r = reserve 2gran  # of all\nfree r 1gran\nfree r 2gran\n");
    shows(1, "|   line 2    r = reserve 2gran  # of all\n", "without the blanks before it, once");
    run("init\nprocess b\ninit\nprocess main\nr = reserve 1gran\nprocess b\ns = reserve 2gran\nfree s 1gran\n");
    shows(2, "|   line 7    s = reserve 2gran\n", "of the process that made it: of the refusal, and at the end");
    shows(1, "|   line 5    r = reserve 1gran\n", "and of the other");
    free(out_text);
    free(err_text);
    return tap_done();
}
