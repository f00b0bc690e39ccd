/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of a stack are kept, with made-up stacks: the unwinder and the interpreter are fakes in this file. */
#include "stacks.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "stacks_depot.h"
#include "stacks_module.h"
#include "stacks_python.h"
#include "stacks_unwind.h"
#include "tap.h"

/* The stack, a letter for each native frame, from stacks_here on: o ours, p the program, e its entry, b a binding, c the C
 * library, x code of no file; i the interpreter, with as many Python frames as the digit after it. */
static const char *script;
static unsigned waiting; /* Python frames in the current run */
static uint32_t given;      /* so far, in all */
static enum python_expectation expectation;

static const struct module modules[] = {
    {.number = 1, .is_ours = true}, {.number = 2, .is_program = true}, {.number = 3}, {.number = 4, .is_libc = true}, {.number = 5}};
static const char letters[] = "opbci";

/* ---- in place of stacks_unwind.c, stacks_module.c and stacks_python.c ---- */

bool unwind_next(struct unwind *unwind)
{
    const char letter = *script;
    if (!letter)
        return false;
    script++;
    const char *known = strchr(letters, letter == 'e' ? 'p' : letter);
    unwind->module = known ? &modules[known - letters] : NULL;
    unwind->address = letter == 'e' ? getauxval(AT_ENTRY) + 3 : 0x100;
    if (letter == 'i')
        waiting = (unsigned)(*script++ - '0');
    return true;
}

bool unwind_readable(uintptr_t address, uintptr_t size)
{
    return address && size;
}

const struct module *module_of(uintptr_t address)
{
    return address ? &modules[0] : NULL;
}

bool module_names(uint32_t number, const char **path, const char **build)
{
    static const char *const names[] = {"ours", "program", "binding", "libc", "libpython"};
    *path = names[number - 1];
    *build = "";
    return number != 3 || expectation != PYTHON_NOT_HERE;
}

enum python_expectation python_expected(void)
{
    return expectation;
}

bool python_is_interpreter(struct python_walk *walk, const struct module *module)
{
    (void)walk;
    return module == &modules[4];
}

uint32_t python_next(struct python_walk *walk, uintptr_t sp, uintptr_t next_sp)
{
    (void)walk;
    (void)sp;
    (void)next_sp;
    if (!waiting)
        return 0;
    waiting--;
    return ++given;
}

bool python_names(uint32_t frame, const char **file, const char **function, uint32_t *line)
{
    *file = "train.py";
    *function = "step";
    *line = frame;
    return true;
}

const char *python_note(void)
{
    return "of an unknown version";
}

/* ---- what is kept ---- */

/* The frames in the letters of the script; Python frames are shown by their lines. */
static const char *kept(const char *stack)
{
    static char text[512];
    struct stacks_frame frames[STACKS_MOST];
    size_t used = 0;
    script = stack;
    given = waiting = 0;
    const uint32_t number = stacks_here();
    const unsigned count = stacks_frames(number, frames, STACKS_MOST);
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        if (frames[i].python)
            used += (size_t)snprintf(text + used, sizeof text - used, "%u", (unsigned)frames[i].line);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%c", frames[i].module[0] ? frames[i].module[0] : 'x');
    return text;
}

static void test_native(void)
{
    tap_text(kept("obp"), "bp", "the first is stacks_here's own");
    tap_text(kept("ooobp"), "bp", "this library's are left out");
    tap_text(kept(""), "", "a stack that cannot be unwound");
    tap_text(kept("oo"), "", "one that has no others");
    tap_text(kept("obpcce"), "bp", "the callers of main are omitted");
    tap_text(kept("obcpce"), "blp", "and the C library's that the program calls is not");
    tap_text(kept("obxb"), "bxb", "code of no file");
    tap_text(kept("obbbbbbpcce"), "bbbbbbp", "it takes no room");
    tap_text(kept("obbbbbbbpcce"), "bbbbbbbp", "also behind a full stack");
    tap_text(kept("obbbbbbccp"), "bbbbbbll", "unless the program called it");
}

static void test_python(void)
{
    expectation = PYTHON_UNKNOWN;
    tap_text(kept("obi2bi1cce"), "b12b3", "frames of Python stand for the interpreter's");
    tap_text(kept("obi0p"), "bp", "which may have none");
    tap_text(kept("obxi9bp"), "bx123456", "they end where the room does");
    tap_text(kept("obbbbbbbbi9p"), "bbbb1234", "native frames leave half of the room");
    tap_text(kept("obbbbbi9p"), "bbbb1234", "also before they have taken it all");
    tap_text(kept("obi1bbbbbbbbi1p"), "b1bbbbbb", "once there are some, the nearest are kept");
    tap_text(kept("obbbbbbbbp"), "bbbbbbbb", "without an interpreter they have it all");
    tap_text(kept("obbbbbbbbi9p"), "bbbbbbbb", "and a known stack is not searched for one");
    expectation = PYTHON_HERE;
    tap_text(kept("obbbbbbbbi9p"), "bbbb1234", "unless there was one in this process");
    expectation = PYTHON_NOT_HERE;
    tap_text(kept("oppppppppi9p"), "pppppppp", "nothing is searched for one that cannot be there");
}

static void test_limits(void)
{
    static char endless[2000];
    memset(endless, 'b', sizeof endless - 1);
    endless[0] = 'o';
    expectation = PYTHON_HERE;
    tap_text(kept(endless), "bbbbbbbb", "a stack without an end");
    tap_ok(script - endless > 500 && script - endless < 600, "of which %d frames are searched", (int)(script - endless));
    expectation = PYTHON_NOT_HERE;
    tap_text(kept("opb"), "p", "a module whose name is lost ends what is read");
    tap_text(stacks_note(), "of an unknown version", "the interpreter's note");
}

int main(void)
{
    stacks_set(STACKS_SHORT);
    test_native();
    test_python();
    test_limits();
    return tap_done();
}
