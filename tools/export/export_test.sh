#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces in the formats of others, each read by a parser that is not ours: Python's json with a schema, Python's pickle, Graphviz.
# And the command: what it refuses, and that it leaves a file that is there alone. From make check: CUVMM_BUILD.
. ci/test_head.sh
cuvmm=$build/bin/cuvmm
unset CUVMM_BACKEND CUVMM_LAYERS
if "$cuvmm" export /dev/null --format=dot 2>&1 | grep -q jansson; then
    echo "1..0 # SKIP needs a cuvmm that was built with jansson (ci/setup)"
    exit 0
fi

cat >"$work/small.vmm" <<'SCRIPT'
init
c = context dev0
r = reserve 4gran
h = create 1gran dev0 handle=fd
k = create 2gran dev1
map r 1gran h
map r+1gran 2gran k
access r 3gran dev0:rw dev1:r
a = alloc 5MiB
f = export h
expect INVALID_VALUE: map r 1gran h
i = import f
map r+3gran 1gran i
unmap r 1gran
release h
n = create 1gran host
q = reserve 2gran
map q 1gran n
release n
map q+1gran 1gran i
s = stream
t = multicast 2 1gran handle=fd
add t dev0
add t dev1
bind t 0 1gran i
unmap r+3gran 1gran
freemem a
SCRIPT
trace=$work/small.jsonl
"$cuvmm" run "$work/small.vmm" --backend "trace=$trace|sim:max" --quiet --brief >"$work/said" 2>&1
ok $? "a trace to begin with" "$work/said"

export_to() { # export_to FORMAT TRACE FILE NAME
    "$cuvmm" export "$2" --format="$1" -o "$3" >"$work/said" 2>&1 && [ ! -s "$work/said" ]
    ok $? "$4: written as $1" "$work/said"
}

no_words() { # no_words NAME COMMAND...: it succeeds and has nothing to say
    local name=$1
    shift
    "$@" >"$work/said" 2>&1 && [ ! -s "$work/said" ]
    ok $? "$name" "$work/said"
}

python=$(python3 -c "import sys; print(sys.executable)" 2>/dev/null) # itself, not what looks for it each time

formats() { # formats TRACE NAME
    export_to chrome "$1" "$work/t.json" "$2"
    export_to memory-viz "$1" "$work/t.pickle" "$2"
    export_to dot "$1" "$work/t.dot" "$2"
    if [ -n "$python" ]; then
        no_words "$2: Python reads the Chrome trace, and what it shows fits together" \
            "$python" tools/export/chrome.py "$work/t.json" "$1"
        no_words "$2: Python reads the snapshot, and its traces lead to its segments" \
            "$python" tools/export/snapshot.py "$work/t.pickle"
    else
        skip "$2: a parser reads the Chrome trace and the snapshot" "needs Python 3"
    fi
    if command -v dot >/dev/null; then
        dot -Tsvg "$work/t.dot" >"$work/t.svg" 2>"$work/said" && grep -q '</svg>' "$work/t.svg" && [ ! -s "$work/said" ]
        ok $? "$2: Graphviz draws the graph" "$work/said"
    else
        skip "$2: Graphviz draws the graph" "needs Graphviz (ci/setup --all)"
    fi
}

formats "$trace" "every kind of object"
if [ -n "$python" ] && "$python" -c 'import jsonschema' 2>/dev/null; then
    no_words "the Chrome trace is as its schema says" \
        "$python" tools/export/chrome.py "$work/t.json" "$trace" tools/export/trace-event.schema.json
    sed 's/"ph":"X"/"ph":"x"/' "$work/t.json" >"$work/wrong.json"
    "$python" tools/export/chrome.py "$work/wrong.json" "$trace" tools/export/trace-event.schema.json 2>&1 | grep -q '^schema: '
    ok $? "and the schema notices one that is not"
else
    skip "the Chrome trace is as its schema says" "needs Python's jsonschema (ci/setup --all)"
fi
cp "$work/t.json" "$work/small.json"
cp "$work/t.pickle" "$work/small.pickle"
formats conformance/recorded/recordings/h200x2-580.159.04/suite.jsonl "two H200 as recorded"
head -n 1 "$trace" >"$work/empty.jsonl"
formats "$work/empty.jsonl" "no call at all"

# What stands in them, by hand for the small trace.
has() { # has FILE NAME WORDS...: each of the words stands in a line of the file
    local file=$1 name=$2 words status=0
    shift 2
    : >"$work/said"
    for words in "$@"; do
        grep -qF -- "$words" "$file" || { echo "missing: $words" >>"$work/said"; status=1; }
    done
    ok "$status" "$name" "$work/said"
}

