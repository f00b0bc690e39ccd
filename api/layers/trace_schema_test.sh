#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces are as api/layers/trace.schema.json says: those of the tree, and those that this build writes of the demos and lessons. Lines
# of one shape (the same keys, the same kinds of values) are validated once.
set -u
build=${CUVMM_BUILD-build}
. ci/tap.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset CUVMM_BACKEND CUVMM_LAYERS CUVMM_SIM
said=$work/said
schema=api/layers/trace.schema.json
format=$(sed -n 's/^#define TRACE_FORMAT \([0-9]*\) .*/\1/p' api/layers/trace.h)
grep -q "\"cuvmm-trace\": {\"const\": $format," $schema
ok $? 'the schema is that of TRACE_FORMAT'
if ! python3 -c 'import jsonschema' 2>/dev/null; then
    skip 'traces are as the schema says' 'needs jsonschema for Python (ci/setup --all)'
    echo "1..$points"
    exit $((failures > 0))
fi
# validate.py SCHEMA FOLDER NAME FILE... -- NAME FILE...: what is wrong with each group's files goes to FOLDER/NAME.said, whose last line
# counts.
cat >"$work/validate.py" <<'END'
import json, re, sys
from jsonschema import validators
schema = json.load(open(sys.argv[1]))
kind = validators.validator_for(schema)
kind.check_schema(schema)
validator = kind(schema)

def validate(files, said):
    shapes, lines, bad = set(), 0, 0
    for name in files:
        for number, text in enumerate(open(name, encoding="ascii"), 1):
            lines += 1
            shape = re.sub(r"[0-9a-f]+", "#", re.sub(r'"note":"[^"]*"', '"note":""', text))
            if shape in shapes:
                continue
            shapes.add(shape)
            for error in validator.iter_errors(json.loads(text)):
                bad += 1
                best = min(error.context, key=lambda e: (len(e.schema_path) < 3, -len(e.path)), default=error)
                print(f"{name}:{number}: {text[:160]}: {list(best.path)}: {best.message[:160]}", file=said)
    print(f"{lines} lines, {len(shapes)} shapes, {bad} wrong", file=said)

group = []
for word in sys.argv[3:] + ["--"]:
    if word != "--":
        group.append(word)
        continue
    with open(f"{sys.argv[2]}/{group[0]}.said", "w") as said:
        validate(group[1:], said)
    group = []
END
number=0
for script in conformance/corpus/demo/*.vmm conformance/corpus/lessons/*.vmm; do
    number=$((number + 1))
    CUVMM_LAYERS=trace=$work/$number.jsonl "$build/bin/cuvmm" run "$script" >/dev/null 2>&1
    CUVMM_LAYERS=trace=$work/$number.%p.jsonl "$build/bin/cuvmm" run "$script" >/dev/null 2>&1
done
ls "$work"/[0-9]*.jsonl >"$work/list"

# Would it notice? Each is a good line with a mistake.
good='{"n":1,"thread":1,"call":"init","args":{"flags":"0x0"},"result":"CUDA_SUCCESS","code":0}'
echo "$good" >"$work/good"
names=() files=()
wrong() { # wrong NAME LINE
    names+=("$1")
    files+=(-- "wrong-${#names[@]}" "$work/wrong-${#names[@]}.line")
    echo "$2" >"$work/wrong-${#names[@]}.line"
}
wrong 'another format' '{"cuvmm-trace":2,"version":"0.1.0","inner":["sim"]}'
wrong 'a call without its result' '{"n":1,"thread":1,"call":"init","args":{"flags":"0x0"},"code":0}'
wrong 'a number of 64 bits that JSON rounds' "${good/\"0x0\"/1.5}"
wrong 'a name without its number' "${good/\"result\"/\"names\":{\"a\":\"R\"\},\"result\"}"
wrong 'a rule without its severity' "${good/\"code\"/\"rule\":\"VMM-MAP-OVERLAP\",\"code\"}"
wrong 'bytes with an odd digit' "${good/\"0x0\"/{\"length\":\"0x1\",\"hex\":\"0\"\}}"
wrong 'a footer that counts backwards' '{"end":1,"calls":-1}'

python3 "$work/validate.py" $schema "$work" recordings conformance/recorded/recordings/*/suite.jsonl -- seeds fuzz/corpus/trace/*.jsonl -- \
    made "$work"/[0-9]*.jsonl -- good "$work/good" "${files[@]}" 2>"$work/errors"
ok $? 'they can be validated' "$work/errors"
valid() { # valid GROUP: it has lines, and none is wrong
    said=$work/$1.said
    grep -q '^[1-9][0-9]* lines, [0-9]* shapes, 0 wrong$' "$said"
}
valid recordings
ok $? "recordings of drivers: $(tail -n 1 "$said")"
valid seeds
ok $? "seeds of the fuzzer: $(tail -n 1 "$said")"
[ "$(wc -l <"$work/list")" -ge $((2 * number)) ] && valid made
ok $? "demos and lessons, with processes and without: $(tail -n 1 "$work/made.said")"
valid good
ok $? 'a good line is good'
for i in "${!names[@]}"; do
    ! valid "wrong-$((i + 1))" && grep -q '^1 lines' "$said"
    ok $? "not valid: ${names[i]}"
done
echo "1..$points"
[ "$failures" -eq 0 ]
