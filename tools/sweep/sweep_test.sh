#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cuvmm exec --fault=each`: what each program of conformance/programs/sweep does when a call fails is found at its place, and nothing at any
# other; the command that is printed shows it again; the same report for any number of jobs; nothing is left. All waits are bounded.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
trap 'rm -rf "$work" "$machines"' EXIT
machines=$(in_memory "$work")
said=$work/out
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_EXPLAIN CUVMM_MACHINE LD_LIBRARY_PATH LD_PRELOAD
mkdir "$work/tmp"
export CUVMM_MACHINES=$machines TMPDIR=$work/tmp
cuvmm=$build/bin/cuvmm
program=$work/program

sweep() { # sweep STATUS ARGUMENT...: the report in out, messages in err
    local want=$1
    shift
    timeout 60 "$cuvmm" exec "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$want" ]
}
says() { contains "$1" "$work/out" "$work/err"; }
# finds CLASS CALL [DETAIL]: one line of that class, of that call; all other sites are recovered
finds() {
    [ "$(grep -vc '^recovered \|^cuvmm exec:' "$work/out")" = 1 ] && grep -qE "^$1 +$2 by [a-z]+ \(program\+0x[0-9a-f]+(, program.c:[0-9]+)?\).*${3-}" "$work/out"
}
again() { sed -n 's/.*; again: //p' "$work/out"; }
nothing_left() { [ -z "$(ls "$machines")$(ls "$work/tmp")" ]; }

"${CC-cc}" -std=gnu11 -Wall -Wextra -Werror -O0 -g -isystem api/abi conformance/programs/sweep/program.c -o "$program" -L"$build/lib" -lcuda \
    -lpthread 2>"$work/out"
ok $? 'the programs compile'

sweep 0 --fault=each "$program" careful && [ "$(grep -c '^recovered ' "$work/out")" = 10 ] && says '10 call sites, 16 calls, 16 runs: 10 recovered'
ok $? 'a program that takes every failure well is recovered everywhere'
cp "$work/out" "$work/one"
sweep 0 --fault=each --jobs=8 "$program" careful && cmp "$work/one" "$work/out"
ok $? 'eight jobs report the same in the same order'
if nm -D --undefined-only "$cuvmm" 2>/dev/null | grep -q dwfl_; then
    grep -qE '^recovered +cuMemMap by grow \(program\+0x[0-9a-f]+, program.c:[0-9]+\), 3 runs$' "$work/out"
    ok $? 'a site is named by function, file and line'
    "${CC-cc}" -std=gnu11 -O0 -g -no-pie -isystem api/abi conformance/programs/sweep/program.c -o "$work/fixed" -L"$build/lib" -lcuda -lpthread \
        2>"$work/out" && sweep 0 --fault=each:mem_map "$work/fixed" careful &&
        grep -qE '^recovered +cuMemMap by grow \(fixed\+0x[0-9a-f]+, program.c:[0-9]+\), 3 runs$' "$work/out"
    ok $? 'also one of a program at fixed addresses'
else
    skip 'a site is named by function, file and line' 'built without libdw'
fi
nothing_left
ok $? 'no machine and no file is left'

# What each mistake is, and what the printed command shows: STATUS and TEXT.
while IFS='|' read -r name class call detail status text; do
    sweep 1 --fault=each --timeout=1 --jobs=3 "$program" "$name" && finds "$class" "$call" "$detail" && says "9 recovered, 1 $class"
    ok $? "$name: $class at $call"
    command=$(again)
    [ "$class" = hung ] || { (cd "$work" && eval "timeout 30 ${command/#cuvmm/$cuvmm}") >"$work/out" 2>&1; [ $? = "$status" ] && { [ -z "$text" ] || says "$text"; }; }
    ok $? "and again: ${command//$work/.}"
