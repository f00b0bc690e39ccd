#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The machine-readable and filtered output of `cuvmm check`: JSON by its schema, SARIF, JUnit, annotations,
# suppressions, and a log for each process. CUVMM_SARIF_SCHEMA names the schema of OASIS, where there is one.
. ci/test_head.sh
own_system
build=$(cd "$build" && pwd)
without_sanitizer
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_KERNELS CUVMM_CHECK CUVMM_CHECK_LOG CUVMM_CHECK_STREAM CUVMM_EXPLAIN GITHUB_WORKSPACE
check=$build/bin/cuvmm
said=$work/err
"${CC-cc}" -std=c11 -Wall -Wextra -O1 -g -isystem api/abi conformance/programs/check/*.c -o "$work/programs" -L"$build/lib" -lcuda -ldl -lpthread 2>"$said"
ok $? "the programs compile"
export LD_LIBRARY_PATH=$build/lib

run() { # run STATUS ARGUMENT...
    local want=$1
    shift
    timeout 120 "$check" check "$@" >"$work/out" 2>"$said" </dev/null
    [ $? = "$want" ]
}
says() {
    contains "$1" "$said"
}

# query FILE EXPRESSION: is it true of the JSON in the file, d?
query() {
    python3 -c 'import json, sys
with open(sys.argv[1]) as f: d = json.load(f)
sys.exit(not eval(sys.argv[2]))' "$@" 2>>"$said"
}
# judge FOLDER...: writes FOLDER/judged, a line "ok" or "not ok" for each property of its json, sarif and junit; the
# file rules has the text report's rules.
cat >"$work/judge.py" <<'END'
import json, os, sys, xml.etree.ElementTree as tree
try:
    from jsonschema import validators
except ImportError:
    validators = None
def load(name):
    with open(name) as f: return json.load(f)
def errors(document, schema):
    kind = validators.validator_for(schema); kind.check_schema(schema)
    return [f"{list(e.path)}: {e.message[:200]}" for e in kind(schema).iter_errors(document)]
def judge(folder, out):
    def point(good, name): print("ok" if good else "not ok", "-", name, file=out)
    rules = open(folder + "/rules").read().split()
    report, sarif, suite = load(folder + "/json"), load(folder + "/sarif"), tree.parse(folder + "/junit").getroot()[0]
    run = sarif["runs"][0]
    named = [run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] for r in run["results"]]
    point(report["checked"] and sorted(f["rule"] for f in report["findings"]) == rules, "the JSON has the rules of the text")
    point(sarif["version"] == "2.1.0" and sorted(named) == rules and named == [r["ruleId"] for r in run["results"]] and
          all(r["message"]["text"] and r["level"] in ("error", "warning", "note") for r in run["results"]), "so does the SARIF")
    failed = [c.get("classname")[6:] for c in suite if c.find("failure") is not None]
    point(int(suite.get("tests")) == len(suite) and int(suite.get("failures")) == len(failed) and
          sorted(failed) == [r for r in rules if not r.startswith("VMM-RESERVE-HINT")], "JUnit has a failed test for each, but for notes")
    if not validators:
        print("skip - the JSON is as its schema says", file=out)
        return
    bad = errors(report, load("tools/checker/check-report.schema.json"))
    point(not bad, "the JSON is as its schema says " + "; ".join(bad))
    broken = dict(report); del broken["findings"]
    point(errors(broken, load("tools/checker/check-report.schema.json")), "which would say otherwise")
    if os.environ.get("CUVMM_SARIF_SCHEMA"):
        bad = errors(sarif, load(os.environ["CUVMM_SARIF_SCHEMA"]))
        point(not bad, "the SARIF is as its schema says " + "; ".join(bad))
for folder in sys.argv[1:]:
    with open(folder + "/judged", "w") as out:
        try:
            judge(folder, out)
            print("done", file=out)
        except Exception as failure:
            print(folder, repr(failure), file=sys.stderr)
END

# ---- JSON, SARIF, JUnit ----
if ! command -v python3 >/dev/null; then
    skip "JSON and SARIF" "no python3"
else
    for side in driver sim:h100,schedule=late; do
        for program in map_twice leaks_mapping unmap_copied right_hint then_crashes; do
            want=0
            [ "${program#then}" = "$program" ] || want=139
            one=$work/${side%%:*}.$program
            mkdir "$one"
            run $want --backend="$side" --json="$one/json" --sarif="$one/sarif" --junit="$one/junit" "$work/programs" "$program"
            ok $? "$side, $program runs"
            grep -oE '^\[[0-9]+\] [a-z]+ VMM-[A-Z0-9-]+' "$said" | awk '{print $3}' | LC_ALL=C sort >"$one/rules"
        done
    done
    python3 "$work/judge.py" "$work"/{driver,sim}.* 2>"$said"
    for side in driver sim:h100,schedule=late; do
        for program in map_twice leaks_mapping unmap_copied right_hint then_crashes; do
            judged=$work/${side%%:*}.$program/judged
            [ "$(tail -n 1 "$judged")" = 'done' ]
            ok $? "$side, $program: they can be read"
            while read -r status name; do
                case $status in
                done) ;;
                skip) skip "$side, $program: ${name#- }" "no python3-jsonschema" ;;
                *) [ "$status" = ok ]; ok $? "$side, $program: ${name#ok }" ;;
                esac
            done < <(sed 's/^not ok - /bad /; s/^\(ok\|skip\) - /\1 /' "$judged")
        done
    done
    run 0 --backend=driver --json="$work/json" "$work/programs" in_threads && query "$work/json" "d['sum']['errors'] == {'findings': 1, 'times': 200} and d['findings'][0]['times'] == 200"
    ok $? "JSON has the counts"
    run 0 --backend=driver --json="$work/json" sh -c "$work/programs map_twice; $work/programs map_twice" &&
        query "$work/json" "[p['times'] for p in d['findings'][0]['processes']] == [1, 1] and len(d['processes']) == 2 and all(p['ended'] for p in d['processes'])"
    ok $? "and those of each process"
    run 125 --backend=driver --json="$work/json" --sarif="$work/sarif" --junit="$work/junit" --github true && query "$work/json" "not d['checked'] and 'no call of the driver' in d['summary']" &&
        query "$work/sarif" "not d['runs'][0]['invocations'][0]['executionSuccessful']" && grep -q '<error message="nothing was checked' "$work/junit" &&
        grep -qF '::error title=cuvmm check::nothing was checked: no call of the driver was seen' "$work/out"
    ok $? "where nothing was checked, no form passes"
    # Words that every format must escape.
    mkdir "$work/a\"<&>%é"$'\xff' && cp "$work/programs" "$work/a\"<&>%é"$'\xff'"/p"
    run 0 --backend=driver --json="$work/json" --sarif="$work/sarif" --junit="$work/junit" "$work/a\"<&>%é"$'\xff'"/p" map_twice && query "$work/json" "chr(0xfffd) in d['command'][0] and 'é' in d['processes'][0]['program']" &&
        query "$work/sarif" "d['runs'][0]['results']" && python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$work/junit" 2>>"$said"
    ok $? "paths of any bytes"
fi
run 0 --backend=driver --github "$work/programs" map_twice && [ "$(grep -c '^::' "$work/out")" = 1 ] && grep -q '^::error .*title=VMM-MAP-OVERLAP::cuMemMap: .*%0AFix: ' "$work/out"
ok $? "an annotation"
for form in json sarif junit; do
    run 2 --backend=driver --$form="$work/no/such" sh -c "touch $work/started" && says "--$form $work/no/such: No such file" && [ ! -e "$work/started" ]
    ok $? "--$form to a file that cannot be: nothing is started"
    [ ! -e /dev/full ] || { run 2 --backend=driver --$form=/dev/full "$work/programs" map_twice && says "--$form: the file is incomplete"; }
    ok $? "--$form to a full disk is not a success"
done

# ---- live ----
cat >"$work/phases.c" <<'END'
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

int main(void)
{
    unsigned long long (*phase)(const char *), first[4];
    long long (*held)(unsigned long long, unsigned long long), left[3];
    CUdeviceptr at;
    CUcontext context;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    void *found[] = {dlsym(RTLD_DEFAULT, "cuvmm_phase"), dlsym(RTLD_DEFAULT, "cuvmm_held")};
    memcpy(&phase, &found[0], sizeof phase);
    memcpy(&held, &found[1], sizeof held);
    if (!phase || !held)
        return 3;
    unsigned long long none = phase("before the first call");
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 4;
    for (int round = 0; round < 3; round++) {
        first[round] = phase(round ? "second" : "first");
        for (int i = 0; i < 2; i++)
            cuMemFree(1); /* in each phase, and once in each */
        if (cuMemCreate(&handle, 2 << 20, &prop, 0) || cuMemAlloc(&at, 1 << 20) || cuMemFree(at))
            return 5;
        first[round + 1] = phase(NULL);
        left[round] = held(first[round], first[round + 1]);
    }
    return none == 0 && first[1] > first[0] && left[0] == 1 && left[2] == 1 && held(first[3], first[3]) == 0 ? 0 : 6;
}
END
"${CC-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -O0 -g -isystem api/abi "$work/phases.c" -o "$work/phases" -L"$build/lib" -lcuda -ldl 2>"$said"
ok $? "a runner of tests compiles"
for side in driver sim:h100; do
    run 0 --backend="$side" --live="$work/live" --error-exitcode=9 "$work/phases" && [ ! -s "$said" ]
    ok $? "$side: a program that is watched live has its own status, and nothing is written beside it"
    [ "$(grep -c '"rule":"VMM-ALLOC-FREE-UNKNOWN"' "$work/live")" = 3 ] && [ "$(grep -c '"class":"leak","rule":"VMM-LEAK-HANDLE"' "$work/live")" -ge 3 ]
    ok $? "$side: what comes again in another phase is another finding, and leaks of a phase are told"
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys
for line in open(sys.argv[1]): d = json.loads(line); assert d["what"] and d["stack"] and d["processes"][0]["times"] == 1' "$work/live" 2>>"$said"
        ok $? "$side: each line is a finding"
    fi
