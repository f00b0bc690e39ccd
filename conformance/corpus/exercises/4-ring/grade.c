/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 4. Two processes: the part itself writes, and its child reads. */
#define _POSIX_C_SOURCE 200809L
#include "../grader/grader.h"
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const struct grade_rule grade_rules[] = {
    {"EX-RING-EXACT", "memory for size bytes, once, in whole units of the minimum granularity",
     "create it once and map the one handle twice"},
    {"EX-RING-TWICE", "the same memory lies at at and at at + size", "reserve 2 * size; map the handle at both addresses"},
    {"EX-RING-RIGHTS", "the writer's device can read and write, the reader's only read, at both addresses; no other has access",
     "vmm_mem_set_access for both mappings, READ in ring_join"},
    {"EX-RING-FD", "an open descriptor keeps the memory allocated, so none may stay open",
     "close it after sending, after importing, and when either fails"},
    {"EX-RING-BYTES", "the reader gets the bytes that were written, in their order",
     "copy to at + written % size; wait for the copy before you announce it; announce bytes as read only after reading them"},
    {"EX-RING-FULL", "size bytes fit", "there is room while written - read < size; both only grow"},
    {"EX-RING-GONE", "when the other side is gone, the call reports it, and neither process ends",
     "VMM_ERROR_NOT_FOUND where talk_hear says TALK_GONE"},
    {0},
};

enum { CHUNKS = 12, READ_TO_THE_END = 42 }; /* the latter is a status with which no process ends by chance */

static unsigned descriptors(void)
{
    unsigned open = 0;
    for (int fd = 0; fd < 256; fd++)
        open += fcntl(fd, F_GETFD) >= 0;
    return open;
}

/* The simulator keeps a file open from the first export on, which does not count as the student's. */
static void warm_up(struct grade *g)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, g->device}};
    vmm_mem_generic_allocation_handle memory;
    int fd;
    if (vmm_mem_create(g->sys, &memory, g->unit, &prop, 0) != VMM_SUCCESS)
        return;
    if (vmm_mem_export_to_shareable_handle(g->sys, &fd, memory, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == VMM_SUCCESS)
        close(fd);
    vmm_mem_release(g->sys, memory);
}

/* Both processes must be on the same machine; a driver needs no name for it. */
static void name_machine(void)
{
    char name[40];
    snprintf(name, sizeof name, "exercise-%ld", (long)getpid());
    setenv("CUVMM_MACHINE", name, 0);
}

/* Is there memory that can be exported as a descriptor? */
static bool is_offered(struct grade *g)
{
    int offered = 0;
    return vmm_device_get_attribute(g->sys, &offered, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                                    g->device) == VMM_SUCCESS &&
           offered;
}

static bool opens(struct grade *g, const char *spec)
{
    name_machine();
    grade_open(g, spec, "");
    if (is_offered(g))
        return true;
    grade_skip("a ring", "this machine has no memory to share by descriptor");
    grade_drop(g);
    return false;
}

static bool is_mapped_twice(struct grade *g, const struct ring *r)
{
    for (uint64_t offset = 0; offset < r->size; offset += g->unit)
        if (!grade_block(g, r->at + offset) || grade_block(g, r->at + offset) != grade_block(g, r->at + r->size + offset))
            return false;
    return r->size > 0;
}

static bool has_rights(struct grade *g, const struct ring *r, vmm_mem_access_flags rights)
{
    for (uint64_t offset = 0; offset < 2 * r->size; offset += g->unit)
        if (grade_rights(g, g->device, r->at + offset) != rights)
            return false;
    return r->size > 0 && grade_others_have_none(g, r->at, 2 * r->size);
}

static void look_at(struct grade *g, const struct ring *writer, const struct ring *reader)
{
    grade_point(g, writer->size == 2 * g->unit && reader->size == writer->size && grade_uses(g, 2 * g->unit), "EX-RING-EXACT",
                "two units of memory for one unit and a byte",
                "size is %llu and %llu, or the device's free memory fell by a different amount", (unsigned long long)writer->size,
                (unsigned long long)reader->size);
    grade_point(g, is_mapped_twice(g, writer) && is_mapped_twice(g, reader), "EX-RING-TWICE",
                "mapped twice in a row on both sides", "it is not");
    grade_point(g, has_rights(g, writer, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE), "EX-RING-RIGHTS",
                "the writer can read and write", "rights at its two addresses: %d, %d", grade_rights(g, g->device, writer->at),
                grade_rights(g, g->device, writer->at + writer->size));
    grade_point(g, has_rights(g, reader, VMM_MEM_ACCESS_FLAGS_PROT_READ), "EX-RING-RIGHTS", "the reader has only read access",
                "rights at its two addresses: %d, %d", grade_rights(g, g->device, reader->at),
                grade_rights(g, g->device, reader->at + reader->size));
}

