# SPDX-License-Identifier: Apache-2.0
"""pytorch#188008: a cuMemMap that fails in the middle of an expandable segment leaves PyTorch's allocator broken.

The third cuMemMap fails once. What PyTorch 2.15.0 does then is written down here as it is; where a later one does better, the
points that say "assert" fail, and this script is to be changed."""
# framework: torch
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
# exec: --fault=mem_map:3
# explain: 1 error: cuMemMap

import torch

from framework import equal, point, raises, torch_end

host = torch.arange(1 << 20, dtype=torch.int32)
kept = host.cuda()
raises(RuntimeError, lambda: torch.empty(60 << 20, dtype=torch.uint8, device="cuda"), "the failure reaches the program", "CUDA driver error: out of memory")
point(torch.equal(kept.cpu(), host), "memory that was there keeps its bytes")
raises(RuntimeError, lambda: torch.empty(60 << 20, dtype=torch.uint8, device="cuda"), "the next allocation ends in PyTorch's own assert",
       "!handles_.at(i) INTERNAL ASSERT FAILED")
torch.cuda.empty_cache()
raises(RuntimeError, lambda: torch.empty(60 << 20, dtype=torch.uint8, device="cuda"), "and so does each one behind it: the allocator stays broken (assert)",
       "!handles_.at(i) INTERNAL ASSERT FAILED")
equal(torch.empty(1 << 10, device="cuda").numel(), 1 << 10, "small ones come from another segment")
torch_end(globals())
