# SPDX-License-Identifier: Apache-2.0
"""PyTorch: devices, their properties and memory, peers."""
# framework: torch
# machine: sim:h200x2
# explain: 2 error VMM-DEVICE-ID

import torch

from framework import equal, point, raises

point(torch.cuda.is_available(), "a device is there")
equal(torch.cuda.device_count(), 2, "two devices")
equal(torch.cuda.current_device(), 0, "the first one is current")
for device in range(2):
    is_of = torch.cuda.get_device_properties(device)
    equal(is_of.name, "NVIDIA H200", f"device {device} has its name")
    equal((is_of.major, is_of.minor), (9, 0), f"device {device} has its compute capability")
    equal(is_of.multi_processor_count, 132, f"device {device} has its multiprocessors")
    free, total = torch.cuda.mem_get_info(device)
    equal(total, is_of.total_memory, f"device {device} has the memory of its properties")
    point(0 < free <= total, f"device {device} has free memory")
equal(torch.cuda.get_device_name(1), "NVIDIA H200", "a name by index")
equal(torch.cuda.get_device_capability(1), (9, 0), "a capability by index")
point(torch.cuda.can_device_access_peer(0, 1), "the devices are peers")
with torch.cuda.device(1):
    equal(torch.cuda.current_device(), 1, "the second one is current inside")
    equal(torch.empty(3, device="cuda").device.index, 1, "what is allocated there lies there")
equal(torch.cuda.current_device(), 0, "and the first one behind")
raises(Exception, lambda: torch.cuda.set_device(2), "no third device", "invalid device ordinal")
raises(Exception, lambda: torch.empty(1, device="cuda:7"), "nothing is allocated on device 7", "invalid device ordinal")
equal(torch.empty(4, device="cuda").device.index, 0, "a refused device leaves the thread's own")