has "$work/small.json" "chrome: lives, calls, rules, memory and bytes" \
    '"name":"R1 8MiB","dur":' '"cat":"mapping","args":{"made by":"cuMemMap(R1, 2MiB, 0, H1, 0)"' '"of":"H1"' \
    '"last rights":"dev0 rw, dev1 r-"' '"refused by":"VMM-MAP-OVERLAP"' '"name":"last reference released"' \
    '"name":"Memory of device 1"' '"name":"Host memory"' '"allocated":7340032,"mapped":2097152'
grep '"name":"bytes"' "$work/small.json" | grep '"pid":8,' >"$work/bytes"
tail -n 1 "$work/bytes" | grep -qF '"allocated":2097152,"mapped":2097152' && ! grep -qF '"allocated":9437184' "$work/bytes"
ok $? "chrome: memory with two handles counts once, and what is left at the end is what lives" "$work/bytes"
grep -aq 'segment_map' "$work/small.pickle" && grep -aq 'cuMemImportFromShareableHandle(&H3, D1, 1)' "$work/small.pickle"
ok $? "memory-viz: calls stand where stacks stand" "$work/small.pickle"

"$cuvmm" export "$trace" --format=dot --at=error >"$work/error.dot" 2>"$work/said"
has "$work/error.dot" "dot: at the first refusal, what explains it is red" 'VMM-MAP-OVERLAP' \
    'M1 [label="M1, 2MiB\n0x100000000000\ndev0 rw, dev1 r-" color=red]' 'M1 -> H1' 'H1 -> place0' 'device 0\n7MiB in use'
"$cuvmm" export "$trace" --format=dot --at=4 >"$work/four.dot" 2>"$work/said"
[ "$(grep -c 'H1' "$work/four.dot")" -eq 0 ] && grep -q 'R1 \[label' "$work/four.dot"
ok $? "dot: at an early call, what came later is not there" "$work/four.dot"
has "$work/t.dot" "dot: a trace without calls is said to be one" 'a trace without calls'

# A trace may come from anybody.
sed 's/"rule":"[^"]*"/"rule":"\\u001b]0;own\\u0007\\n\\"x\\u009b"/' "$trace" >"$work/forged.jsonl"
"$cuvmm" export "$work/forged.jsonl" --format=dot --at=error >"$work/forged.dot" 2>"$work/said"
has "$work/forged.dot" "dot: what a label cannot show is not put into one" ', ?]0;own??\"x?"'
! LC_ALL=C tr -d '\n' <"$work/forged.dot" | LC_ALL=C grep -q '[^ -~]'
ok $? "dot: nor anywhere else" "$work/forged.dot"

# The two forms of a trace.
both() { # both TRACE NAME: its binary form makes the same lines, the same page and the same graph
    "$cuvmm" export "$1" --format=binary -o "$work/both.vtrace" >"$work/said" 2>&1 &&
        "$cuvmm" export "$work/both.vtrace" --format=lines 2>>"$work/said" | cmp - "$1" 2>>"$work/said"
    ok $? "$2: lines, binary, and the same lines again" "$work/said"
    "$cuvmm" export "$1" --format=dot >"$work/one.dot" 2>"$work/said" && "$cuvmm" export "$work/both.vtrace" --format=dot >"$work/two.dot" 2>"$work/said" &&
        cmp <(sed 's/of [^ ]*\.jsonl//' "$work/one.dot") <(sed 's/of [^ ]*\.vtrace//' "$work/two.dot") >"$work/said" 2>&1
    ok $? "$2: and the same graph of both" "$work/said"
}
both "$trace" "every kind of object"
both conformance/recorded/recordings/h200x2-580.159.04/suite.jsonl "two H200 as recorded"
both "$work/empty.jsonl" "no call at all"
"$cuvmm" run "$work/small.vmm" --backend "trace=$work/small.vtrace|sim:max" --quiet --brief >"$work/said" 2>&1 &&
    "$cuvmm" export "$trace" --format=binary -o "$work/both.vtrace" >"$work/said" 2>&1 && cmp "$work/small.vtrace" "$work/both.vtrace" >"$work/said"
