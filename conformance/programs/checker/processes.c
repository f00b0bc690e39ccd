/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes: one creates memory and sends its descriptor, the other, which it starts, has a window on it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "share.h"

/* Starts this program again for the other part, with a descriptor. Returns whether it ended well. */
static bool start_reader(const char *name, int descriptor)
{
    char number[20];
    int status = -1;
    snprintf(number, sizeof number, "%d", descriptor);
    pid_t child = fork();
    if (child == 0) {
        fcntl(descriptor, F_SETFD, 0);
        setenv("WINDOW", number, 1);
        execl("/proc/self/exe", "reader", name, (char *)NULL);
        _exit(6);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int sent_descriptor(void)
{
    const char *number = getenv("WINDOW");
    return number ? atoi(number) : -1;
}

/* The reader unmaps its window and ends without releasing the handle. */
PROGRAM(reader_keeps_its_import, .group = "other", .shares = true)
{
    struct window window;
    CUmemGenericAllocationHandle memory;
    int descriptor = sent_descriptor();
    if (descriptor >= 0) {
        share_import(&window, descriptor, buffer_unit(), BUG); /* caller: reader_keeps_its_import */
        close(descriptor);
        DO(cuMemsetD8(window.at, 3, BYTES));
        DO(cuCtxSynchronize());
        share_close(&window, false);
        return;
    }
    memory = share_create();
    descriptor = share_export(memory);
    if (!start_reader("reader_keeps_its_import", descriptor))
        exit(5);
    close(descriptor);
    DO(cuMemRelease(memory));
}

/* The reader copies past the end of what it has imported: the writer's tensor is larger than what was sent. The correct form has
 * imported, mapped and narrowed, all of which works before anything but the map shows the size. */
PROGRAM(reader_goes_past_its_window, .group = "other", .shares = true)
{
    struct window window;
    CUmemGenericAllocationHandle memory;
    int descriptor = sent_descriptor();
    size_t unit = buffer_unit();
    if (descriptor >= 0) {
        static unsigned char host[8192];
        share_import(&window, descriptor, unit, false);
        close(descriptor);
        DO(buffer_allow(window.at, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
        /* finding: reader_goes_past_its_window VMM-COPY-RUNS-PAST */
        TRY(cuMemcpyDtoH(host, window.at + unit - 4096, BUG ? 8192 : 4096));
        share_close(&window, false);
        return;
    }
    memory = share_create();
    descriptor = share_export(memory);
    if (!start_reader("reader_goes_past_its_window", descriptor))
        exit(5);
    close(descriptor);
    DO(cuMemRelease(memory));
}
