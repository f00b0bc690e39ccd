#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal of 80 columns nothing that the command writes is wider, but lines of the script itself, commands to be copied and words
# that cannot be broken. A terminal takes colours, unless NO_COLOR is set; a file gets none. From make check: CUVMM_BUILD.
. ci/test_head.sh
cuvmm=$build/bin/cuvmm
export COLUMNS=80
unset NO_COLOR

# What is wider, of the lines on standard input: the script's are those behind "> ", commands those of cuvmm, and a line without a
# blank behind its indentation is one word.
wider() {
    awk 'length > 80 && !/^> / && !/^ *(cuvmm|CUVMM_[A-Z]*=) / && !/^ *\|? *[^ ]*;?$/ && !/^  bytes /'
}

wide=''
for script in conformance/corpus/demo/*.vmm conformance/corpus/scripts/{aliases,batches,boxes,fabric,graphs,memops,multicast,queries}.vmm; do
    wide+=$("$cuvmm" run "$script" 2>/dev/null | wider | sed "s|^|$script: |")
done
result "$([ -z "$wide" ]; echo $?)" 'run' "$wide"
wide=$(for lesson in 1 2 5 7 9 14; do "$cuvmm" lesson $lesson --all </dev/null; done 2>/dev/null | wider)
result "$([ -z "$wide" ]; echo $?)" 'lesson' "$wide"
wide=$("$cuvmm" lesson 1 --page | awk '/^```/ { block = !block } !block' | wider)
result "$([ -z "$wide" ]; echo $?)" 'the page of a lesson' "$wide"
wide=$({ "$cuvmm" rules; "$cuvmm" profiles; "$cuvmm" explain VMM-MAP-OVERLAP; "$cuvmm" explain INVALID_VALUE; "$cuvmm" lesson; "$cuvmm" help check; } | wider)
result "$([ -z "$wide" ]; echo $?)" 'rules, profiles, explain, lesson, help' "$wide"
wide=$(printf 'help\nhelp pools\nhelp all\ninit\nr = reserve 4gran\nfill r 64 1\n' | "$cuvmm" shell 2>&1 | wider)
result "$([ -z "$wide" ]; echo $?)" 'shell' "$wide"
unset COLUMNS
"$cuvmm" run conformance/corpus/scripts/graphs.vmm 2>/dev/null | grep -q '^  cu.\{110,\}'
result $? 'in a file a call has one line, however long' ''

escapes() { grep -c $'\033\[' <"$work/typed" || true; }
if script --version >/dev/null 2>&1; then
    script -qc "stty cols 70; $cuvmm run conformance/corpus/demo/06-mistake-size.vmm; $cuvmm explain VMM-MAP-OVERLAP" /dev/null >"$work/typed" </dev/null
    result "$([ "$(escapes)" -gt 20 ]; echo $?)" 'a terminal takes colours' "$(escapes)"
    wide=$(sed 's/\x1b\[[0-9;]*m//g; s/\r$//' "$work/typed" | awk 'length > 70 && !/^> /')
    result "$([ -z "$wide" ]; echo $?)" 'and limits the width' "$wide"
    NO_COLOR=1 script -qc "$cuvmm run conformance/corpus/demo/06-mistake-size.vmm; $cuvmm explain VMM-MAP-OVERLAP" /dev/null >"$work/typed" </dev/null
    result "$([ "$(escapes)" = 0 ]; echo $?)" 'not where NO_COLOR is set' "$(escapes)"
else
    skip 'colours on a terminal' 'needs script of util-linux'
fi
"$cuvmm" explain VMM-MAP-OVERLAP >"$work/typed"
result "$([ "$(escapes)" = 0 ]; echo $?)" 'and not in a file' "$(escapes)"
finish
