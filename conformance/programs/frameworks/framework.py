# SPDX-License-Identifier: Apache-2.0
"""What the framework scripts share: points of a test, bytes that differ from others, and their seed.

A script prints its points; ci/framework runs it under `cuvmm exec` and counts them. Its head says what it needs:

    # framework: torch                       the packages of requirements-torch.txt
    # machine: sim:h200x2                    the machine (sim:h100)
    # kernels: run                           kernels run from their PTX, and are not skipped
    # run: expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
                                             one run of the script, with these variables; without such a line there is one run
    # exec: --fault=mem_map:3                options of cuvmm exec
    # explain: 2 error VMM-MAP-OVERLAP       what the library says of it: nothing else, and nothing is missing
    # explain expandable: 1 error VMM-...    the same of one run; any in place of a number: as often as it likes
"""

import os
import random

SEED = int(os.environ.get("CUVMM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)


def point(good, text):
    """One point. A script continues after a failed one."""
    print("ok -" if good else "not ok -", text, flush=True)


def equal(got, want, text):
    point(got == want, text if got == want else f"{text}: {got!r}, not {want!r}")


def raises(kind, call, text, containing=""):
    """A point: the call raises that, and its message names it."""
    try:
        call()
    except kind as error:
        good = containing in str(error)
        point(good, text if good else f"{text}: it says {str(error)[:200]!r}")
    else:
        point(False, f"{text}: nothing was raised")


def seeded():
    """A generator whose seed is printed, so that a run can be repeated."""
    print(f"# seed {SEED}; again: CUVMM_SEED={SEED}", flush=True)
    return random.Random(SEED)


def torch_end(space):
    """Empties PyTorch's cache, so that what is left at the end is a leak: space is the script's globals()."""
    import gc

    import torch

    for name in [name for name, value in space.items() if not name.startswith("_") and not callable(value)]:
        del space[name]
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch._C._host_emptyCache()
    equal(torch.cuda.memory_reserved(), 0, "PyTorch has freed its memory")