done
run 0 --backend=sim:h100 --live="$work/live" true
ok $? "one that calls no driver has its own status as well"
run 139 --backend=sim:h100 --live="$work/live" "$work/programs" then_crashes && says 'was ended by signal 11' && grep -q '"class":"error"' "$work/live"
ok $? "a crash is told, and what was found before is in the file"
run 2 --backend=sim:h100 --live="$work/no/such" sh -c "touch $work/started" && says "--live $work/no/such: No such file" && [ ! -e "$work/started" ]
ok $? "--live to a file that cannot be: nothing is started"
run 5 --backend=sim:h100 --fault=mem_alloc:1 "$work/phases" && says '1 error (2 times)'
ok $? "a call fails on request, which is no finding"
run 2 --backend=driver --fault=mem_alloc:1 "$work/phases" && says 'only on the simulator'
ok $? "but not on a driver"

# ---- suppressions ----
cat >"$work/known" <<'END'
# known
{
   the second map
   VMM-MAP-OVERLAP
   fun:run_map_*
   ...
   fun:main
}
{
   never
   VMM-LEAK-*
   fun:nowhere
}
END
run 0 --backend=driver --error-exitcode=9 --suppressions="$work/known" --json="$work/json" --junit="$work/junit" "$work/programs" map_twice && ! says VMM-MAP && says '0 errors, 0 hazards, 0 leaks; 1 suppressed (driver)'
ok $? "a finding that is suppressed is neither written nor counted"
says "cuvmm check: the suppression \"never\" ($work/known:9) matched nothing" && ! says '"the second map"'
ok $? "a suppression that matched nothing is named"
grep -q '"suppressed":"the second map"' "$work/json" && grep -q '"used":1}' "$work/json" && grep -q '<skipped message="suppressed: the second map"/>' "$work/junit"
ok $? "the files have it nevertheless"
run 9 --backend=driver --error-exitcode=9 --suppressions="$work/known" "$work/programs" in_threads && says '1 error (200 times)'
ok $? "one at another place is not"
printf '{\n a\n VMM-LEAK-*\n}\n' >"$work/leaks"
run 0 --backend=driver --error-exitcode=9 --suppressions="$work/known" --suppressions "$work/leaks" "$work/programs" leaks_mapping && says '0 leaks; 3 suppressed'
ok $? "from several files"
run 9 --backend=driver --error-exitcode=9 --gen-suppressions "$work/programs" unmap_twice && sed -n '/^{/,/^}/p' "$said" >"$work/made" && grep -q 'fun:run_unmap_twice' "$work/made"
ok $? "a suppression is written for a finding"
run 0 --backend=driver --error-exitcode=9 --suppressions="$work/made" "$work/programs" unmap_twice && says '1 suppressed'
ok $? "which suppresses it"
printf '{\n a\n VMM-X\n main\n}\n' >"$work/bad"
rm -f "$work/started"
run 2 --backend=driver --suppressions="$work/bad" sh -c "touch $work/started" && says "--suppressions $work/bad, line 4: expected fun:, obj:, src: or py: with a pattern, \"...\", or the \"}\" of the suppression, not \"main\"" && [ ! -e "$work/started" ]
ok $? "a malformed file: where, what was expected, and nothing is started"
run 2 --backend=driver --suppressions="$work/nowhere" true && says 'it cannot be read; nothing was started'
ok $? "one that is not there"
run 2 --backend=driver --suppressions= true && says '--suppressions wants a file'
ok $? "none"

