#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recording program on this project's libcuda.so.1: what it writes down is what an H100 and an H200 answered, except for what `differs` names.
. ci/test_head.sh
own_system
without_sanitizer

recorded=conformance/recorded/ptx/h100-580.159.04

# What is known to be otherwise here: texts of logs are the simulator's own; a call of 0 hangs a device; blocks of a cluster would lie
# 16 MiB behind a block's shared memory; a module loads beside a lost device, and from bytes that are no image; instructions are not
# refused by .version and .target; the compiler folds NaNs otherwise than the device computes them; where windows lie; which thread of
# a race wrote last.
differs='end call of 0|end shared atomic behind|end shared far behind|function .*|load (empty|no version|newer than the version)'
differs+='|words (NaN of f32|NaN of f64|addresses of shared variables|special registers)'
# Nothing at all is INVALID_IMAGE for a driver's linker.
differs+='|link empty'

# Of a load and of a link the codes, without the log.
plain() { LC_ALL=C sed -E '/^(load|link) /s/^([^\t]*\t[^\t]*).*/\1/' "$1" | grep -vE "^($differs)	" | LC_ALL=C sort; }

PTX_OUT=$work PTX_SECONDS=100 LD_LIBRARY_PATH=$build/lib CUVMM_SIM=sim:h100 "$build/bin/ptx-record" 0 >"$said" 2>&1
plain "$work/facts.tsv" >"$work/here"
# Links and the reserved shared memory are an H200's answers.
cat "$recorded-facts.tsv" conformance/recorded/ptx/h200-580.159.04-facts.tsv >"$work/recorded.tsv"
plain "$work/recorded.tsv" >"$work/there"
diff "$work/there" "$work/here" >"$said" 2>&1
ok $? "codes of loads and faults, special registers, division by zero, what printf answers"
ok "$((!($(wc -l <"$work/there") > 60)))" "they are compared"
# Two lines end in what lay behind a missing argument.
known() { grep -avE '^\[(8|16)\]' "$1"; }
diff <(known "$recorded-printf.txt") <(known "$work/printf.txt") >"$said" 2>&1
ok $? "what printf prints"
finish