/* Both sides in one process, which suffices to check what they create. */
static void part_sides(const char *spec)
{
    struct grade g;
    struct ring writer, reader;
    int ends[2];
    if (!opens(&g, spec) || vmm_fd_pair(ends) != VMM_SUCCESS)
        return;
    warm_up(&g);
    unsigned before = descriptors();
    bool made = grade_ok(&g, ring_create(&writer, g.sys, g.device, ends[0], g.unit + 1), "ring_create succeeds");
    bool joined = made && ring_join(&reader, g.sys, g.device, ends[1]) == VMM_SUCCESS;
    grade_point(&g, joined, NULL, "ring_join succeeds", "it was refused, or there was nothing to join");
    if (!joined) {
        grade_drop(&g);
        return;
    }
    look_at(&g, &writer, &reader);
    grade_point(&g, descriptors() == before, "EX-RING-FD", "no descriptor stays open", "%u more than before",
                descriptors() - before);
    grade_point(&g, ring_close(&reader) == VMM_SUCCESS && ring_close(&writer) == VMM_SUCCESS, NULL, "both close",
                "ring_close was refused");
    grade_point(&g, grade_uses(&g, 0), "VMM-LEAK-ELSEWHERE", "the memory is returned to the device",
                "something still holds it: a handle, a mapping, a descriptor");
    close(ends[0]), close(ends[1]);
    grade_close(&g);
}

/* Both sides in one process again, with a reader that reports nothing: a writer that writes into a full ring now has not
 * waited. */
static void part_no_room(const char *spec)
{
    struct grade g;
    struct ring writer, reader;
    int ends[2];
    if (!opens(&g, spec) || vmm_fd_pair(ends) != VMM_SUCCESS)
        return;
    unsigned char *bytes = grade_room(g.unit);
    bool made = ring_create(&writer, g.sys, g.device, ends[0], g.unit) == VMM_SUCCESS &&
                ring_join(&reader, g.sys, g.device, ends[1]) == VMM_SUCCESS;
    if (grade_point(&g, made, NULL, "a ring is made", "ring_create or ring_join was refused")) {
        memset(bytes, 0x5a, g.unit);
        bool full = ring_write(&writer, bytes, g.unit) == VMM_SUCCESS;
        shutdown(ends[1], SHUT_WR);
        vmm_result got = ring_write(&writer, "more", 4);
        grade_refused(&g, full ? got : VMM_SUCCESS, VMM_ERROR_NOT_FOUND, "EX-RING-GONE", "a full ring is not written to");
        /* analysers: clang-analyzer-core.CallAndMessage is wrong: a ring that was made has both sides */
        bool whole = full && vmm_memcpy_dtoh(g.sys, bytes, reader.at, g.unit) == VMM_SUCCESS;
        for (uint64_t i = 0; i < g.unit; i++)
            whole = whole && bytes[i] == 0x5a;
        grade_point(&g, whole, "EX-RING-BYTES", "unread bytes are not overwritten",
                    "the bytes of a full ring changed after one more write");
        ring_close(&reader);
        ring_close(&writer);
        grade_close(&g);
    } else {
        grade_drop(&g);
    }
    free(bytes);
    close(ends[0]), close(ends[1]);
}

/* ---- two processes ---- */

static unsigned char byte_at(uint64_t position)
{
    return (unsigned char)(position * 31 + position / 251);
}

/* Sizes of writes and reads, which differ: from a byte to more than the ring. */
static uint64_t chunk(uint64_t size, unsigned i, bool writes)
{
    static const unsigned parts[] = {3, 7, 1, 5, 2};
    return i % 6 == 5 ? 1 : size / parts[(i + writes) % 5] + (i % 3) - (i % 2);
}

static uint64_t all_of(uint64_t size)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < CHUNKS; i++)
        total += chunk(size, i, true);
    return total;
}

static bool writes_all(struct ring *r)
{
    unsigned char *bytes = malloc(2 * r->size);
    uint64_t done = 0, n;
    bool ok = bytes != NULL;
    for (unsigned i = 0; ok && i < CHUNKS; i++, done += n) {
        n = chunk(r->size, i, true);
        for (uint64_t j = 0; j < n; j++)
            bytes[j] = byte_at(done + j);
        ok = ring_write(r, bytes, n) == VMM_SUCCESS;
    }
    free(bytes);
    return ok;
}

