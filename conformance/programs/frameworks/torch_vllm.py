# SPDX-License-Identifier: Apache-2.0
"""vLLM: sleep and wake of its CuMemAllocator, the class and the C extension of its wheel, over PyTorch's pluggable allocator.

VLLM_SITE is a folder with vLLM's package (docs/frameworks.md). Of vLLM's other modules those that the class imports for logging, for
the platform and for settings are given here, since the package itself imports hundreds of megabytes more.
"""
# framework: torch
# explain: any error VMM-CREATE-FABRIC-IMEX

import importlib.machinery
import logging
import os
import sys
import types

import torch

from framework import equal, point

SITE = os.environ.get("VLLM_SITE", "")


def module(name, folder=None, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    if folder:
        made.__path__ = [os.path.join(SITE, folder)]
        made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = made


def loaded_library(name):
    """The first file of that name that this process has mapped, as vLLM looks for it."""
    for line in open("/proc/self/maps"):
        path = line[line.find("/"):].strip() if "/" in line else ""
        if os.path.basename(path).startswith((name + ".", name + "-")):
            return path
    return None


class Platform:
    device_type = "cuda"

    def is_rocm(self):
        return False


def allocator():
    module("vllm", "vllm")
    module("vllm.logger", init_logger=logging.getLogger)
    module("vllm.platforms", current_platform=Platform())
    module("vllm.envs", VLLM_CUDART_SO_PATH=None)
    module("vllm.utils", "vllm/utils")
    module("vllm.utils.system_utils", find_loaded_library=loaded_library)
    module("vllm.utils.torch_utils", PIN_MEMORY=True)
    module("vllm.distributed", "vllm/distributed")
    module("vllm.distributed.device_communicators", "vllm/distributed/device_communicators")
    from vllm.device_allocator.cumem import CuMemAllocator
    return CuMemAllocator.get_instance()


def free():
    return torch.cuda.mem_get_info()[0]


def numbers(count, step):
    return (torch.arange(count) * step % 251).to(torch.uint8)


def sleep_and_wake(pool):
    torch.empty(1, device="cuda")
    torch.cuda.empty_cache()
    before = free()
    with pool.use_memory_pool("weights"):
        weights = [torch.empty(5 << 20, dtype=torch.uint8, device="cuda") for _ in range(8)]
    with pool.use_memory_pool("kv_cache"):
        cache = torch.empty(48 << 20, dtype=torch.uint8, device="cuda")
    for step, tensor in enumerate(weights, 1):
        tensor.copy_(numbers(5 << 20, step))
    places = [t.data_ptr() for t in weights + [cache]]
    awake = free()
    point(pool.get_current_usage() == before - awake >= 88 << 20, "the pool's usage is what the device has less")
    for round in range(3):
        pool.sleep("weights")
        equal(free(), before, f"asleep, all memory is back (round {round})")
        pool.wake_up(["weights"])
        point(awake < free() < before, "the weights alone are awake")
        pool.wake_up()
        equal(free(), awake, "awake, it is taken again")
        equal([t.data_ptr() for t in weights + [cache]], places, "at the same addresses")
        point(all(torch.equal(t.cpu(), numbers(5 << 20, step)) for step, t in enumerate(weights, 1)), "the weights have their bytes")
    cache.copy_(numbers(48 << 20, 7))
    point(torch.equal(cache.cpu(), numbers(48 << 20, 7)), "the cache can be written again")
    pool.sleep(())
    pool.wake_up()
    equal([t.data_ptr() for t in weights + [cache]], places, "discarded, the addresses stay")
    del weights, cache, tensor
    return before


if not os.path.exists(os.path.join(SITE, "vllm", "device_allocator", "cumem.py")):
    print("ok - sleep and wake # SKIP no vLLM: name a folder with its package in VLLM_SITE")
    sys.exit(0)
sys.path.insert(0, SITE)
pool = allocator()
before = sleep_and_wake(pool)
pool.release_pools()
equal(free(), before, "released, all memory is back")
