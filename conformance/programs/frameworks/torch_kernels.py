# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own kernels, which the simulator has no twin of: they are skipped here, and counted at the end."""
# framework: torch

import torch

from framework import equal, point

filled = torch.full((1000,), 7, dtype=torch.uint8).cuda()
filled += 1
torch.cuda.synchronize()
equal(filled.cpu().unique().tolist(), [7], "a kernel that is skipped writes nothing")
allocated = filled.new_empty(10)
point(allocated.is_cuda, "memory is allocated as ever")
