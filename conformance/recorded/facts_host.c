/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives on the host: who may be given rights to it and what the queries say. */
#include "facts_calls.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define G FACTS_G

/* The signal that a touch by the program itself ends with, 0 for none; in a child, as the recording did. */
static int touch(vmm_deviceptr address, const unsigned char *value)
{
    volatile unsigned char *at = (volatile unsigned char *)(uintptr_t)address;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        if (value)
            *at = *value;
        else
            (void)*at;
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child to touch memory in");
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#ifdef __SANITIZE_ADDRESS__ /* its shadow lies at the recorded addresses */
enum { ADDRESSES_TAKEN = 1 };
#else
enum { ADDRESSES_TAKEN = 0 };
#endif

static void touched(struct facts *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void touched(struct facts *f, const char *name, const char *format, ...)
{
    char value[64];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    if (ADDRESSES_TAKEN)
        facts_later(f, name, FACTS_HOST_ADDRESSES);
    else
        facts_value(f, name, "%s", value);
}

static int host_reads(vmm_deviceptr address)
{
    return touch(address, NULL);
}

static int host_writes(vmm_deviceptr address, unsigned char value)
{
    return touch(address, &value);
}

void facts_host_dereference(struct facts *f)
{
    vmm_deviceptr mapped = fc_take(f, G), reserved;
    fc_put(f, mapped, G, fc_make(f, G));
    fc_grant(f, mapped, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    touched(f, "host.deref_dev_rw", "sig %d", host_reads(mapped));
    reserved = fc_take(f, G);
    touched(f, "host.deref_reserved", "sig %d", host_reads(reserved));
}

static const char *line_of(char *line, size_t size, const char *place, const char *rest)
{
    snprintf(line, size, "%s.%s", place, rest);
    return line;
}

static void grant_line(struct facts *f, const char *place, vmm_deviceptr d, vmm_mem_access_desc desc, const char *rest)
{
    char line[64];
    vmm_result result = fc_set_access(f, d, 2 * G, &desc, 1);
    facts_result(f, result, line_of(line, sizeof line, place, rest));
}

/* Rights for each kind of location in turn, and what each then has. */
static void grant_each(struct facts *f, const char *place, vmm_deviceptr d)
{
    static const vmm_mem_location_type types[] = {
        VMM_MEM_LOCATION_TYPE_HOST,
        VMM_MEM_LOCATION_TYPE_HOST_NUMA,
        VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
        VMM_MEM_LOCATION_TYPE_DEVICE,
    };
    char rest[32], line[64];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_access_desc desc = {{types[i], 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
        uint64_t flags = 99;
        snprintf(rest, sizeof rest, "setaccess_loc%d", types[i]);
        grant_line(f, place, d, desc, rest);
        snprintf(rest, sizeof rest, "getaccess_loc%d", types[i]);
        vmm_result result = fc_get_access(f, &flags, &desc.location, d);
        facts_result(f, result, line_of(line, sizeof line, place, rest));
        facts_value(f, line, "%" PRIu64, flags);
        snprintf(rest, sizeof rest, "after_loc%d", types[i]);
        int wrote = host_writes(d, 0x21);
        touched(f, line_of(line, sizeof line, place, rest), "write sig %d read sig %d", wrote, host_reads(d));
    }
}

/* What the host finds after the kernel has filled the memory. */
static void see_kernel(struct facts *f, const char *place, vmm_deviceptr d)
{
    unsigned seen = host_reads(d) ? 0 : *(volatile unsigned char *)(uintptr_t)(d + 5);
    touched(f, place, "host sees kernel write(42) %x", seen);
}

static void on_host(struct facts *f, const char *place, vmm_mem_location_type type)
{
    char line[64];
    uint64_t g = 0;
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = fc_prop(0);
    prop.location.type = type;
    vmm_result result = fc_granularity(f, &g, &prop, 0);
    facts_line(f, line_of(line, sizeof line, place, "gran"), "%s %" PRIu64, facts_code(result), g);
    result = fc_create(f, &handle, 2 * G, &prop, 0);
    facts_result(f, result, line_of(line, sizeof line, place, "create"));
    vmm_deviceptr d = fc_take(f, 4 * G);
    result = fc_map(f, d, 2 * G, 0, handle, 0);
    facts_result(f, result, line_of(line, sizeof line, place, "map"));
    touched(f, place, "deref_before_access sig %d", host_reads(d));
    grant_each(f, place, d);
    result = fc_kernel_fill(f, d, 0x42, 2 * G);
    facts_result(f, result, line_of(line, sizeof line, place, "kernel_fill"));
    see_kernel(f, place, d);
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    grant_line(f, place, d, desc, "setaccess_host_ro");
    int wrote = host_writes(d, 1);
    touched(f, line_of(line, sizeof line, place, "host_ro"), "write sig %d read sig %d", wrote, host_reads(d));
    desc.flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    grant_line(f, place, d, desc, "setaccess_host_none");
    touched(f, line_of(line, sizeof line, place, "setaccess_host_none"), "read sig %d", host_reads(d));
    desc = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    grant_line(f, place, d, desc, "setaccess_numa99");
    facts_pointer_lines(f, place, d);
    facts_result(f, fc_unmap(f, d, 2 * G), "hostloc.unmap");
    touched(f, place, "deref_after_unmap sig %d", host_reads(d));
    facts_result(f, fc_release(f, handle), "hostloc.release");
    facts_result(f, fc_free(f, d, 4 * G), "hostloc.free");
    touched(f, place, "deref_after_free sig %d", host_reads(d));
}

void facts_host_memory(struct facts *f)
{
    on_host(f, "HOST", VMM_MEM_LOCATION_TYPE_HOST);
}

void facts_numa_memory(struct facts *f)
{
    on_host(f, "NUMA0", VMM_MEM_LOCATION_TYPE_HOST_NUMA);
}