# ---- logs, leaks, stacks ----
run 9 --backend=driver --error-exitcode=9 --log-file="$work/log.%p.txt" sh -c "$work/programs map_twice; $work/programs unmap_twice; $work/programs map_twice" &&
    [ "$(find "$work" -name 'log.[0-9]*.txt' | wc -l)" = 3 ] && [ "$(cat "$work"/log.*.txt | grep -c VMM-MAP-OVERLAP:)" = 2 ] && says '2 errors (3 times)' && ! says VMM- &&
    [ "$(grep -c '1 error, 0 hazards, 0 leaks (process ' "$work"/log.*.txt | grep -c ':1$')" = 3 ]
ok $? "each process has a log of its own, whole and with its sum"
mkdir "$work/100%p" && (cd "$work/100%p" && run 0 --backend=driver --log-file=x.%p.100%% "$work/programs" map_twice) && grep -q VMM-MAP-OVERLAP "$work/100%p"/x.[0-9]*.100%
ok $? "the pattern is of the name, not of the folder"
run 2 --log-file=x.%q "$work/programs" && says '% must be followed by p'
ok $? "another pattern is refused"
run 2 --log-file="$work/no/%p" "$work/programs" && says 'No such file'
ok $? "a folder that is not there"
run 2 --log-file=a --log=b "$work/programs" && says 'exclude each other'
ok $? "one log"

