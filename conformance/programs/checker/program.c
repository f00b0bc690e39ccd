/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

static struct program *first, **last = &first;
struct code code;

void program_add(struct program *program)
{
    *last = program;
    last = &program->next;
}

void program_do(const char *file, int line, const char *call, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s gives %d\n", file, line, call, (int)result);
    exit(3);
}

bool program_try(const char *call, CUresult result)
{
    if (result != CUDA_SUCCESS)
        fprintf(stderr, "warning: %s gives %d\n", call, (int)result);
    return result == CUDA_SUCCESS;
}

CUcontext also_device(CUdevice device)
{
    CUcontext context;
    DO(cuDevicePrimaryCtxRetain(&context, device));
    DO(cuCtxSetCurrent(context));
    return context;
}

void begin(void)
{
    DO(cuInit(0));
    also_device(0);
    DO(cuModuleLoadData(&code.module, kernels_ptx));
    DO(cuModuleGetFunction(&code.fill, code.module, "fill"));
    DO(cuModuleGetFunction(&code.add, code.module, "add"));
    DO(cuModuleGetFunction(&code.copy, code.module, "copy"));
    DO(cuModuleGetFunction(&code.sum, code.module, "sum"));
}

CUstream stream_new(unsigned int flags)
{
    CUstream stream;
    DO(cuStreamCreate(&stream, flags));
    return stream;
}

void stream_end(CUstream stream)
{
    DO(cuStreamSynchronize(stream));
    DO(cuStreamDestroy(stream));
}

CUevent event_new(void)
{
    CUevent event;
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

void stream_follow(CUstream later, CUstream earlier)
{
    CUevent event = event_new();
    DO(cuEventRecord(event, earlier));
    DO(cuStreamWaitEvent(later, event, 0));
    DO(cuEventDestroy(event));
}

static int list(void)
{
    for (const struct program *p = first; p; p = p->next)
        printf("%s|%s|%d|%s|%s|%s|%s\n", p->name, p->group, p->devices ? p->devices : 1,
               p->spins ? "spins" : p->polls ? "polls" : "", p->sim ? "sim" : "device",
               p->shares ? "shares" : "", p->fault ? p->fault : "");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    for (const struct program *p = first; p && argc == 2; p = p->next)
        if (strcmp(p->name, argv[1]) == 0) {
            begin();
            p->run();
            cuModuleUnload(code.module); /* after a mistake it may fail, as expected */
            return 0;
        }
    fprintf(stderr, "which program? --list prints them\n");
    return 2;
}
