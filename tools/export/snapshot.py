# SPDX-License-Identifier: Apache-2.0
"""Looks at a snapshot of `cuvmm export --format=memory-viz`: python3 snapshot.py FILE. Prints what is wrong, a line each."""
import io
import pickle
import pickletools
import sys

# What MemoryViz.js of PyTorch, the page's reader, knows of pickle's opcodes.
KNOWN = {"APPENDS", "BINGET", "BININT", "BININT1", "BININT2", "EMPTY_DICT", "EMPTY_LIST", "FRAME", "LONG1", "LONG_BINGET", "MARK",
         "MEMOIZE", "PROTO", "SETITEMS", "SHORT_BINUNICODE", "STOP", "TUPLE2", "APPEND", "NEWFALSE", "BINPUT", "BINUNICODE",
         "EMPTY_TUPLE", "NEWTRUE", "NONE", "BINFLOAT", "TUPLE", "TUPLE1", "TUPLE3"}
ENTRY = {"action": str, "addr": int, "size": int, "stream": int, "time_us": int, "frames": list}
FRAME = {"name": str, "filename": str, "line": int}
SEGMENT = {"device": int, "address": int, "total_size": int, "allocated_size": int, "active_size": int, "requested_size": int,
           "stream": int, "segment_type": str, "segment_pool_id": tuple, "is_expandable": bool, "frames": list, "blocks": list}
BLOCK = {"address": int, "size": int, "requested_size": int, "state": str, "frames": list}


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}: a snapshot is of plain values")


def shaped(what, value, shape):
    if {k: type(v) for k, v in value.items()} != shape:
        yield f"{what} has other keys or kinds: {value}"
    for frame in value.get("frames", []):
        if {k: type(v) for k, v in frame.items()} != FRAME:
            yield f"{what} has a frame of another shape: {frame}"


def replayed(device, trace):
    """What is mapped and allocated after all entries, by address."""
    segments, blocks = {}, {}
    for e in trace:
        yield from shaped("an entry", e, ENTRY)
        action, addr = e["action"], e["addr"]
        table = segments if action.startswith("segment") else blocks
        if action in ("segment_map", "segment_alloc", "alloc"):
            if addr in table:
                yield f"device {device}: {action} at {addr:#x}, where there is something"
            table[addr] = e["size"]
        elif action in ("segment_unmap", "segment_free", "free_completed"):
            if table.pop(addr, None) != e["size"]:
                yield f"device {device}: {action} at {addr:#x} of what is not there"
        elif action != "free_requested" or blocks.get(addr) != e["size"]:
            yield f"device {device}: {action} at {addr:#x} is not expected"
    if segments != blocks:
        yield f"device {device}: segments and blocks differ in the end"
    yield blocks


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    unknown = {opcode.name for opcode, _, _ in pickletools.genops(data)} - KNOWN
    if unknown:
        print(f"opcodes that MemoryViz.js does not know: {unknown}")
    pickletools.dis(data, io.StringIO())
    snapshot = Plain(io.BytesIO(data)).load()
    if set(snapshot) != {"segments", "device_traces"}:
        print(f"other keys: {set(snapshot)}")
    ends = {}
    for device, trace in enumerate(snapshot["device_traces"]):
        for said in replayed(device, trace):
            if isinstance(said, str):
                print(said)
            else:
                ends[device] = said
    shown = {device: {} for device in ends}
    for segment in snapshot["segments"]:
        for wrong in shaped("a segment", segment, SEGMENT):
            print(wrong)
        at = segment["address"]
        for block in segment["blocks"]:
            for wrong in shaped("a block", block, BLOCK):
                print(wrong)
            if block["address"] != at:
                print(f"block {block['address']:#x} does not stand at {at:#x}")
            shown[segment["device"]][at] = block["size"]
            at += block["size"]
        if at - segment["address"] != segment["total_size"]:
            print(f"segment {segment['address']:#x} is not full of blocks")
    if shown != ends:
        print("the segments are not what the traces lead to")


main()
