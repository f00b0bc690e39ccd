# SPDX-License-Identifier: Apache-2.0
"""PyTorch: pinned memory, streams, events, captured graphs of copies."""
# framework: torch

import torch

from framework import equal, point, raises, torch_end

host = torch.arange(1 << 18, dtype=torch.int32)
pinned = host.pin_memory()
point(pinned.is_pinned() and not host.is_pinned(), "pinned memory is recognised")
side = torch.cuda.Stream()
begun, done = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
with torch.cuda.stream(side):
    begun.record()
    there = pinned.to("cuda", non_blocking=True)
    done.record()
done.synchronize()
point(done.query() and begun.elapsed_time(done) >= 0, "events of a stream are reached in order")
torch.cuda.current_stream().wait_stream(side)
back = torch.empty_like(pinned).pin_memory()
back.copy_(there, non_blocking=True)
torch.cuda.synchronize()
point(torch.equal(back, host), "bytes come back through pinned memory")
there.record_stream(torch.cuda.current_stream())
point(side.query(), "an idle stream is idle")
high = torch.cuda.Stream(priority=-1)
point(high.priority < side.priority, "a stream has its priority")
raises(Exception, lambda: begun.elapsed_time(torch.cuda.Event(enable_timing=True)), "an event that was never recorded has no time")

# A graph of copies: what it read is read again at each launch.
source, target = torch.zeros(1024, dtype=torch.uint8).cuda(), torch.zeros(1024, dtype=torch.uint8).cuda()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    target.copy_(source)
for value in (1, 2):
    source.copy_(torch.full((1024,), value, dtype=torch.uint8))
    graph.replay()
    torch.cuda.synchronize()
    equal(target.cpu().unique().tolist(), [value], f"launch {value} copied what was there by then")
torch_end(globals())
