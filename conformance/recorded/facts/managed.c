/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: managed memory, what is advised and attached about it, and the same calls with memory of other kinds.
 *
 * Prints "id<TAB>result" lines as edges.c does; an id is the calls themselves (script/ask.c, managed/words.c), and they are tables:
 * managed/cases.def. A line has the streams, memory and contexts that it names (managed/things.c): at most 16 MiB of managed memory.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include managed.c -o managed -lcuda -ldl -lpthread
 * Use:   script/run.c. words: what the driver's error log says, as comments before the answers
 */
#include "recorder.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "script/ask.c"
#include "script/gate.c"
#include "script/ledger.c"
#include "script/lines.c"
#include "script/things.c"
#include "script/words.c"

#include "managed/things.c"
#include "managed/words.c"

#include "script/run.c"

static void add_table(void)
{
#define GROUP(name) adding_group = name;
#define CASE(text) adding_source++, add(text);
#define FORBIDDEN(setting, text) adding_source++, forbidden(setting, text);
#define ZEROS(text) adding_source++, zeros("", text);
#include "managed/cases.def"
    GROUP("Y")
#include "managed/zeros.def"
    GROUP("B")
#include "managed/zeros.def"
}

int main(int argc, char **argv)
{
    return run_program("managed.c", argc, argv);
}
