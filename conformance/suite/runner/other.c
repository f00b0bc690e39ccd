/* SPDX-License-Identifier: Apache-2.0 */
#include "other.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "house.h"
#include "other_team.h"
#include "passing.h"
#include "test.h"
#include "vmm_fd.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

struct request {
    int32_t op, has_fd;
    uint64_t first, second;
    unsigned char fabric[VMM_FABRIC_HANDLE_SIZE];
};

static const char *program = "conformance";

void other_program(const char *name)
{
    program = name;
}

static bool send_all(int socket, const void *bytes, size_t size)
{
    return write(socket, bytes, size) == (ssize_t)size;
}

static bool receive_all(int socket, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = read(socket, (char *)bytes + done, size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Sends a descriptor after the bytes that announce it. */
static bool pass(int socket, int fd)
{
    return vmm_fd_send(socket, fd, NULL, 0, -1) == VMM_SUCCESS;
}

static int passed(int socket)
{
    int fd = -1;
    vmm_fd_receive(socket, &fd, NULL, 0, -1);
    return fd;
}

/* ---- the test's side ---- */

/* the machine of the test that shares; "" on a driver, where all processes share the one machine */
static char machine[64];

void other_name_machine(void)
{
    static unsigned count;
    snprintf(machine, sizeof machine, "suite-%ld-%u", (long)getpid(), ++count);
    setenv("CUVMM_MACHINE", machine, 1);
}

struct fix *fix_share(struct fix *f)
{
    if (f->house || !fix_is_simulator(f->spec))
        return f;
    other_name_machine();
    return fix_same(f);
}

struct fix *fix_same(struct fix *f)
{
    setenv("CUVMM_MACHINE", machine, 1);
    char spec[sizeof f->spec];
    snprintf(spec, sizeof spec, "%s", f->spec);
    struct fix *made = fix_also(f, spec, 0);
    unsetenv("CUVMM_MACHINE"); /* the next test has another */
    return made;
}

static void start(const char *spec, int socket)
{
    char number[16];
    snprintf(number, sizeof number, "%d", socket);
    fcntl(socket, F_SETFD, 0);
    const char *layers = strrchr(spec, '|'); /* the trace is the test's own: a second one would truncate its file */
    setenv("CUVMM_BACKEND", layers ? layers + 1 : spec, 1);
    if (machine[0])
        setenv("CUVMM_MACHINE", machine, 1);
    unsetenv("CUVMM_LAYERS");
    execlp(program, program, "--other", number, (char *)NULL);
    _exit(127);
}

struct other other_start(struct fix *f)
{
    char spec[sizeof f->spec];
    snprintf(spec, sizeof spec, "%s", f->spec);
    return other_start_on(f, spec);
}

struct other other_start_on(struct fix *f, const char *spec)
{
    struct other other = {-1, -1};
    int ends[2];
    house_need_calls(f, "calls of another process cannot be replayed");
    bool paired = vmm_fd_pair(ends) == VMM_SUCCESS;
    fflush(NULL);
    other.pid = paired ? fork() : -1;
    if (other.pid == 0)
        start(spec, ends[1]);
    if (paired)
        close(ends[1]);
    other.socket = paired ? ends[0] : -1;
    fix_need(f, other.pid > 0 && passing_wait(other.socket) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    return other;
}

void other_end(struct other *other)
{
    if (other->socket >= 0)
        close(other->socket);
    if (other->pid > 0)
        waitpid(other->pid, NULL, 0);
    *other = (struct other){-1, -1};
}

void other_kill(struct other *other)
{
    if (other->pid > 0)
        kill(other->pid, SIGKILL);
    other_end(other);
}

static struct other_answer ask(struct other *other, const struct request *request, int fd)
{
    struct other_answer answer = {.result = -1, .fd = -1};
    bool asked = send_all(other->socket, request, sizeof *request) && (fd < 0 || pass(other->socket, fd));
    if (!asked || !receive_all(other->socket, &answer, sizeof answer)) {
        answer.result = -1;
        answer.fd = -1;
    } else if (answer.fd >= 0) {
        answer.fd = passed(other->socket);
    }
    return answer;
}

struct other_answer other_ask(struct other *other, enum other_op op, uint64_t first, uint64_t second, int fd)
{
    struct request request = {(int32_t)op, fd >= 0, first, second, {0}};
    return ask(other, &request, fd);
}

struct other_answer other_ask_fabric(struct other *other, enum other_op op, const unsigned char *fabric)
{
    struct request request = {(int32_t)op, 0, 0, 0, {0}};
    memcpy(request.fabric, fabric, sizeof request.fabric);
    return ask(other, &request, -1);
}

struct other_shared other_start_sharing(struct fix *f, enum other_op op, uint64_t first, uint64_t second)
{
    struct other_shared shared = {.other = other_start(f)};
    struct other_answer answer = other_ask(&shared.other, op, first, second, -1);
    CHECK(!answer.result, "the other process shares nothing: %s", answer.rule);
    shared.value = answer.value;
    memcpy(&shared.handle, answer.fabric, sizeof shared.handle);
    return shared;
}

/* ---- the other side ---- */

static vmm_system *sys;
static uint64_t unit; /* a granule of device memory */
static int kept = -1;

static void *by_value(int fd)
{
    return (void *)(uintptr_t)fd;
}

static vmm_result set_up(void)
{
    vmm_context ctx;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_result result = vmm_open(NULL, &sys);
    if (result == VMM_SUCCESS)
        result = vmm_init(sys, 0);
    if (result == VMM_SUCCESS)
        result = vmm_ctx_create(sys, &ctx, 0, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    return result;
}

static vmm_result create(uint64_t size, uint64_t place, int types, uint64_t *handle)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = types};
    prop.location.type = (vmm_mem_location_type)(uint32_t)place;
    prop.location.id = (int)(uint32_t)(place >> 32);
    return vmm_mem_create(sys, handle, size, &prop, 0);
}

static vmm_result map(uint64_t handle, uint64_t size, uint64_t *address)
{
    vmm_mem_allocation_prop prop;
    vmm_mem_access_desc desc[2] = {{{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW}, {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW}};
    vmm_result result = vmm_mem_address_reserve(sys, address, size, 0, 0, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_map(sys, *address, size, 0, handle, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_get_allocation_properties_from_handle(sys, &prop, handle);
    bool host = result == VMM_SUCCESS && prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    return result == VMM_SUCCESS ? vmm_mem_set_access(sys, *address, size, desc, host ? 2 : 1) : result;
}

static vmm_result peek(uint64_t address, uint64_t *value)
{
    unsigned char byte = 0;
    vmm_result result = vmm_memcpy_dtoh(sys, &byte, address, 1);
    *value = byte;
    return result;
}

static vmm_result fill(uint64_t address, uint64_t value)
{
    vmm_result result = vmm_memset_d8(sys, address, (unsigned char)value, unit);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

static vmm_result grandchild(uint64_t size, int fd, uint64_t *value)
{
    char number[16], length[32];
    int status = 0;
    snprintf(number, sizeof number, "%d", fd);
    snprintf(length, sizeof length, "%llu", (unsigned long long)size);
    fcntl(fd, F_SETFD, 0); /* inheritable */
    pid_t pid = fork();
    if (pid == 0) {
        execlp(program, program, "--grandchild", number, length, (char *)NULL);
        _exit(127);
    }
    close(fd);
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    *value = ended ? (uint64_t)WEXITSTATUS(status) : 0;
    return ended ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM;
}

static vmm_result import(int fd, uint64_t *handle)
{
    vmm_result result = vmm_mem_import_from_shareable_handle(sys, handle, by_value(fd), FD);
    close(fd);
    return result;
}

static vmm_result types(uint64_t handle, uint64_t *value)
{
    vmm_mem_allocation_prop prop = {0};
    vmm_result result = vmm_mem_get_allocation_properties_from_handle(sys, &prop, handle);
    *value = (uint64_t)prop.requested_handle_types;
    return result;
}

static vmm_result place(uint64_t handle, uint64_t *value)
{
    vmm_mem_allocation_prop prop = {0};
    vmm_result result = vmm_mem_get_allocation_properties_from_handle(sys, &prop, handle);
    *value = other_place(prop.location.type, prop.location.id);
    return result;
}

static vmm_result keep(int fd)
{
    if (kept >= 0)
        close(kept);
    kept = fd;
    return VMM_SUCCESS;
}

/* Memory that a handle of the older kind names. */
static vmm_result allocate(uint64_t size, uint64_t value, struct other_answer *answer)
{
    vmm_ipc_mem_handle handle;
    vmm_result result = vmm_mem_alloc(sys, &answer->value, size);
    if (result == VMM_SUCCESS)
        result = vmm_memset_d8(sys, answer->value, (unsigned char)value, size);
    if (result == VMM_SUCCESS)
        result = vmm_ctx_synchronize(sys);
    if (result == VMM_SUCCESS)
        result = vmm_ipc_get_mem_handle(sys, &handle, answer->value);
    if (result == VMM_SUCCESS)
        memcpy(answer->fabric, &handle, sizeof handle);
    return result;
}

/* Requests on events that processes share. */
static vmm_result act_event(const struct request *r, struct other_answer *answer)
{
    vmm_ipc_event_handle handle;
    vmm_event event = (vmm_event)(uintptr_t)r->first;
    vmm_result result = VMM_SUCCESS;
    switch ((enum other_op)r->op) {
    case OTHER_EVENT:
        result = vmm_event_create(sys, &event, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING);
        if (result == VMM_SUCCESS)
            result = vmm_ipc_get_event_handle(sys, &handle, event);
        if (result != VMM_SUCCESS)
            return result;
        memcpy(answer->fabric, &handle, sizeof handle);
        answer->value = (uint64_t)(uintptr_t)event;
        break;
    case OTHER_RECORD: result = r->second ? vmm_memset_d8_async(sys, r->second, 1, 1, NULL) : VMM_SUCCESS; break;
    default: result = vmm_event_synchronize(sys, event); return result == VMM_SUCCESS ? vmm_stream_wait_event(sys, NULL, event, 0) : result;
    }
    if (result == VMM_SUCCESS)
        result = vmm_event_record(sys, event, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
}

/* Requests on fabric handles. */
static vmm_result act_fabric(struct request *r, struct other_answer *answer)
{
    switch ((enum other_op)r->op) {
    case OTHER_CREATE_FABRIC: return create(r->first, r->second, FABRIC, &answer->value);
    case OTHER_EXPORT_FABRIC: return vmm_mem_export_to_shareable_handle(sys, answer->fabric, r->first, FABRIC, 0);
    default: return vmm_mem_import_from_shareable_handle(sys, &answer->value, r->fabric, FABRIC);
    }
}

static vmm_result act_pool(const struct request *r, int fd, struct other_answer *answer)
{
    static vmm_memory_pool pool;
    vmm_result result;
    switch ((enum other_op)r->op) {
    case OTHER_IMPORT_POOL:
        result = vmm_mem_pool_import_from_shareable_handle(sys, &pool, (void *)(intptr_t)fd, FD, 0);
        close(fd);
        answer->value = (uint64_t)(uintptr_t)pool;
        return result;
    case OTHER_IMPORT_POINTER: {
        vmm_mem_pool_ptr_export_data data;
        memcpy(&data, r->fabric, sizeof data);
        return vmm_mem_pool_import_pointer(sys, &answer->value, pool, &data);
    }
    case OTHER_FREE_POINTER:
        result = vmm_mem_free_async(sys, r->first, NULL);
        return result == VMM_SUCCESS ? vmm_ctx_synchronize(sys) : result;
    default: return vmm_mem_pool_destroy(sys, (vmm_memory_pool)(uintptr_t)r->first);
    }
}

static vmm_result act(struct request *r, int fd, struct other_answer *answer)
{
    uint64_t total;
    vmm_result result;
    if (other_team_act(sys, r->op, r->first, r->second, &answer->value, &result))
        return result;
    switch ((enum other_op)r->op) {
    case OTHER_CREATE: return create(r->first, r->second, FD, &answer->value);
    case OTHER_EXPORT: return vmm_mem_export_to_shareable_handle(sys, &answer->fd, r->first, FD, 0);
    case OTHER_IMPORT: return import(fd, &answer->value);
    case OTHER_KEEP: answer->value = (uint64_t)fd; return keep(fd);
    case OTHER_DROP: return keep(-1);
    case OTHER_TYPES: return types(r->first, &answer->value);
    case OTHER_PLACE: return place(r->first, &answer->value);
    case OTHER_MAP: return map(r->first, r->second, &answer->value);
    case OTHER_UNMAP: return vmm_mem_unmap(sys, r->first, r->second);
    case OTHER_RELEASE: return vmm_mem_release(sys, r->first);
    case OTHER_FILL: return fill(r->first, r->second);
    case OTHER_PEEK: return peek(r->first, &answer->value);
    case OTHER_POKE: *(volatile unsigned char *)(uintptr_t)r->first = (unsigned char)r->second; return VMM_SUCCESS;
    case OTHER_FREE: return vmm_mem_get_info(sys, &answer->value, &total);
    case OTHER_GRANDCHILD: return grandchild(r->first, fd, &answer->value);
    case OTHER_ALLOC: return allocate(r->first, r->second, answer);
    case OTHER_FREE_MEMORY: return vmm_mem_free(sys, r->first);
    case OTHER_EVENT:
    case OTHER_RECORD:
    case OTHER_WAIT: return act_event(r, answer);
    case OTHER_CREATE_FABRIC:
    case OTHER_EXPORT_FABRIC:
    case OTHER_IMPORT_FABRIC: return act_fabric(r, answer);
    case OTHER_IMPORT_POOL:
    case OTHER_IMPORT_POINTER:
    case OTHER_FREE_POINTER:
    case OTHER_DESTROY_POOL: return act_pool(r, fd, answer);
    default: return VMM_ERROR_INVALID_VALUE;
    }
}

/* This process does not report the handle, reservation and mapping that a test left in it. */
static void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

int other_main(int socket)
{
    struct request request;
    alarm(60);
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (set_up() != VMM_SUCCESS) {
        fprintf(stderr, "other process: %s %s\n", vmm_result_name(vmm_last_detail()->result), vmm_last_detail()->note);
        return 1;
    }
    passing_go_on(socket);
    while (receive_all(socket, &request, sizeof request)) {
        struct other_answer answer = {.fd = -1};
        int fd = request.has_fd ? passed(socket) : -1;
        answer.result = (int32_t)act(&request, fd, &answer);
        const vmm_detail *detail = vmm_last_detail();
        snprintf(answer.rule, sizeof answer.rule, "%s", answer.result && detail->rule ? detail->rule : "");
        snprintf(answer.note, sizeof answer.note, "%s", answer.result ? detail->note : "");
        if (!send_all(socket, &answer, sizeof answer) || (answer.fd >= 0 && !pass(socket, answer.fd)))
            return 1;
        if (answer.fd >= 0)
            close(answer.fd);
    }
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
    return 0;
}

int other_grandchild(int fd, uint64_t size)
{
    uint64_t handle, address, value;
    alarm(60);
    if (set_up() != VMM_SUCCESS || import(fd, &handle) != VMM_SUCCESS || map(handle, size, &address) != VMM_SUCCESS ||
        peek(address, &value) != VMM_SUCCESS)
        return 0;
    return (int)value; /* everything ends with the process */
}
