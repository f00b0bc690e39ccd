# SPDX-License-Identifier: Apache-2.0
"""PyTorch's caching allocator while calls of the driver fail: for `cuvmm exec --fault=...`. Bytes of whatever is still there are
compared at the end, and nothing may be held then; an error that PyTorch raises is handled as a server would: free what can
be freed, then try once more."""
# framework: torch
# run: segments
# run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True

import torch

from framework import torch_end

SIZES = [1 << 20, 24 << 20, 50 << 20, 3 << 20, 130 << 20]


def allocate(host):
    """host on the device; None if there is no memory even after a second try."""
    for _ in range(2):
        try:
            return host.cuda()
        except RuntimeError as error:
            print(type(error).__name__, str(error).splitlines()[0][:120], flush=True)
            torch.cuda.empty_cache()
    return None


def main():
    live = []
    for turn, size in enumerate(SIZES * 2):
        host = torch.full((size,), turn + 1, dtype=torch.uint8)
        live.append((allocate(host), host))
        if turn % 3 == 2:
            live.pop(0)
        if turn == len(SIZES):
            torch.cuda.empty_cache()
    for there, host in live:
        assert there is None or torch.equal(there.cpu(), host), "wrong bytes"
    print("bytes compared:", sum(there is not None for there, _ in live), "of", len(live))


main()
torch_end(globals())