/* The number of correct bytes up to the first wrong one. */
static uint64_t reads_all(struct ring *r)
{
    unsigned char *bytes = malloc(2 * r->size);
    uint64_t total = all_of(r->size), done = 0, right = 0;
    for (unsigned i = 0; bytes && done < total; i++) {
        uint64_t n = chunk(r->size, i, false);
        n = n < total - done ? n : total - done;
        if (ring_read(r, bytes, n) != VMM_SUCCESS)
            break;
        for (uint64_t j = 0; j < n && right == done + j; j++)
            right += bytes[j] == byte_at(done + j);
        done += n;
    }
    free(bytes);
    return right;
}

typedef void (*side)(struct grade *g, struct ring *r);

/* The reader's process. Its points come before the writer's, who waits for its end. */
static void read_in_child(const char *spec, int socket, side reads)
{
    struct grade g;
    struct ring r;
    grade_open(&g, spec, "");
    unsigned before = descriptors();
    bool joined = grade_ok(&g, ring_join(&r, g.sys, g.device, socket), "reader: ring_join succeeds");
    if (joined) {
        reads(&g, &r);
        grade_ok(&g, ring_close(&r), "reader: ring_close succeeds");
        grade_point(&g, descriptors() == before, "EX-RING-FD", "reader: no descriptor stays open", "%u more than before",
                    descriptors() - before);
    }
    close(socket);
    (joined ? grade_close : grade_drop)(&g);
    fflush(NULL);
    _exit(READ_TO_THE_END);
}

