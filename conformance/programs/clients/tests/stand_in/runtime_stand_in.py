# SPDX-License-Identifier: Apache-2.0
# runtime_stand_in.py: six calls of the CUDA runtime, by the driver API. cuda.bindings carries NVIDIA's runtime inside, which finds no
# way into libcuda.so.1 (docs/clients.md), so Device.sync() and the like fail before the test comes to what it is about. With this
# module (sitecustomize.py loads it into every process) the second run of ci/client-tests shows what lies behind.
from cuda.bindings import driver, runtime


def stands_in(name):
    def wrap(call):
        def answer(*args):
            code, *values = call(*args)
            return (runtime.cudaError_t(int(code)), *values)

        setattr(runtime, name, answer)
        return answer

    return wrap


def current():
    """The thread's device: that of its context, else the first one."""
    code, device = driver.cuCtxGetDevice()
    return (0, 0) if code == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT else (code, int(device))


@stands_in("cudaDeviceSynchronize")
def synchronize():
    return driver.cuCtxSynchronize()


@stands_in("cudaGetDevice")
def get_device():
    return current()


@stands_in("cudaGetDeviceCount")
def get_device_count():
    return driver.cuDeviceGetCount()


@stands_in("cudaSetDevice")
def set_device(device):
    code, context = driver.cuDevicePrimaryCtxRetain(device)
    return driver.cuCtxSetCurrent(context) if int(code) == 0 else (code,)


@stands_in("cudaDeviceGetPCIBusId")
def get_bus_id(length, device):
    return driver.cuDeviceGetPCIBusId(length, device)


@stands_in("cudaDeviceGetAttribute")
def get_attribute(attribute, device):
    return driver.cuDeviceGetAttribute(driver.CUdevice_attribute(int(attribute)), device)