ok $? "the converter writes the bytes that the layer writes" "$work/said"
"$cuvmm" export - --format=lines <"$work/both.vtrace" 2>"$work/said" | cmp -s - "$trace"
ok $? "a binary trace on standard input" "$work/said"
cp "$work/both.vtrace" "$work/again.vtrace" && "$cuvmm" export "$work/again.vtrace" --format=binary -o "$work/again.vtrace" && cmp "$work/both.vtrace" "$work/again.vtrace"
ok $? "a trace may be written over itself"
head -c -40 "$trace" >"$work/cut.jsonl"
"$cuvmm" export "$work/cut.jsonl" --format=binary -o "$work/cut.vtrace" >"$work/out" 2>"$work/said" && grep -q 'calls before that' "$work/said" &&
    "$cuvmm" export "$work/cut.vtrace" --format=lines >"$work/out" 2>"$work/said" && [ ! -s "$work/said" ] && ! grep -q '"end"' "$work/out"
ok $? "one that is cut off has no end in the other form either" "$work/said"
cp "$work/both.vtrace" "$work/other.vtrace"
printf '\1\2\3\4' | dd of="$work/other.vtrace" bs=1 seek=12 conv=notrunc 2>/dev/null
"$cuvmm" export "$work/other.vtrace" --format=lines >"$work/out" 2>"$work/said"
[ $? = 2 ] && grep -q 'another byte order' "$work/said" && [ ! -s "$work/out" ]
ok $? "a trace in another byte order is refused" "$work/said"

# What is refused, and what stays.
refused() { # refused NAME WORDS ARGUMENT...: status 2, the words on standard error, nothing on standard output
    local name=$1 words=$2 status
    shift 2
    "$cuvmm" export "$@" >"$work/out" 2>"$work/said"
    status=$?
    [ "$status" -eq 2 ] && [ ! -s "$work/out" ] && grep -qF -- "$words" "$work/said"
    ok $? "$name" "$work/said"
}
refused "no trace" "which TRACE?" --format=dot
refused "no format" "which format?" "$trace"
refused "an unknown format" "--format wants chrome, memory-viz, dot, lines or binary" "$trace" --format=svg
refused "an unknown option" 'unknown option "--fast"' "$trace" --format=dot --fast
refused "two traces" 'is a second' "$trace" "$trace" --format=dot
refused "-o without a file" '-o needs a FILE' "$trace" --format=dot -o
refused "--at for a whole trace" 'only the format dot' "$trace" --format=chrome --at=4
refused "a binary trace through a pipe" 'give -o FILE' "$trace" --format=binary
refused "also where - is named" 'give -o FILE' "$trace" --format=binary -o -
refused "a call that is not there" 'no call of this number' "$trace" --format=dot --at=4000
refused "a number that is none" 'expected the number of a call' "$trace" --format=dot --at=4x
refused "no call was refused" 'no call of this trace was refused' "$work/empty.jsonl" --format=dot --at=error
refused "a trace that is not there" 'No such file' "$work/none.jsonl" --format=dot
refused "a folder that is not there" 'No such file' "$trace" --format=dot -o "$work/none/t.dot"

echo "what was there" >"$work/kept"
echo "no trace" >"$work/no.jsonl"
refused "no trace at all" 'no.jsonl' "$work/no.jsonl" --format=chrome -o "$work/kept"
grep -q 'what was there' "$work/kept"
ok $? "and the file that was there stays"
mkdir "$work/folder"
refused "a folder in the place of the file" 'folder' "$trace" --format=chrome -o "$work/folder"
recorded=conformance/recorded/recordings/h200x2-580.159.04/suite.jsonl
(ulimit -f 8 && trap '' XFSZ && "$cuvmm" export "$recorded" --format=chrome -o "$work/kept") \
    >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'what was there' "$work/kept" && grep -q 'kept: ' "$work/said"
ok $? "a file that grows too large leaves what was there" "$work/said"
find "$work" -name 'kept.*' -o -name 'folder.*' >"$work/said"
[ ! -s "$work/said" ]
ok $? "nothing is left beside them" "$work/said"
head -c -40 "$trace" >"$work/cut.jsonl"
"$cuvmm" export "$work/cut.jsonl" --format=dot -o "$work/cut.dot" >"$work/out" 2>"$work/said" &&
    grep -q 'calls before that line' "$work/said" && grep -q 'digraph' "$work/cut.dot"
ok $? "a trace that is cut off is shown up to there, and that is said" "$work/said"
"$cuvmm" export - --format=chrome -o - <"$trace" | cmp -s - "$work/small.json"
ok $? "standard input to standard output is the same" "$work/said"

finish
