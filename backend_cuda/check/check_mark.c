/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm_mark, cuvmm_phase, cuvmm_held: phases of the program (api/cuvmm_mark.h). */
#include "check.h"
#include "findings_stream.h"
#include "growth_check.h"
#include "held.h"
#include "marks.h"

#pragma GCC visibility push(default)
int cuvmm_mark(const char *text);
unsigned long long cuvmm_phase(const char *text);
long long cuvmm_held(unsigned long long after, unsigned long long upto);
#pragma GCC visibility pop

int cuvmm_mark(const char *text)
{
    vmm_system *sys;
    if (!check_hold(&sys))
        return 0;
    growth_check_mark(sys, text, check_report, NULL);
    check_unhold();
    return 1;
}

unsigned long long cuvmm_phase(const char *text)
{
    vmm_system *sys;
    if (!check_hold(&sys))
        return 0;
    if (text)
        marks_begin_phase(text);
    uint64_t calls = held_calls(sys);
    check_unhold();
    return calls;
}

long long cuvmm_held(unsigned long long after, unsigned long long upto)
{
    vmm_system *sys;
    if (!check_hold(&sys))
        return -1;
    uint64_t count = sys ? held_report(sys, after, upto, check_report, NULL) : 0;
    findings_close_stream(); /* the leaks shared a connection, which must not stay open in the program */
    check_unhold();
    return (long long)count;
}

check_function check_mark(void)
{
    return (check_function)cuvmm_mark;
}
