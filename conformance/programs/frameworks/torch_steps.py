# SPDX-License-Identifier: Apache-2.0
"""PyTorch's caching allocator: random allocations, copies, frees and empty_cache, every byte compared with the host's."""
# framework: torch
# run: segments
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
# run: async PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
# run: split PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:32,garbage_collection_threshold:0.6

import os

import torch

from framework import equal, point, seeded

STEPS = int(os.environ.get("STEPS", "2000"))
MOST = 1 << 30  # bytes that live at a time
random = seeded()
pool = torch.randint(0, 256, (1 << 26,), dtype=torch.uint8, generator=torch.Generator().manual_seed(random.randrange(1 << 30)))
live, wrong, counts = [], [], {}


def size():
    """Small ones, those around the allocator's own limits, and large ones."""
    return random.choice([random.randrange(1, 4096), random.randrange(1 << 20), random.randrange(1 << 19, 1 << 22), random.randrange(1 << 24),
                          random.choice([512, 1 << 20, (1 << 20) + 1, 10 << 20, (10 << 20) + 1, 20 << 20, (20 << 20) + 1])])


def fresh(count):
    start = random.randrange(pool.numel() - count)
    return pool[start:start + count].clone()


def allocate():
    count = size()
    if sum(host.numel() for _, host in live) + count > MOST:
        return free()
    host = fresh(count)
    live.append((host.to("cuda", non_blocking=random.random() < 0.5), host))


def write_part():
    if live:
        device, host = random.choice(live)
        count = random.randrange(1, host.numel() + 1)
        at = random.randrange(host.numel() - count + 1)
        host[at:at + count] = fresh(count)
        device[at:at + count].copy_(host[at:at + count])


def copy():
    if live:
        device, host = random.choice(live)
        live.append((device.clone(), host.clone()))


def copy_part():
    if len(live) > 1:
        (to, to_host), (of, of_host) = random.sample(live, 2)
        count = random.randrange(1, min(to.numel(), of.numel()) + 1)
        to[-count:].copy_(of[:count])
        to_host[-count:] = of_host[:count]


def on_a_stream():
    stream = random.choice(streams)
    with torch.cuda.stream(stream):
        host = fresh(random.randrange(1, 1 << 20))
        live.append((host.to("cuda"), host))
    live[-1][0].record_stream(torch.cuda.current_stream())  # without it cuMemFreeAsync comes before what the other stream does
    stream.synchronize()


def free():
    if live:
        live.pop(random.randrange(len(live)))


def compare(of):
    device, host = of
    if not torch.equal(device.cpu(), host):
        wrong.append(host.numel())


def look():
    if live:
        compare(random.choice(live))


def empty_cache():
    torch.cuda.empty_cache()
    for each in live:
        compare(each)


torch.cuda.init()
streams = [torch.cuda.Stream() for _ in range(3)]
free_before, total = torch.cuda.mem_get_info()
for step in range(STEPS):
    what = random.choices([allocate, write_part, copy, copy_part, on_a_stream, free, look, empty_cache], [20, 12, 6, 10, 4, 26, 12, 0.5])[0]
    what()
    counts[what.__name__] = counts.get(what.__name__, 0) + 1
    if wrong:
        break
for each in live:
    compare(each)
print(f"# {step + 1} steps: {counts}", flush=True)
equal(wrong, [], "every byte is as it was written")
equal(step + 1, STEPS, "all steps were taken")
point(torch.cuda.memory_allocated() >= sum(host.numel() for _, host in live), "the allocator counts what lives")
live.clear()
del each
torch.cuda.synchronize()
equal(torch.cuda.memory_allocated(), 0, "nothing is allocated at the end")
torch.cuda.empty_cache()
equal(torch.cuda.memory_reserved(), 0, "nothing is reserved at the end")
free_behind, _ = torch.cuda.mem_get_info()
point(free_behind >= free_before - (64 << 20), f"the device has its memory back ({free_before - free_behind} bytes less than before)")
