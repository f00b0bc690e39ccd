#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# answers_table_test.sh: every entry point of libcuda.so.1 that takes a memory address is tested by
# conformance/recorded/facts/answers/calls.def, or is listed there with the reason why not, or with the recording
# program that tests it instead. TAP.
set -u
facts=conformance/recorded/facts
calls=$facts/answers/calls.def
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk -F'[(), ]+' '$1 == "VMM_ENTRY" && $6 == "DONE" { print $2 }' api/entries.def | sort -u >"$work/there"

# Names of functions whose prototype has an address: a CUdeviceptr, or a void pointer that is no output of the call. cuda.h has
# prototypes for recording programs too, of functions that libcuda.so.1 lacks.
cc -E -P -Iapi -include stddef.h api/abi/cuda.h | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*CUresult *\(cu[A-Za-z0-9_]*\)(\(.*\)) *$/\1 \2/p' |
    awk '{ text = $0; gsub(/CUdeviceptr *\*/, "", text); gsub(/void *\*\*/, "", text)
           if (text ~ /CUdeviceptr|void *\*|CUDA_MEMCPY2D/) print $1 }' | sort -u |
    comm -12 - "$work/there" >"$work/takes"
sed -n 's/^[A-Z]*("\([A-Za-z0-9_]*\) .*/\1/p
        s/^NOT_ASKED(\([A-Za-z0-9_]*\), ".*")$/\1/p
        s/^ASKED_BY(\([A-Za-z0-9_]*\), ".*")$/\1/p' "$calls" | sort -u >"$work/asked"
comm -23 "$work/takes" "$work/asked" >"$work/missing"
sed 's/^/# not asked: /' "$work/missing"
count=$(wc -l <"$work/takes")
[ "$count" -gt 40 ] && [ ! -s "$work/missing" ] && status=0 || status=1
[ "$status" = 0 ] || printf 'not '
echo "ok 1 - the $count entry points that take an address are asked about"

# An unknown name would never be recorded.
comm -23 "$work/asked" "$work/there" | grep -v '^kernel$' >"$work/unknown"
sed 's/^/# no entry point: /' "$work/unknown"
[ ! -s "$work/unknown" ] && other=0 || other=1
[ "$other" = 0 ] || printf 'not '
echo "ok 2 - every name in the table is an entry point's"

# The program named calls it, under the name of the header or that of the library.
sed -n 's/^ASKED_BY(\([A-Za-z0-9_]*\), "\(.*\)")$/\1 \2/p' "$calls" >"$work/elsewhere"
while read -r name program; do
    grep -rqw -e "$name" -e "${name%_v2}" "$facts/$program.c" "$facts/$program" || echo "$name $program"
done <"$work/elsewhere" >"$work/silent"
sed 's/^\(.*\) \(.*\)$/# \2.c does not call \1/' "$work/silent"
[ -s "$work/elsewhere" ] && [ ! -s "$work/silent" ] && silent=0 || silent=1
[ "$silent" = 0 ] || printf 'not '
echo "ok 3 - what other recording programs are said to ask about, they call"
echo 1..3
exit $((status + other + silent))
