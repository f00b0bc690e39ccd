/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: arrays, sparse arrays and what maps them (cuMemMapArrayAsync).
 *
 * Prints "id<TAB>result" lines as edges.c does; an id is the calls themselves (script/ask.c, arrays/words.c), and they are tables:
 * arrays/cases.def. A line has the streams, arrays, memory and contexts that it names (`things`).
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include arrays.c -o arrays -lcuda -ldl -lpthread
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
#include "script/shapes.c"
#include "script/things.c"
#include "script/words.c"

#include "arrays/words.c"
#include "arrays/things.c"

#include "script/run.c"

static void add_table(void)
{
#define GROUP(name) adding_group = name, adding_alone = false;
#define ALONE adding_alone = true;
#define CASE(text) adding_source++, add(text);
#define FORBIDDEN(setting, text) adding_source++, forbidden(setting, text);
#define ZEROS(text) adding_source++, zeros("", text);
#include "arrays/cases.def"
    GROUP("Y")
#include "arrays/zeros.def"
    GROUP("B")
#include "arrays/zeros.def"
}

int main(int argc, char **argv)
{
    return run_program("arrays.c", argc, argv);
}
