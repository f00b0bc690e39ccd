# SPDX-License-Identifier: Apache-2.0
"""Two processes, a device each, add up and gather tensors through NCCL. Without a rank this starts both and waits for them."""
import os
import subprocess
import sys
import tempfile

RANKS = 2


def rank(number, store):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(number)
    dist.init_process_group("nccl", init_method="file://" + store, rank=number, world_size=RANKS)
    for count in (1, 1 << 20, 1 << 26):
        tensor = torch.full((count,), number + 1, dtype=torch.int32, device="cuda")
        dist.all_reduce(tensor)
        assert tensor[0].item() == 3 and tensor[-1].item() == 3, "a wrong sum"
        own = torch.full((count,), number + 1, dtype=torch.int32, device="cuda")
        parts = [torch.empty_like(own) for _ in range(RANKS)]
        dist.all_gather(parts, own)
        assert [p[-1].item() for p in parts] == [1, 2], "a wrong part"
    dist.barrier()
    torch.cuda.synchronize()
    dist.destroy_process_group()
    print("ok: rank", number, "of", RANKS, "with NCCL", ".".join(map(str, torch.cuda.nccl.version())))


def main():
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([sys.executable, __file__, str(i), os.path.join(folder, "store")]) for i in range(RANKS)]
        sys.exit(max(abs(r.wait()) for r in ranks))


if len(sys.argv) == 3:
    rank(int(sys.argv[1]), sys.argv[2])
else:
    main()
