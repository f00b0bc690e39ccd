/* SPDX-License-Identifier: Apache-2.0 */
/* The first recording program: the calls of virtual memory management and related ones, one after the other.
 *
 * Prints "id<TAB>result" lines as edges.c does. Every function t_... runs in a child; if the driver crashes, the id is its name
 * with "!". Values in brackets within an id are the author's expectation. The program is unchanged, except for the layout and the
 * kernels, which were compiler output.
 *
 * Build: gcc -std=c11 -isystem /usr/local/cuda/include first.c -o first -lcuda
 * Use:   first [first letters of children: t, k, c, m; order; times]
 *        LOGS=1: prints the driver's own log after each result
 */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* ---- the driver's log ---- */

static char log_text[65536];
static size_t log_length;

static void log_callback(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)data;
    if (log_length + length + 16 >= sizeof log_text)
        return;
    log_length += (size_t)sprintf(log_text + log_length, " {L%d:%.*s}", (int)level, (int)length, message);
    for (size_t i = 0; i < log_length; i++)
        if (log_text[i] == '\n' || log_text[i] == '\t')
            log_text[i] = ' ';
}

/* The log's text since the last call. */
static const char *logged(void)
{
    static char text[sizeof log_text];
    memcpy(text, log_text, log_length);
    text[log_length] = 0;
    log_length = 0;
    return text;
}

#undef R
#define R(id, call) (logged(), logged_answer((id), (call)))

static CUresult logged_answer(const char *id, CUresult r)
{
    say(id, "%s%s", name_of(r), logged());
    return r;
}

#define V(id, format, ...) say((id), "=" format, __VA_ARGS__)

