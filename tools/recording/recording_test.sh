#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cuvmm record` writes an archive of the simulator that agrees with ours of the same machine and holds no names, and
# `cuvmm diff-recordings` finds a rule and an answer that were changed by hand. From make check: CUVMM_BUILD, CUVMM_SAN.
set -u
build=${CUVMM_BUILD-build}
. ci/tap.sh
own_system
without_sanitizer
build=$(cd "$build" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
said=$work/said
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM CUVMM_MACHINE CUVMM_LIBRARIES CUVMM_RECORDING CUVMM_PREFIX LD_LIBRARY_PATH
run() { # run STATUS ARGUMENT...
    local want=$1
    shift
    timeout 900 "$build/bin/cuvmm" "$@" >"$said" 2>&1 </dev/null
    [ $? = "$want" ]
}
holds() { grep -qE -- "$1" "$said"; }

# ---- what names a machine or a person ----

# shellcheck source=tools/recording/common
. tools/recording/common
# shellcheck disable=SC2034 # of common
recordings=$build/share/cuvmm/recordings
user=jane.doe host=$(uname -n)
clean() { # clean LINE CLEANED
    printf '%b\n' "$1" | USER=$user LOGNAME=$user scrub >"$said"
    [ "$(cat "$said")" = "$(printf '%b' "$2")" ]
    ok $? "cleaned: $1"
}
clean 'a.b\tSUCCESS 3f' 'a.b\tSUCCESS 3f'
clean 'a.uuid\tGPU-01234567-89ab-cdef-0123-456789abcdef x' 'a.uuid\tUUID x'
clean 'a.bus\tSUCCESS 0000:c1:00.0' 'a.bus\tSUCCESS BUS'
clean "D.cuDeviceGetByPCIBusId o4 'ffff:ff:1f.0\tINVALID_DEVICE -" "D.cuDeviceGetByPCIBusId o4 'ffff:ff:1f.0\tINVALID_DEVICE -"
clean 'D.cuDeviceGetAttribute o4 33 0\tSUCCESS 193' 'D.cuDeviceGetAttribute o4 33 0\tSUCCESS hidden'
clean 'D.cuDeviceGetAttribute o4 3 0\tSUCCESS 64' 'D.cuDeviceGetAttribute o4 3 0\tSUCCESS 64'
clean 'D.cuDeviceGetPCIBusId o16 4 0\tINVALID_VALUE 3158064' 'D.cuDeviceGetPCIBusId o16 4 0\tINVALID_VALUE hidden'
clean 'a.file\t/home/jane/x.so and /tmp/a;b' 'a.file\tPATH and PATH;b'
clean 'a.who\tby jane.doe' 'a.who\tby NAME'
clean 'a.who\tjanexdoe' 'a.who\tjanexdoe'
clean '# driver: NVRM version (builder@host)' ''
mkdir "$work/stage"
told() { # told STATUS LINE
    printf '%b\n' "$2" >"$work/stage/a.tsv"
    USER=$user LOGNAME=$user named "$work/stage" >"$said"
    [ $? = "$1" ]
    ok $? "a last look $([ "$1" = 1 ] && echo passes || echo finds): $2"
}
told 1 'a.version\tdriver 580.159.04 SUCCESS 0x302000000 1.2.3'
told 0 'a\t01234567-89ab-cdef-0123-456789abcdef'
told 0 'a\t/home/x'
told 0 'a\t02:42:ac:11:00:02'
told 0 'a\t 192.168.7.40 '
told 0 'a\t(jane.doe)'
user=graph # a word of the recordings themselves
told 1 'graph.create\tSUCCESS graph'
clean 'graph.create\tSUCCESS graph' 'graph.create\tSUCCESS graph'
user=cuvmm
told 1 '{"cuvmm-trace":1,"version":"0.1.0","inner":["sim"]}'
user=jane.doe

# ---- record ----

if "$build/bin/device" --backend cuda --kind >/dev/null 2>&1; then
    skip 'without a driver the command says what it needs' 'this machine has a driver'
else
    run 1 record && holds "needs an NVIDIA device and its driver's libcuda.so.1" && holds 'machine=sim:h100'
    ok $? 'without a driver the command says what it needs'
fi
run 2 record --fast && holds 'unknown argument "--fast"' && holds 'cuvmm help record'
ok $? 'an unknown option'
run 2 record --only=suite,none && holds '"none" is none of suite first'
ok $? 'an unknown part'
CUVMM_PREFIX=$work run 2 record && holds 'recording programs are not beside this command'
ok $? 'programs that are not there'

one=$work/one.tar.gz
run 0 record --machine=sim:h100 --only=suite,first,ipc --output="$one" && holds 'first: [0-9]+ answers'
ok $? 'the simulator is recorded'
mkdir "$work/one" && tar -C "$work/one" -xzf "$one" 2>"$said" && about=$work/one/cuvmm-recording/about.tsv &&
    [ "$(about "$about" kind),$(about "$about" devices),$(about "$about" driver),$(about "$about" cuda)" = h100,1,simulator,13000 ] &&
    [ "$(about "$about" library)" = "$("$build/bin/cuvmm" --version | sed 's/[^0-9.]*//g')" ]
ok $? 'about.tsv tells the machine, the driver and the version of this library' "$work/one/cuvmm-recording/about.tsv"
(cd "$work/one" && find . -type f | LC_ALL=C sort | tr '\n' ' ') >"$said"
[ "$(cat "$said")" = './cuvmm-recording/about.tsv ./cuvmm-recording/facts/first.tsv ./cuvmm-recording/facts/ipc.tsv ./cuvmm-recording/profile ./cuvmm-recording/suite.jsonl ./cuvmm-recording/suite.tap ' ]
ok $? 'the archive holds the profile, the suite and the answers'
tar -tvzf "$one" | grep -v ' 0/0 .* 1970-01-01 ' >"$said"
[ ! -s "$said" ]
ok $? 'files have neither owners nor times'
[ ${#host} -gt 2 ] || host=no-name # too short to be told from other words
! grep -rwF -e "$work" -e "$host" "$work/one" >"$said"
ok $? 'nor is there this folder or the name of this machine'
trace=$work/one/cuvmm-recording/suite.jsonl
sed -n '1p;$p' "$trace" >"$said"
holds '^\{"cuvmm-trace":1,' && holds "^\{\"end\":1,\"calls\":$(($(wc -l <"$trace") - 2))\}"
ok $? 'the calls of the suite are a whole trace'

mkdir -p "$work/libraries/recording" && for file in "$build"/lib/*.so*; do ln -s "$file" "$work/libraries/"; done
ln -s "$build"/lib/recording/* "$work/libraries/recording/" && rm "$work/libraries/recording/ipc"
printf '#!/bin/sh\nprintf "# a\\na.b\\tSUCCESS\\n"\nkill -9 $$\n' >"$work/libraries/recording/ipc" && chmod +x "$work/libraries/recording/ipc"
CUVMM_LIBRARIES=$work/libraries run 0 record --machine=sim:h100 --only=ipc --output="$work/died.tar.gz" && holds '^cuvmm record: ipc: part .* ended with status 137'
ok $? 'a program that dies is no reason to stop'
tar -xOzf "$work/died.tar.gz" cuvmm-recording/missing.tsv cuvmm-recording/facts/ipc.tsv >"$said" 2>&1
holds $'^ipc\tpart' && holds $'^a.b\tSUCCESS$'
ok $? 'what it wrote is kept, and missing.tsv names it'
printf '#!/bin/sh\nprintf "a.b\\t02:42:ac:11:00:02\\n"\n' >"$work/libraries/recording/ipc"
CUVMM_LIBRARIES=$work/libraries run 1 record --machine=sim:h100 --only=ipc --output="$work/named.tar.gz" && holds 'nothing is written' && [ ! -e "$work/named.tar.gz" ]
ok $? 'an answer that names a machine all the same: nothing is written'

# ---- diff-recordings ----

run 0 diff-recordings "$one" && holds 'tests of [0-9]+ rules compared: 0 rules differ' && holds 'first +[0-9]+ recorded: .* 0 differ' &&
    holds 'B  1 x NVIDIA H100 80GB HBM3, driver 580'
ok $? 'the simulator agrees with what the H100 answered, but for known differences'
run 0 diff-recordings "$one" "$one" && holds "ipc .* 0 differ"
ok $? 'an archive agrees with itself'
run 1 diff-recordings "$one" h200x2 && holds '^B  2 x NVIDIA H200, driver 580' && grep -A 2 '^    ndev$' "$said" | grep -q 'B =2'
ok $? 'another machine of ours by its name: where it differs'

changed=$work/one/cuvmm-recording
sed -i '0,/^ok\(.*breaks VMM-MAP-OVERLAP: \)/s//not ok\1/' "$changed/suite.tap"
sed -i 's/^reserve.align\([^\t]*\)\tSUCCESS/reserve.align\1\tOUT_OF_MEMORY/; s/^noinit.map\t.*/noinit.map\tINVALID_HANDLE/' "$changed/facts/first.tsv"
pack "$changed" "$work/changed.tar.gz"
run 1 diff-recordings "$work/changed.tar.gz" "$one" && holds '^  VMM-MAP-OVERLAP  *breaks VMM-MAP-OVERLAP: .*: A failed, B passed$' && holds '1 rules? differ'
ok $? 'a rule that came out otherwise is named'
grep -A 2 '^    noinit.map$' "$said" >"$work/lines"
printf '%s\n' '    noinit.map' '      A INVALID_HANDLE' '      B NOT_INITIALIZED' | diff - "$work/lines" >>"$said"
ok $? 'an answer that is another one is shown with both'
sed -i 's/\tSUCCESS/\tUNKNOWN/' "$changed/facts/ipc.tsv" && pack "$changed" "$work/many.tar.gz"
run 1 diff-recordings "$work/many.tar.gz" "$one" && holds '    \.\.\. and [0-9]+ more \(--all\)'
ok $? 'of many differences the first are shown'
run 1 diff-recordings --all "$work/many.tar.gz" "$one" && ! holds 'more \(--all\)' && [ "$(grep -c '^      A UNKNOWN' "$said")" -gt 20 ]
ok $? 'and with --all each of them'
sed -i 's/^format\t1/format\t2/' "$changed/about.tsv" && pack "$changed" "$work/later.tar.gz"
run 2 diff-recordings "$work/later.tar.gz" && holds 'has format 2, expected 1'
ok $? 'a later format is refused'
run 2 diff-recordings none && holds 'no file none, and none of ours: h100-580'
ok $? 'what is not there is named, with what there is'
echo no >"$work/no.tar.gz"
run 2 diff-recordings "$work/no.tar.gz" && holds 'is no archive of cuvmm record'
ok $? 'a file that is no archive'
run 2 diff-recordings && holds 'expected one archive or two, not 0'
ok $? 'no archive at all'
run 2 diff-recordings --fast h100 && holds 'unknown argument "--fast"'
ok $? 'an unknown option'
echo "1..$points"
[ "$failures" -eq 0 ]
