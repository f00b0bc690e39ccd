# SPDX-License-Identifier: Apache-2.0
"""PyTorch's allocator at work: tensors of many sizes on two streams, kept and dropped in a seeded order, their bytes looked at.

The allocator is the environment's: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True maps memory by cuMemMap.
"""
import os
import random
import sys

import torch

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 7
STEPS = 300
MIB = 1 << 20


def step(draw, side, kept):
    if kept and draw.random() < 0.4:
        value, tensor = kept.pop(draw.randrange(len(kept)))
        assert tensor[0].item() == value and tensor[-1].item() == value, "a tensor has lost its bytes"
        return
    value = draw.randrange(1, 1000)
    count = draw.choice([1, 1000, MIB // 4, 5 * MIB, 20 * MIB]) + draw.randrange(100)
    stream = side if draw.random() < 0.5 else torch.cuda.default_stream()
    with torch.cuda.stream(stream):
        kept.append((value, torch.full((count,), value, dtype=torch.int32, device="cuda")))
    torch.cuda.default_stream().wait_stream(stream)
    if draw.random() < 0.05:
        torch.cuda.empty_cache()


def main():
    draw = random.Random(SEED)
    side, kept = torch.cuda.Stream(), []
    for _ in range(STEPS):
        step(draw, side, kept)
    a = torch.ones(1024, 1024, device="cuda")
    assert (a @ a)[5, 5].item() == 1024
    kept.clear()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    print("ok: torch", torch.__version__, "seed", SEED, os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "default allocator"))


main()
