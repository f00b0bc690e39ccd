# SPDX-License-Identifier: Apache-2.0
"""PyTorch: more memory than the device has, and the behaviour afterwards."""
# framework: torch
# run: segments
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
# run: async PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
# explain segments: 4 error VMM-ALLOC-MEMORY
# explain expandable: 4 error VMM-CREATE-MEMORY
# explain async: 4 error VMM-POOL-ALLOC-MEMORY

import torch

from framework import equal, point, raises, torch_end

_, total = torch.cuda.mem_get_info()
host = torch.arange(1 << 16, dtype=torch.int32)
kept = host.cuda()
raises(torch.cuda.OutOfMemoryError, lambda: torch.empty(total + 1, dtype=torch.uint8, device="cuda"), "more than there is", "out of memory")
point(torch.equal(kept.cpu(), host), "what was there keeps its bytes")
large = [torch.empty(8 << 30, dtype=torch.uint8, device="cuda") for _ in range(total // (8 << 30) - 1)]
raises(torch.cuda.OutOfMemoryError, lambda: torch.empty(16 << 30, dtype=torch.uint8, device="cuda"), "more than is left", "out of memory")
small = torch.arange(1000).cuda()
point(torch.equal(small.cpu(), torch.arange(1000)), "a small one is allocated behind it")
large[1][-4:].copy_(torch.tensor([1, 2, 3, 4], dtype=torch.uint8))
equal(large[1][-4:].cpu().tolist(), [1, 2, 3, 4], "the last bytes of 8 GiB")
large.clear()
torch.cuda.empty_cache()
again = torch.empty(total // 2, dtype=torch.uint8, device="cuda")
again[-1:].copy_(torch.tensor([7], dtype=torch.uint8))
equal(again[-1:].cpu().tolist(), [7], "half of the device after empty_cache")
point(torch.equal(kept.cpu(), host), "what was there keeps its bytes to the end")
retries = torch.cuda.memory_stats().get("num_ooms", 0)
point(retries >= 2 or torch.cuda.get_allocator_backend() != "native", "the allocator counted them")
torch_end(globals())
