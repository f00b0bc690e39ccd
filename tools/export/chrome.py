# SPDX-License-Identifier: Apache-2.0
"""Looks at a Chrome trace of `cuvmm export`: python3 chrome.py FILE TRACE [SCHEMA]. Prints what is wrong, a line each."""
import json
import sys


def slices_are_apart(events):
    """Slices of one track lie beside each other, as a viewer takes overlapping ones for nested."""
    tracks = {}
    for e in events:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    for track, slices in tracks.items():
        slices.sort()
        for (_, end, name), (start, _, later) in zip(slices, slices[1:]):
            if start < end:
                yield f"track {track}: {later} begins before {name} ends"


def every_track_is_named(events):
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    if len(named) != len({tid for _, tid in named}):
        yield "two tracks share a thread id"
    for e in events:
        if e["pid"] not in processes:
            yield f"process {e['pid']} has no name"
        if e["ph"] in "Xisf" and (e["pid"], e["tid"]) not in named:
            yield f"track {e['pid']}, {e['tid']} has no name"


def flows_join_slices(events):
    at = {(e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    spans = {}
    for e in events:
        if e["ph"] == "X":
            spans.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    if starts.keys() != ends.keys():
        yield "a flow has no start or no end"
    for e in starts.values():
        if not any(a <= e["ts"] <= b for a, b in spans.get(e["tid"], [])):
            yield f"flow {e['id']} starts outside of its memory's life"
    for e in ends.values():
        if (e["tid"], e["ts"]) not in at:
            yield f"flow {e['id']} ends where no mapping begins"
    mappings = [e for e in events if e["ph"] == "X" and e["cat"] == "mapping" and "of" in e["args"]]
    if len(mappings) < len(ends):
        yield "there are more flows than mappings"


def counters_add_up(events):
    """The bytes that are mapped are what the lives of mappings say, at every moment at which they change."""
    lives = {(e["tid"], e["ts"]): e for e in events if e["ph"] == "X" and e["cat"] == "mapping"}
    device = {e["id"]: e["pid"] for e in events if e["ph"] == "s"}
    changes = {}
    for e in events:
        if e["ph"] == "f" and (e["tid"], e["ts"]) in lives:
            life = lives[e["tid"], e["ts"]]
            steps = changes.setdefault(device[e["id"]], [])
            steps.append((life["ts"], life["args"]["bytes"]))
            steps.append((life["ts"] + life["dur"], -life["args"]["bytes"]))
    told = {}
    for e in events:
        if e["ph"] == "C":
            told.setdefault(e["pid"], {})[e["ts"]] = e["args"]["mapped"]
    for pid, values in told.items():
        steps, mapped = sorted(changes.get(pid, [])), 0
        if list(values) != sorted(values):
            yield f"the counter of process {pid} goes back in time"
        for ts, value in sorted(values.items()):
            while steps and steps[0][0] <= ts:
                mapped += steps.pop(0)[1]
            if mapped != value:
                yield f"process {pid} says {value} bytes are mapped at {ts}, its mappings say {mapped}"


def calls_are_all_there(events, trace):
    with open(trace, encoding="ascii") as file:
        wanted = sum('"call":' in line for line in file)
    got = sum(e["ph"] == "X" and e["pid"] == 1 for e in events)
    if got != wanted:
        yield f"{got} calls are shown, the trace has {wanted}"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        data = json.load(file)
    if len(sys.argv) > 3:
        import jsonschema
        with open(sys.argv[3], encoding="ascii") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        for error in list(jsonschema.Draft7Validator(schema).iter_errors(data))[:10]:
            print(f"schema: {'/'.join(map(str, error.path))}: {error.message}")
    events = data["traceEvents"]
    for check in (slices_are_apart, every_track_is_named, flows_join_slices, counters_add_up):
        for wrong in check(events):
            print(wrong)
    for wrong in calls_are_all_there(events, sys.argv[2]):
        print(wrong)


main()