done <<'END'
leaks|leaked|cuMemMap|3 runs: 1 leak; |0|VMM-LEAK-HANDLE
crashes|crashed|cuMemSetAccess|3 runs: signal 11|139|
exits|wrong exit|cuMemAddressReserve|1 run: status 3; |3|
hangs|hung|cuMemcpyDtoH|1 run: killed after 1 s; ||
END
sweep 1 --fault=each --jobs=3 "$program" unchecked && grep -qE '^misused +cuMemMap by grow .*3 runs: 3 broken rules; ' "$work/out" &&
    grep -qE '^misused +cuMemSetAccess by allow .*1 of 3 runs: 1 broken rule; ' "$work/out" && says '8 recovered, 2 misused'
ok $? 'an unchecked result: rules are broken later, though the program ends well'
command=$(again | head -n 1)
eval "${command/#cuvmm/$cuvmm}" >"$work/out" 2>&1 && says 'made to fail' && says 'VMM-ACCESS'
ok $? "and again: ${command//$work/.}"

sweep 1 --fault=each --jobs=8 "$program" forks && finds 'wrong exit' cuMemSetAccess '3 of 9 runs: status 5; ' && says '10 call sites, 48 calls, 48 runs'
ok $? 'a program that forks: each of its processes'
command=$(again)
[[ $command = *process=2* ]] && { eval "timeout 30 ${command/#cuvmm/$cuvmm}" >"$work/out" 2>&1; [ $? = 5 ]; }
ok $? 'the command is for the one process that does not take it well'
sweep 125 --fault=mem_map:1:process=0 "$program" careful && says 'process=0'
ok $? 'a process that there is not'

sweep 0 --fault=each --most=12 --seed=7 --jobs=8 "$program" many 10 && says '12 of 10003 calls were tried, chosen with --seed=7' &&
    says '1003 call sites, 10003 calls, 12 runs: 991 not run, 12 recovered'
ok $? 'some of 10,000 calls at 1,000 places'
sweep 0 --fault=each --most=8 --seed=7 "$program" many 1 && cp "$work/out" "$work/one" && sweep 0 --fault=each --most=8 --seed=7 --jobs=8 "$program" many 1 &&
    cmp "$work/one" "$work/out" && sweep 0 --fault=each --most=8 --seed=8 --jobs=8 "$program" many 1 && ! cmp -s "$work/one" "$work/out"
ok $? 'the seed decides which'
echo 0 >"$work/count"
sweep 1 --fault=each:init "$program" varies "$work/count" && says 'behaves differently from run to run, also where nothing fails'
ok $? 'a program that takes another way each time is named'
echo 0 >"$work/count"
sweep 1 --fault=each:mem_get_info "$program" wanders "$work/count" && finds varied cuMemGetInfo '1 run: another call failed than was meant; ' &&
    says 'behaves differently from run to run: in some, another call failed than was meant'
ok $? 'so is one that does so only when it is tried'
sweep 0 --fault=each --jobs=4 "$program" threads && says '10 call sites, 32 calls, 32 runs'
ok $? 'one of two threads'

sweep 0 --fault=each:mem_unmap:UNKNOWN "$program" careful && says '1 call site, 3 calls, 3 runs: 1 recovered' && ! says 'left out'
ok $? 'calls of a kind, even of those that give back, with a result of choice'
sweep 0 --fault=each --accept=9 "$program" fails && says '10 recovered'
ok $? 'another status that is good'
sweep 0 --fault=each:mem_map --machine='trace=/dev/null|sim:h200x2' "$program" careful && says '1 recovered'
ok $? 'on a machine with layers of its own'
CUVMM_LAYERS=fault=mem_create:2 sweep 0 --fault=each:mem_create "$program" careful && says '2 calls, 2 runs'
ok $? 'and with those of the environment'

