/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an image when memory is exhausted: each request fails once, nothing leaks, and the next call reads it. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "image.h"
#include "image_rig.h"

/* Loads and reads with the nth request failing; returns true once nothing fails any more. */
static bool reads_with(const struct rig_bytes *bytes, unsigned long nth, unsigned kernels)
{
    inject_arm(nth);
    struct image *image = image_new(bytes->at, bytes->size, 90);
    bool read = image && image_read(image);
    const char *failed = inject_disarm();
    if ((failed == NULL) != read)
        tap_ok(false, "request %lu (%s) failed, and the image was %sread", nth, failed ? failed : "none", read ? "" : "not ");
    if (image && !read && (image->kernels || !image_read(image) || image->kernels != kernels))
        tap_ok(false, "request %lu: %u kernels are found afterwards", nth, image->kernels);
    image_free(image);
    return !failed;
}

static void test(const struct rig_bytes *bytes, unsigned kernels, const char *what)
{
    long live = atomic_load(&inject_live);
    unsigned long nth = 1;
    while (nth < 100 && !reads_with(bytes, nth, kernels))
        nth++;
    tap_ok(nth > 5 && nth < 100, "%s: each of %lu requests failed", what, nth - 1);
    tap_ok(atomic_load(&inject_live) == live, "nothing is left");
}

int main(void)
{
    static const struct rig_kernel kernels[] = {{.name = "one", .param = {8}}, {.name = "two"}};
    static const struct rig_variable variable = {"table", 4, "abcd"};
    struct rig_bytes cubin = {NULL, 0, 0}, packed = {NULL, 0, 0}, fat = {NULL, 0, 0};
    const struct rig_bytes ptx = {(unsigned char *)(uintptr_t)RIG_PTX_TEXT, sizeof RIG_PTX_TEXT - 1, 0};
    rig_cubin(&cubin, 90, kernels, 2, &variable, 1);
    rig_lz4(&packed, cubin.at, cubin.size);
    rig_fatbin(&fat);
    rig_entry(&fat, RIG_CUBIN, 90, RIG_LZ4, packed.at, packed.size, cubin.size);
    test(&cubin, 2, "a cubin");
    test(&fat, 2, "a packed one");
    test(&ptx, 3, "PTX");
    free(cubin.at), free(packed.at), free(fat.at);
    return tap_done();
}