static int end_of(pid_t child)
{
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Forks before either side has initialised anything: a driver does not live on in a child. */
static void two_processes(const char *spec, side writes, side reads)
{
    struct grade g;
    struct ring r;
    int ends[2];
    name_machine();
    fflush(NULL);
    if (vmm_fd_pair(ends) != VMM_SUCCESS)
        tap_bail("no socket pair can be made");
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        read_in_child(spec, ends[1], reads);
    }
    close(ends[1]);
    grade_open(&g, spec, "");
    vmm_result made = ring_create(&r, g.sys, g.device, ends[0], g.unit), closed = VMM_SUCCESS;
    if (made == VMM_SUCCESS) {
        writes(&g, &r);
        closed = ring_close(&r);
    }
    close(ends[0]); /* regardless of errors here, the reader does not wait for this side */
    int status = end_of(child);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == READ_TO_THE_END;
    if (!grade_ok(&g, made, "writer: ring_create succeeds")) {
        grade_drop(&g);
        return;
    }
    grade_point(&g, ended, "EX-CRASH", "the reader runs to its end", "it ended with %s %d before its last check",
                WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    grade_ok(&g, closed, "writer: ring_close succeeds");
    grade_point(&g, grade_uses(&g, 0), "VMM-LEAK-ELSEWHERE", "the memory is returned to the device",
                "something in one of the processes still holds it");
    grade_close(&g);
}

static bool offers(const char *spec)
{
    struct grade g;
    fflush(NULL);
    pid_t child = fork(); /* a process must not fork after it has initialised a driver */
    if (child == 0) {
        grade_open(&g, spec, "");
        bool offered = is_offered(&g);
        grade_drop(&g);
        _exit(offered ? 0 : 1);
    }
    if (end_of(child) == 0)
        return true;
    grade_skip("a ring", "this machine has no memory to share by descriptor");
    return false;
}

static void streams_in(struct grade *g, struct ring *r)
{
    (void)g;
    writes_all(r); /* what is missing the reader sees */
}

static void streams_out(struct grade *g, struct ring *r)
{
    uint64_t right = reads_all(r);
    grade_point(g, right == all_of(r->size), "EX-RING-BYTES", "reader: every byte is as it was written",
                "byte %llu of %llu is wrong or never arrived", (unsigned long long)right, (unsigned long long)all_of(r->size));
}

static void part_stream(const char *spec)
{
    if (offers(spec))
        two_processes(spec, streams_in, streams_out);
}

/* Writes the whole ring at once, before the reader has read a byte; a message tells the writer when it starts. */
static void fills_up(struct grade *g, struct ring *r)
{
    unsigned char *bytes = grade_room(r->size);
    uint64_t n = 0;
    memset(bytes, 0x5a, r->size);
    bool ok = ring_write(r, bytes, r->size) == VMM_SUCCESS && r->read == 0;
    memset(bytes, 0xa5, r->size);
    ok = ok && ring_write(r, bytes, 1) == VMM_SUCCESS;
    while (ok && talk_hear(r->socket, &n, true) == TALK_HEARD)
        ; /* until the reader has closed its end */
    free(bytes);
    grade_point(g, ok, "EX-RING-FULL", "writer: as many bytes as size fit",
                "writing size bytes was refused, or blocked on the reader");
}

static void empties(struct grade *g, struct ring *r)
{
    unsigned char *bytes = grade_room(r->size + 1);
    bool ok = ring_read(r, bytes, r->size + 1) == VMM_SUCCESS && bytes[r->size] == 0xa5;
    for (uint64_t i = 0; i < r->size; i++)
        ok = ok && bytes[i] == 0x5a;
    free(bytes);
    grade_point(g, ok, "EX-RING-BYTES", "reader: a full ring, and then one more byte",
                "a byte is wrong: it was overwritten before it was read, or announced before it was written");
}

static void part_full(const char *spec)
{
    if (offers(spec))
        two_processes(spec, fills_up, empties);
}

static void writes_little(struct grade *g, struct ring *r)
{
    (void)g;
    ring_write(r, "twelve bytes", 12);
}

static void wants_more(struct grade *g, struct ring *r)
{
    char bytes[16] = "";
    vmm_result first = ring_read(r, bytes, 12), second = ring_read(r, bytes + 12, 1);
    grade_point(g, first == VMM_SUCCESS && memcmp(bytes, "twelve bytes", 12) == 0, "EX-RING-BYTES",
                "reader: bytes that arrived before the end can be read", "it returned %s", vmm_result_name(first));
    grade_refused(g, second, VMM_ERROR_NOT_FOUND, "EX-RING-GONE", "reader: after that the writer is reported as gone");
}

static void part_writer_gone(const char *spec)
{
    if (offers(spec))
        two_processes(spec, writes_little, wants_more);
}

static void writes_on(struct grade *g, struct ring *r)
{
    vmm_result got = VMM_SUCCESS;
    unsigned char *bytes = grade_room(r->size);
    for (unsigned i = 0; i < 4 && got == VMM_SUCCESS; i++)
        got = ring_write(r, bytes, r->size);
    free(bytes);
    grade_refused(g, got, VMM_ERROR_NOT_FOUND, "EX-RING-GONE", "writer: when the ring is full, the reader is reported as gone");
}

static void reads_nothing(struct grade *g, struct ring *r)
{
    (void)g, (void)r;
}

static void part_reader_gone(const char *spec)
{
    if (offers(spec))
        two_processes(spec, writes_on, reads_nothing);
}

/* ---- errors ---- */

static void create_scenario(struct grade *g)
{
    struct ring r;
    int ends[2];
    if (vmm_fd_pair(ends) != VMM_SUCCESS)
        return;
    warm_up(g);
    grade_ready(g);
    unsigned before = descriptors();
    bool made = GRADE_TRY(g, ring_create(&r, g->sys, g->device, ends[0], g->unit));
    grade_holds(g, descriptors() == before, "no descriptor stays open");
    if (made || (grade_again(g) && GRADE_TRY(g, ring_create(&r, g->sys, g->device, ends[0], g->unit)))) {
        GRADE_TRY(g, ring_write(&r, "byte", 4));
        GRADE_TRY(g, ring_close(&r));
    }
    close(ends[0]), close(ends[1]);
}

/* The reader's machine fails; the writer's, in the same process, works. */
static void join_scenario(struct grade *g)
{
    struct grade other;
    struct ring writer, reader;
    char bytes[4];
    int ends[2];
    if (vmm_fd_pair(ends) != VMM_SUCCESS)
        return;
    grade_open(&other, g->spec, "");
    bool made = ring_create(&writer, other.sys, other.device, ends[0], other.unit) == VMM_SUCCESS &&
                ring_write(&writer, "byte", 4) == VMM_SUCCESS;
    grade_holds(g, made, "there is a ring to join");
    vmm_ctx_set_current(g->sys, g->ctx);
    grade_ready(g);
    unsigned before = descriptors();
    if (made && GRADE_TRY(g, ring_join(&reader, g->sys, g->device, ends[1]))) {
        GRADE_TRY(g, ring_read(&reader, bytes, 4));
        GRADE_TRY(g, ring_close(&reader));
    }
    grade_holds(g, descriptors() == before, "no descriptor stays open");
    if (made) {
        vmm_ctx_set_current(other.sys, other.ctx);
        ring_close(&writer);
    }
    grade_drop(&other);
    vmm_ctx_set_current(g->sys, g->ctx);
    close(ends[0]), close(ends[1]);
}

static void part_errors(const char *spec)
{
    struct grade g;
    if (!opens(&g, spec))
        return;
    grade_drop(&g);
    grade_each_fault(spec, create_scenario);
    grade_each_fault(spec, join_scenario);
}

const struct grade_part grade_parts[] = {
    {"both sides", part_sides},        {"no room", part_no_room},         {"stream", part_stream}, {"full", part_full},
    {"writer gone", part_writer_gone}, {"reader gone", part_reader_gone}, {"errors", part_errors}, {0},
};
