/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: stream. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */

/* streams */
cudaError_t CUDAAPI cudaStreamCreate(cudaStream_t *pStream);
cudaError_t CUDAAPI cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
cudaError_t CUDAAPI cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);
cudaError_t CUDAAPI cudaStreamDestroy(cudaStream_t stream);
cudaError_t CUDAAPI cudaStreamGetPriority(cudaStream_t hStream, int *priority);
cudaError_t CUDAAPI cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags);
cudaError_t CUDAAPI cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId);
cudaError_t CUDAAPI cudaStreamGetDevice(cudaStream_t hStream, int *device);
cudaError_t CUDAAPI cudaStreamQuery(cudaStream_t stream);
cudaError_t CUDAAPI cudaStreamSynchronize(cudaStream_t stream);
cudaError_t CUDAAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

/* functions of the host */
cudaError_t CUDAAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                          unsigned int flags);
cudaError_t CUDAAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);

/* events */
cudaError_t CUDAAPI cudaEventCreate(cudaEvent_t *event);
cudaError_t CUDAAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t CUDAAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t CUDAAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
cudaError_t CUDAAPI cudaEventQuery(cudaEvent_t event);
cudaError_t CUDAAPI cudaEventSynchronize(cudaEvent_t event);
cudaError_t CUDAAPI cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t CUDAAPI cudaEventDestroy(cudaEvent_t event);
cudaError_t CUDAAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t CUDAAPI cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);

/* captures */
cudaError_t CUDAAPI cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t CUDAAPI cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                                  const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                  enum cudaStreamCaptureMode mode);
cudaError_t CUDAAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);
cudaError_t CUDAAPI cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus);
cudaError_t CUDAAPI cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

/* what differs between CUDA 12 and 13 */
#if CUDART_VERSION >= 13000
cudaError_t CUDAAPI cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                             unsigned long long *id_out, cudaGraph_t *graph_out,
                                             const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
                                             size_t *numDependencies_out);
cudaError_t CUDAAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                        const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                        unsigned int flags);
#else
cudaError_t CUDAAPI cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t CUDAAPI cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                             unsigned long long *id_out, cudaGraph_t *graph_out,
                                             const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out);
cudaError_t CUDAAPI cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                                unsigned long long *id_out, cudaGraph_t *graph_out,
                                                const cudaGraphNode_t **dependencies_out,
                                                const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out);
cudaError_t CUDAAPI cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                        size_t numDependencies, unsigned int flags);
cudaError_t CUDAAPI cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                           const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                           unsigned int flags);
#endif