if "$cuvmm" exec --fault=each:init --json "$program" careful >"$work/out" 2>"$work/err"; then
    grep -q '"again": "cuvmm exec --fault=init:1 -- ' "$work/out" && sweep 1 --fault=each --json "$program" leaks &&
        { ! command -v python3 >/dev/null || python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
bad = [site for site in report["sites"] if site["class"] != "recovered"]
assert report["sum"]["leaked"] == 1 and report["runs"] == 16 and not report["differs"] and report["seed"] == 1
assert [(site["call"], site["kind"], site["calls"], len(site["runs"])) for site in bad] == [("cuMemMap", "mem_map", 3, 3)]
assert all(run["leaks"] == 1 and run["status"] == 0 for run in bad[0]["runs"])' "$work/out"; }
    ok $? 'the same as JSON'
else
    skip 'the same as JSON' "$(cat "$work/err")"
fi

# Address sanitizer's own words are told: a piece that is used after it was given back, on the way out of a failure.
sed 's/raise(SIGSEGV);/{ char *gone = malloc(8); free(gone); *(volatile char *)gone = 1; }/' conformance/programs/sweep/program.c >"$work/program.c"
if "${CC-cc}" -std=gnu11 -w -g -fsanitize=address -isystem api/abi "$work/program.c" -o "$work/asan" -L"$build/lib" -lcuda -lpthread 2>/dev/null; then
    export ASAN_OPTIONS=detect_leaks=0
    sweep 0 --fault=each --jobs=4 "$work/asan" careful
    ok $? 'with AddressSanitizer: careful'
    sweep 1 --fault=each:mem_set_access --jobs=4 "$work/asan" crashes && says '3 runs: status 1, "==' && says 'ABORTING"; again'
    ok $? 'and its finding on a path that only a failure takes'
    unset ASAN_OPTIONS
fi

# Nothing to try.
sweep 125 --fault=each "$program" fails && says "the program's status is 9 also without a failure: no good; --accept=9 takes that for good"
ok $? 'a program that is not well'
sweep 125 --fault=each --timeout=0.3 "$program" endless && says 'without a failure the program takes more than 0.3 s; --timeout'
ok $? 'one that does not end'
# shellcheck disable=SC2016 # the inner shell's own
sweep 125 --fault=each sh -c 'kill -SEGV $$' && says 'signal 11 ends the program also without a failure'
ok $? 'one that crashes'
sweep 125 --fault=each "$program" idle && says 'no call of the driver was seen' && sweep 125 --fault=each:mem_pool_create "$program" careful &&
    says 'makes no such call'
ok $? 'one without calls, or without those'
sweep 125 --fault=each:mem_mup "$program" careful && says 'mem_mup' && sweep 125 --fault=each:mem_map:GOOD "$program" careful && says '"GOOD"' &&
    sweep 127 --fault=each /no/such/program
ok $? 'calls, results and programs that there are not'
for wrong in --jobs=0 --jobs=x --timeout=0 --most=0 --seed=-1 --accept=256 --trace=x --explain --print-env; do
    sweep 2 --fault=each "$wrong" "$program" careful && says 'cuvmm help exec'
    ok $? "$wrong is refused"
done
sweep 2 --jobs=2 "$program" careful && says '--jobs is for many runs: --fault=each'
ok $? 'and so is what is for many runs alone'
sweep 125 --fault=each --jobs=2 --machine=sim:h100,machine=mine "$program" careful && says 'leave machine= out'
ok $? 'one machine for several jobs'
TMPDIR=/no/such/folder sweep 125 --fault=each "$program" careful && says 'no files for the counts in TMPDIR, /dev/shm or /tmp: No such file'
ok $? 'no place for the counts'

# A signal ends the command and all that it has started.
mkfifo "$work/fifo"
# shellcheck disable=SC2016
timeout 30 "$cuvmm" exec --fault=each --timeout=25 sh -c 'echo $$ >"$0"; exec "$1" endless' "$work/fifo" "$program" 2>"$work/err" &
timeout=$!
read -r -t 20 inner <>"$work/fifo"
command=$(sed 's/.*) . \([0-9]*\).*/\1/' "/proc/$inner/stat")
kill -TERM "$command"
wait "$timeout"
[ $? = 143 ] && ! kill -0 "$inner" 2>/dev/null && nothing_left
ok $? 'SIGTERM ends the runs, and nothing is left'
nothing_left
ok $? 'nor of all the others'
finish
