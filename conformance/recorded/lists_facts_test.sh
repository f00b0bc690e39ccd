#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What one H200 answered to group J of the recording program arrays.c and to group H of managed.c, asked of this project's libcuda.so.1.
. ci/test_head.sh
own_system
without_sanitizer

facts=conformance/recorded/facts

# Lines of a group, in the order of the program.
asked() {
    "${CC-cc}" -std=c11 -O0 -isystem api/abi -o "$work/$1" "$facts/$1.c" -L"$build/lib" -lcuda -ldl -pthread &&
        LD_LIBRARY_PATH=$build/lib CUVMM_SIM=sim:h200 "$work/$1" "$2" | grep "^$2\\."
}
recorded() { grep '^[A-Z]\.' "$facts/h200-580.159.04-$1.tsv"; }

asked managed H >"$work/here"
recorded managed-pages >"$work/there"
diff "$work/there" "$work/here" >"$said" 2>&1
ok $? "advice, prefetches and attributes of pages"
ok "$((!($(wc -l <"$work/there") > 20)))" "they are compared"

# A driver takes the size of a mip tail from the first element of its list, so that a later element of another size does nothing.
asked arrays J >"$work/here"
recorded arrays-lists >"$work/there"
diff "$work/there" "$work/here" | grep '^<' | grep -v 'map m:[^ ]*/[^ ]*k=1' >"$said" 2>&1
ok "$((!$?))" "lists of tiles, sizes of mip tails and memory of layers, but for mip tails behind other elements"
ok "$((!($(diff "$work/there" "$work/here" | grep -c '^<') == 107)))" "of which 107 are other answers"
finish