cat >"$work/places.c" <<'END'
#include <cuda.h>
#include <stdlib.h>
#define ONE(n) static void leak_##n(void) { CUdeviceptr at; if (cuMemAddressReserve(&at, (n) * (2UL << 20), 0, 0, 0)) exit(3); }
#define ALL(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
ALL(ONE)
#define CALL(n) leak_##n();
int main(void)
{
    CUcontext context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 3;
    for (int i = 0; i < 2; i++) {
        ALL(CALL)
    }
    return 0;
}
END
"${CC-cc}" -O0 -g -isystem api/abi -o "$work/places" "$work/places.c" -L"$build/lib" -lcuda 2>"$said"
for side in driver sim:h100; do
    COLUMNS=200 run 0 --backend=$side "$work/places"
    [ "$(grep -c '^\[[0-9]*\] leak ' "$said")" = 10 ] && says '15 leaks (30 times) ' && says 'cuvmm check: 5 more places made 10 objects, 0 bytes of memory, that were held at the end; --leaks=full lists them'
    ok $? "$side: the ten largest places that leak, and a line for the others"
    grep -A3 '^\[[0-9]*\] leak' "$said" | sed -n 's/.*, 2 times, //p' | head -2 | paste -sd ' ' | grep -qx '60 MiB 56 MiB' && [ "$(grep -c '^  why, fix  above; cuvmm explain VMM-LEAK-RESERVATION' "$said")" = 9 ]
    ok $? "$side: the largest first, and why once"
    run 0 --backend=$side --leaks=full "$work/places" && [ "$(grep -c '^\[[0-9]*\] leak ' "$said")" = 15 ] && ! says 'more places'
    ok $? "$side: all of them"
    run 0 --backend=$side --stacks=none "$work/places" && ! says 'made by   ' && says '1 leak (30 times) '
    ok $? "$side: without stacks, a call is a place"
done

# ---- phases ----
cat >"$work/phases.c" <<'END'
#include <cuda.h>
#include <stdio.h>
#include "cuvmm_mark.h"
static void mistake(CUdeviceptr at)
{
    cuMemUnmap(at, 1);
}
int main(void)
{
    CUcontext context;
    CUdeviceptr at;
    char mark[40];
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAddressReserve(&at, 2 << 20, 0, 0, 0))
        return 3;
    for (int i = 0; i < 6; i++) {
        if (i > 0) {
            snprintf(mark, sizeof mark, "step \"%d\"", i);
            cuvmm_mark(mark);
        }
        for (int times = 0; times <= i; times++)
            mistake(at);
    }
    return 0;
}
END
"${CC-cc}" -O0 -g -isystem api/abi -Iapi -o "$work/phases" "$work/phases.c" -L"$build/lib" -lcuda -ldl 2>"$said"
for side in driver sim:h100; do
    COLUMNS=300 run 0 --backend=$side --json="$work/json" "$work/phases" && says '1 error (21 times), ' &&
        says 'cuvmm check: 21 times VMM-' && says '; during no mark (1), step "1" (2), step "2" (3), step "3" (4) and 2 more' &&
        [ "$(grep -c '^\[[0-9]*\] error' "$said")" = 1 ]
    ok $? "$side: a finding of one place in several phases is one, with how often it came in each"
    if command -v python3 >/dev/null; then
        query "$work/json" "[p['times'] for p in d['findings'][0]['phases']] == [1, 2, 3, 4, 5, 6] and d['findings'][0]['phases'][1]['mark'] == 'step \"1\"' and 'phases' not in d['findings'][1]"
        ok $? "$side: the JSON has all of them"
    fi
done
run 2 --stacks=deep "$work/programs" && says '--stacks wants none, short or full'
ok $? "how deep a stack may be"
finish
