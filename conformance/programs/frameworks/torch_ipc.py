# SPDX-License-Identifier: Apache-2.0
"""PyTorch: tensors and events that another process uses (torch.multiprocessing)."""
# framework: torch
# run: segments
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True

import torch
import torch.multiprocessing as processes

from framework import equal, point, torch_end


def other(inbox, outbox):
    tensor, event = inbox.get(timeout=60)
    event.synchronize()
    first = tensor.cpu()
    tensor.copy_(255 - first)
    torch.cuda.synchronize()
    outbox.put(first[:16].tolist())
    inbox.get(timeout=60)
    del tensor


if __name__ == "__main__":
    processes.set_start_method("spawn")
    inbox, outbox = processes.Queue(), processes.Queue()
    host = torch.arange(1 << 16, dtype=torch.int32).to(torch.uint8)
    tensor = host.cuda()
    event = torch.cuda.Event(interprocess=True)
    event.record()
    process = processes.Process(target=other, args=(inbox, outbox))
    process.start()
    inbox.put((tensor, event))
    equal(outbox.get(timeout=60), list(range(16)), "the other process reads the bytes")
    point(torch.equal(tensor.cpu(), 255 - host), "what it wrote is here")
    inbox.put(None)
    process.join(60)
    equal(process.exitcode, 0, "it ends well")
    large = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    point(torch.equal(tensor.cpu(), 255 - host), "it is still here behind its end")
    torch_end(globals())
