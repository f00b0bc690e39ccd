/* The process's machine: opened by the first call, closed when the library goes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "abi_parts.h"
#include "findings.h"
#include "os.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static vmm_system *machine;
static vmm_result open_result;
static uint64_t opened_at; /* how many forks deep */

static _Atomic unsigned inside;      /* calls that are under way */
static _Atomic bool going;           /* the library is being unloaded, or the process ends */
static _Atomic uint64_t initialised; /* 1 + how many forks deep the process was at cuInit; 0: not yet */
static _Thread_local bool in_kernel;

/* Which machine this is. CUVMM_BACKEND may be meant for libcuvmm in the same process, whose driver this library then is. */
static const char *spec(void)
{
    const char *own = getenv("CUVMM_SIM"), *shared = getenv("CUVMM_BACKEND");
    if (own && own[0])
        return own;
    const char *last = shared ? strrchr(shared, '|') : NULL;
    const char *backend = last ? last + 1 + strspn(last + 1, " ") : shared;
    return backend && strncmp(backend, "sim", 3) == 0 ? shared : "sim:h100";
}

static void open_machine(void)
{
    char text[512];
    opened_at = os_fork_depth(); /* counts from here */
    if (findings_wanted("simulator", false))
        findings_open();
    open_result = vmm_open(spec(), &machine);
    if (open_result == VMM_SUCCESS) {
        vmm_set_report(machine, abi_report, NULL);
        return;
    }
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    abi_say("CUVMM_SIM, CUVMM_BACKEND or CUVMM_LAYERS cannot be used, so there is no machine:\n%s", text);
}

CUresult abi_enter(vmm_system **sys)
{
    if (in_kernel)
        return abi_refuse(CUDA_ERROR_NOT_PERMITTED, "a call in a kernel",
                          "the code of a kernel makes no calls of the driver, on a device or in a plugin");
    atomic_fetch_add(&inside, 1);
    if (atomic_load(&going)) {
        abi_leave();
        return CUDA_ERROR_DEINITIALIZED;
    }
    pthread_once(&once, open_machine);
    *sys = machine;
    if (machine)
        return CUDA_SUCCESS;
    abi_leave();
    return (CUresult)open_result;
}

void abi_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

void abi_initialised(void)
{
    atomic_store(&initialised, 1 + os_fork_depth());
}

CUresult abi_enter_initialised(vmm_system **sys)
{
    CUresult result = abi_enter(sys);
    if (result != CUDA_SUCCESS || initialised == 1 + os_fork_depth())
        return result;
    abi_leave();
    return CUDA_ERROR_NOT_INITIALIZED;
}

bool abi_inside_kernel(bool now)
{
    bool before = in_kernel;
    in_kernel = now;
    return before;
}

/* Threads that are in a call keep the machine; then it goes with the process. */
__attribute__((destructor)) static void close_machine(void)
{
    atomic_store(&going, true);
    if (atomic_load(&inside) || !machine)
        return;
    bool child = os_fork_depth() != opened_at; /* what is held is the parent's, which will tell */
    if (child)
        vmm_set_report(machine, NULL, NULL);
    vmm_close(machine);
    machine = NULL;
    if (!child && findings_wanted("simulator", false))
        findings_close();
    abi_plugins_close();
    abi_code_close();
    abi_host_close();
    abi_callbacks_close();
    abi_logs_close();
    abi_notes_close();
}
