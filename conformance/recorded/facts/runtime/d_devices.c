/* SPDX-License-Identifier: Apache-2.0 */
/* Group D: devices, versions and errors. Part of ../runtime.c, which includes it. */

static void d_count(void)
{
    int count = 77, device = 77;
    AV("D.count(Success)", cudaGetDeviceCount(&count), "n=%d", count);
    A("D.count.null(InvalidValue)", cudaGetDeviceCount(NULL));
    AV("D.get.first(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.get.null(InvalidValue)", cudaGetDevice(NULL));
}

static void d_set(void)
{
    int device = 77;
    A("D.set.count(InvalidDevice)", cudaSetDevice(devices()));
    A("D.set.below(InvalidDevice)", cudaSetDevice(-1));
    AV("D.set.refused.get(Success)", cudaGetDevice(&device), "d=%d", device);
    A("D.set.0(Success)", cudaSetDevice(0));
}

static void group_d(void)
{
    child("D.count", d_count);
    child("D.set", d_set);
}