/* ---- kernels: fill(p, n, byte) and sum(p, n, *out), one thread of a grid after the other ---- */

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 p, .param .u64 n, .param .u8 v)\n{\n"
    " .reg .u64 %a, %n, %i, %s, %x, %t;\n .reg .u32 %c, %d, %e, %g, %v;\n .reg .pred %q;\n"
    " ld.param.u64 %a, [p];\n ld.param.u64 %n, [n];\n ld.param.u8 %v, [v];\n cvta.to.global.u64 %a, %a;\n"
    " mov.u32 %c, %ctaid.x;\n mov.u32 %d, %ntid.x;\n mov.u32 %e, %tid.x;\n mov.u32 %g, %nctaid.x;\n"
    " mul.wide.u32 %i, %c, %d;\n cvt.u64.u32 %t, %e;\n add.u64 %i, %i, %t;\n mul.wide.u32 %s, %g, %d;\n"
    "again:\n setp.ge.u64 %q, %i, %n;\n @%q ret;\n add.u64 %x, %a, %i;\n st.global.u8 [%x], %v;\n"
    " add.u64 %i, %i, %s;\n bra again;\n}\n"
    ".visible .entry sum(.param .u64 p, .param .u64 n, .param .u64 o)\n{\n"
    " .reg .u64 %a, %n, %o, %i, %s, %x, %t, %y;\n .reg .u32 %c, %d, %e, %g, %v;\n .reg .pred %q;\n"
    " ld.param.u64 %a, [p];\n ld.param.u64 %n, [n];\n ld.param.u64 %o, [o];\n cvta.to.global.u64 %a, %a;\n"
    " cvta.to.global.u64 %o, %o;\n mov.u64 %y, 0;\n"
    " mov.u32 %c, %ctaid.x;\n mov.u32 %d, %ntid.x;\n mov.u32 %e, %tid.x;\n mov.u32 %g, %nctaid.x;\n"
    " mul.wide.u32 %i, %c, %d;\n cvt.u64.u32 %t, %e;\n add.u64 %i, %i, %t;\n mul.wide.u32 %s, %g, %d;\n"
    "again:\n setp.ge.u64 %q, %i, %n;\n @%q bra done;\n add.u64 %x, %a, %i;\n ld.global.u8 %v, [%x];\n"
    " cvt.u64.u32 %t, %v;\n add.u64 %y, %y, %t;\n add.u64 %i, %i, %s;\n bra again;\n"
    "done:\n red.global.add.u64 [%o], %y;\n ret;\n}\n";

static CUmodule module;
static CUfunction fill_kernel, sum_kernel;
static int ndev;

static void load_kernels(void)
{
    CUresult r = cuModuleLoadData(&module, ptx);
    if (!r)
        r = cuModuleGetFunction(&fill_kernel, module, "fill");
    if (!r)
        r = cuModuleGetFunction(&sum_kernel, module, "sum");
    if (r)
        say("kernels!", "%s", name_of(r));
}

static CUresult fill(CUdeviceptr p, u64 n, unsigned char v)
{
    void *args[] = {&p, &n, &v};
    CUresult r = cuLaunchKernel(fill_kernel, 64, 1, 1, 256, 1, 1, 0, 0, args, 0);
    return r ? r : cuCtxSynchronize();
}

static CUresult sum(CUdeviceptr p, u64 n, u64 *out)
{
    CUdeviceptr total;
    CUresult r = cuMemAlloc(&total, 8);
    if (r)
        return r;
    cuMemsetD8(total, 0, 8);
    void *args[] = {&p, &n, &total};
    r = cuLaunchKernel(sum_kernel, 64, 1, 1, 256, 1, 1, 0, 0, args, 0);
    if (!r)
        r = cuCtxSynchronize();
    if (r)
        return r;
    r = cuMemcpyDtoH(out, total, 8);
    cuMemFree(total);
    return r;
}

/* ---- helpers of most groups ---- */

static void begin(void)
{
    CUlogsCallbackHandle handle;
    init();
    cuDeviceGetCount(&ndev);
    if (getenv("LOGS"))
        cuLogsRegisterCallback(log_callback, 0, &handle);
    load_kernels();
}

static CUmemAllocationProp on_device(int id)
{
    return prop_at(L_DEVICE, id);
}

static CUmemAccessDesc rights(int id, int flags)
{
    return desc(L_DEVICE, id, flags);
}

static Handle make_shareable(size_t size)
{
    CUmemAllocationProp p = on_device(0);
    Handle h = 0;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUresult r = cuMemCreate(&h, size, &p, 0);
    if (r)
        say("make_shareable!", "%s", name_of(r));
    return h;
}

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

#include "first/queries.c"
#include "first/addresses.c"
#include "first/access.c"
#include "first/pointers.c"
#include "first/sharing.c"
#include "first/work.c"
#include "first/host.c"
#include "first/contexts.c"
#include "first/peers.c"
#include "first/order.c"
#include "first/times.c"

/* ---- the run ---- */

#define T(f) {#f "!", f}

static const struct {
    const char *id;
    void (*body)(void);
} children[] = {
    T(t_noinit),
    T(t_noctx),
    T(t_attrs),
    T(t_gran),
    T(t_create),
    T(t_handle),
    T(t_h0),
    T(t_hbad),
    T(t_rel0),
    T(t_relbad),
    T(t_rel2),
    T(t_propsrel),
    T(t_maprel),
    T(t_map0),
    T(t_mapbad),
    T(t_reserve),
    T(t_free),
    T(t_map),
    T(t_access),
    T(t_retain),
    T(t_mem),
    T(t_straddle),
    T(t_span),
    T(t_hcopy),
    T(t_multi),
    T(t_remap),
    T(t_ptr),
    T(t_dmabuf),
    T(t_export),
    T(t_ipc),
    T(t_fork),
    T(k_reserved_only),
    T(k_mapped_noaccess),
    T(k_none),
    T(k_ro_write),
    T(k_ro_read),
    T(k_rw),
    T(k_overrun),
    T(k_unreserved),
    T(c_htod_reserved),
    T(c_htod_noaccess),
    T(c_htod_ro),
    T(c_dtoh_ro),
    T(c_dtoh_reserved),
    T(c_dtoh_noaccess),
    T(c_htod_overrun),
    T(m_memset_ro),
    T(m_memset_noaccess),
    T(m_memset_reserved),
    T(m_memset_overrun),
    T(c_dtod_noaccess),
    T(m_memset_unreserved),
    T(t_hostderef),
    T(t_host),
    T(t_numa),
    T(t_ctxdestroy),
    T(t_devreset),
    T(t_peer),
    T(t_peer2),
    T(t_peer3),
};

static void every_group(void)
{
    if (strcmp(wanted, "order") == 0 || strcmp(wanted, "times") == 0) {
        void (*body)(void) = wanted[0] == 'o' ? t_order : t_lat;
        wanted[0] = 0;
        child(body == t_order ? "t_order!" : "t_lat!", body);
        return;
    }
    for (size_t i = 0; i < COUNT(children); i++)
        child(children[i].id, children[i].body);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    return record("first.c", every_group);
}
