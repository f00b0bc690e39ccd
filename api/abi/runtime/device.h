/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: device. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */

/* errors */
cudaError_t CUDAAPI cudaGetLastError(void);
cudaError_t CUDAAPI cudaPeekAtLastError(void);
const char *CUDAAPI cudaGetErrorName(cudaError_t error);
const char *CUDAAPI cudaGetErrorString(cudaError_t error);

/* versions */
cudaError_t CUDAAPI cudaDriverGetVersion(int *driverVersion);
cudaError_t CUDAAPI cudaRuntimeGetVersion(int *runtimeVersion);

/* devices */
cudaError_t CUDAAPI cudaGetDeviceCount(int *count);
cudaError_t CUDAAPI cudaGetDevice(int *device);
cudaError_t CUDAAPI cudaSetDevice(int device);
cudaError_t CUDAAPI cudaDeviceSynchronize(void);
cudaError_t CUDAAPI cudaDeviceReset(void);
