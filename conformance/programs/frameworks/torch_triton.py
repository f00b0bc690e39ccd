# SPDX-License-Identifier: Apache-2.0
"""Triton's kernels, compiled as on a GPU up to PTX and run from that: a sum, a softmax over rows as in Triton's tutorials, a tile that is
transposed, and an access that faults. What PyTorch computes it computes on the host, for its own kernels are machine code."""
# framework: torch
# kernels: run
# explain: 1 error VMM-FAULT-ACCESS
# explain: any error VMM-FAULT-STICKY

import torch
import triton
import triton.language as tl

from framework import SEED, equal, point, raises, seeded


@triton.jit
def add(left, right, out, count, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    inside = at < count
    tl.store(out + at, tl.load(left + at, mask=inside) + tl.load(right + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, rows, stride, count, columns, WIDTH: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, WIDTH)
    for row in tl.range(tl.program_id(0), count, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(rows + row * stride + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def transpose(out, tile, SIDE: tl.constexpr):
    down, across = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tl.store(out + down * SIDE + across, tl.trans(tl.load(tile + down * SIDE + across)))


seeded()
torch.manual_seed(SEED)

for count in (1, 1000, 9843):
    left, right = torch.rand(count), torch.rand(count)
    out = torch.empty(count, device="cuda")
    add[(triton.cdiv(count, 1024),)](left.cuda(), right.cuda(), out, count, WIDTH=1024)
    equal(torch.equal(out.cpu(), left + right), True, f"a sum of {count} numbers, bit for bit")

for count, columns, stages, warps in ((7, 33, 1, 4), (183, 781, 2, 8), (140, 1000, 4, 8)):
    rows = torch.randn(count, columns)
    there = rows.cuda()
    out = torch.empty_like(there)
    softmax[(min(count, 132),)](out, there, there.stride(0), count, columns, triton.next_power_of_2(columns), stages, num_warps=warps)
    off = (out.cpu() - torch.softmax(rows, 1)).abs().max().item()
    point(off < 1e-6, f"softmax of {count} rows of {columns}, in {stages} stages by {warps} warps: off by {off}")

for kind in (torch.float16, torch.float32):
    tile = torch.randn(32, 32).to(kind)
    out = torch.empty(32, 32, dtype=kind, device="cuda")
    transpose[(1,)](out, tile.cuda(), SIDE=32)
    equal(torch.equal(out.cpu(), tile.T), True, f"a tile of {kind}, transposed")

kernel = softmax.warmup(out, out, 32, 32, 32, 32, 2, grid=(1,))
kernel._init_handles()
point(0 < kernel.n_regs <= 255 and kernel.n_spills == 0, f"a kernel says what it takes: {kernel.n_regs} registers")

far = torch.empty(16, device="cuda")
add[(1 << 20,)](far, far, far, 1 << 30, WIDTH=1024)
raises(RuntimeError, torch.cuda.synchronize, "beyond its memory it faults", "illegal memory access")
