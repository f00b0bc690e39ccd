# SPDX-License-Identifier: Apache-2.0
"""PyTorch: 200 steps of training with an optimizer, batches of random sizes, and a captured graph. Prints the seconds of the steps.

The allocator is the environment's, as in torch_memory.py."""
import os
import random
import time

import torch

STEPS = int(os.environ.get("STEPS", "200"))
WIDTH = 512


def model():
    layers = [torch.nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.1, batch_first=True) for _ in range(4)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 1000)).cuda()


def step(draw, net, optimizer, host):
    batch, length = draw.randrange(8, 32), draw.randrange(64, 256)
    x = torch.randn(batch, length, WIDTH, device="cuda")
    y = host[: batch * length].cuda(non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(net(x).flatten(0, 1), y)
    loss.backward()
    optimizer.step()
    return loss


def train(draw, net, steps):
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    host = torch.randint(0, 1000, (32 * 256,)).pin_memory()
    for _ in range(10):
        step(draw, net, optimizer, host)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for i in range(steps):
        loss = step(draw, net, optimizer, host)
        if i % 20 == 0:
            assert loss.item() == loss.item(), "the loss is not a number"
    torch.cuda.synchronize()
    return time.perf_counter() - began


def capture():
    x = torch.ones(1 << 20, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        (x * 2).relu().sum()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2).relu().sum()
    for _ in range(50):
        graph.replay()
    assert y.item() == 2 << 20


def main():
    torch.manual_seed(1)
    print("SECONDS %.4f" % train(random.Random(2), model(), STEPS), flush=True)
    if "cudaMallocAsync" not in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""):
        capture()
    print("ok: torch", torch.__version__, os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "default allocator"))


main()
