# SPDX-License-Identifier: Apache-2.0
"""JAX: its three allocators, arrays moved to the device and back, random steps, every byte compared.

The library reports what JAX leaves behind at its end, of cuDNN, which carries NVIDIA's runtime inside (cuGetExportTable), and of the
fabric handles that its vmm allocator asks for before it takes others; with the platform allocator some 32 MiB pieces, made by cuMemCreate,
stay behind deleted arrays."""
# framework: jax
# run: bfc XLA_PYTHON_CLIENT_PREALLOCATE=false
# run: preallocated XLA_PYTHON_CLIENT_MEM_FRACTION=.05
# run: platform XLA_PYTHON_CLIENT_ALLOCATOR=platform
# run: vmm XLA_PYTHON_CLIENT_ALLOCATOR=vmm XLA_PYTHON_CLIENT_PREALLOCATE=false
# run: async XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async XLA_PYTHON_CLIENT_PREALLOCATE=false
# explain: any error VMM-ENTRY-ABSENT
# explain: 1 leak VMM-LEAK-CONTEXT
# explain: 1 leak VMM-LEAK-EVENT
# explain: 1 leak VMM-LEAK-STREAM
# explain vmm: any error VMM-CREATE-FABRIC-IMEX
# explain platform: any leak VMM-LEAK-HANDLE
# explain platform: any leak VMM-LEAK-MAPPING
# explain platform: any leak VMM-LEAK-RESERVATION

import os

import jax
import numpy

from framework import equal, point, seeded

STEPS = int(os.environ.get("STEPS", "1000"))
random = seeded()
device = jax.devices("cuda")[0]
equal(device.platform, "gpu", "a device is there")
live, wrong = [], 0
for step in range(STEPS):
    if random.random() < 0.5 and sum(host.nbytes for _, host in live) < 1 << 29:
        count = random.choice([random.randrange(1, 4096), random.randrange(1 << 20), random.randrange(1 << 23)])
        host = numpy.frombuffer(random.randbytes(count), dtype=numpy.uint8)
        live.append((jax.device_put(host, device), host))
    elif live and random.random() < 0.5:
        array, host = random.choice(live)
        wrong += not numpy.array_equal(numpy.asarray(array), host)
    elif live:
        array, _ = live.pop(random.randrange(len(live)))
        array.delete()
wrong += sum(not numpy.array_equal(numpy.asarray(array), host) for array, host in live)
equal(wrong, 0, f"every byte of {STEPS} steps is as it was written")
point(len({array.unsafe_buffer_pointer() for array, _ in live}) == len(live), "no two share an address")
for array, _ in live:
    array.delete()
