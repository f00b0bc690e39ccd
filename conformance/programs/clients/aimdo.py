# SPDX-License-Identifier: Apache-2.0
# package: comfy_aimdo
"""comfy-aimdo: weights in reserved addresses whose pages get memory when they are wanted, and lose it under pressure.

Its native library finds the driver by itself, asks cuGetProcAddress for everything, and patches the driver's functions in
memory to count what others allocate. It uses no CUDA runtime.
"""

from cuda.bindings import driver

from client import equal, in_use, ok, point, primary, read, write

MIB = 1 << 20
PAGE = 32 * MIB
LAYER = 1024 * MIB
primary()
before = in_use()

from comfy_aimdo import control

point(control.init("cuda"), "its library loads")
point(control.init_devices([0]), "and takes the device, with its hooks in the driver")

from comfy_aimdo.model_vbar import ModelVBAR, vbar_fault, vbar_signature_compare, vbar_unpin
from comfy_aimdo.vram_buffer import VRAMBuffer


def on_demand():
    model = ModelVBAR(1024 * MIB, 0)
    equal(in_use() - before, 0, "reserved addresses take no memory")
    weights = model.alloc(100 * MIB)
    first = vbar_fault(weights)
    equal(in_use() - before, 4 * PAGE, "what is wanted gets whole pages")
    write(weights[1] + 100 * MIB - 7, b"weights")
    equal(read(weights[1] + 100 * MIB - 7, 7), b"weights", "bytes go in and out")
    equal(model.get_residency()[:5], [3, 3, 3, 3, 0], "four pages are there, and held")
    vbar_unpin(weights)
    again = vbar_fault(weights)
    point(vbar_signature_compare(first, again), "wanted again, they are the same pages")
    vbar_unpin(weights)
    equal((model.free_memory(2 * PAGE), in_use() - before), (2 * PAGE, 2 * PAGE), "asked to, it gives two back")
    model.close()
    equal(in_use() - before, 0, "closed, all of it is back")


def load(model):
    """All of a model, layer after layer, as it is used; how many layers could not be had."""
    model.prioritize()
    missing = 0
    while model.offset + LAYER <= model.max_size:
        layer = model.alloc(LAYER)
        missing += vbar_fault(layer) is None
        vbar_unpin(layer)
    return missing


def under_pressure():
    """Two models which do not fit together: the one that is wanted takes the other's pages."""
    total = ok(driver.cuMemGetInfo())[1]
    size = total * 6 // 10 // LAYER * LAYER
    first, second = ModelVBAR(size, 0), ModelVBAR(size, 0)
    equal((load(first), first.loaded_size()), (0, size), "60% of the device for one model")
    equal((load(second), second.loaded_size()), (0, size), "and 60% for another, which is wanted more")
    point(0 < first.loaded_size() < total - size, "at the cost of pages of the first")
    equal(in_use() - before, first.loaded_size() + second.loaded_size(), "the device counts what both have")
    first.close()
    second.close()
    equal(in_use() - before, 0, "closed, all of it is back")


def growing():
    buffer = VRAMBuffer(512 * MIB, 0)
    _, start, _ = buffer.get(5 * MIB)
    write(start, b"kept")
    equal(in_use() - before, 16 * MIB, "a growing buffer begins with one piece")
    _, same, _ = buffer.get(100 * MIB)
    equal((same, read(same, 4), in_use() - before), (start, b"kept", 112 * MIB), "grows where it is, with its bytes")
    del buffer
    equal(in_use() - before, 0, "and goes as a whole")


on_demand()
under_pressure()
growing()
control.deinit()
ok(driver.cuDevicePrimaryCtxRelease(0))
