# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the memory snapshot, its statistics, and an allocator plugged in."""
# framework: torch
# run: segments
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True

import os

import torch

from framework import equal, point, torch_end

torch.cuda.memory._record_memory_history(max_entries=1000)
tensors = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(5)]
del tensors[2]
snapshot = torch.cuda.memory._snapshot()
blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
equal(sum(block["state"] == "active_allocated" for block in blocks), 4, "four blocks are allocated")
equal(sum(segment["allocated_size"] for segment in snapshot["segments"]), torch.cuda.memory_allocated(), "they add up")
equal({segment["is_expandable"] for segment in snapshot["segments"]}, {"expandable" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")}, "segments are of their kind")
actions = [entry["action"] for entry in snapshot["device_traces"][0]]
equal((actions.count("alloc"), actions.count("free_completed")), (5, 1), "the trace has what happened")
stats = torch.cuda.memory_stats()
equal((stats["allocation.all.allocated"], stats["allocation.all.freed"]), (5, 1), "so have the statistics")
addresses = sorted((block["address"], block["size"]) for block in blocks if block["state"] == "active_allocated")
point(all(a + size <= b for (a, size), (b, _) in zip(addresses, addresses[1:])), "no two overlap")
torch_end(globals())
