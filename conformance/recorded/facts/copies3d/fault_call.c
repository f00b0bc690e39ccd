/* SPDX-License-Identifier: Apache-2.0 */
/* Group R: which call reports the fault of a row: cuMemcpy3D_v2_ptds beside cuMemcpy3D_v2, over the strip of group M. Part of
 * ../copies3d.c, which includes it.
 *
 *     R.ptds.to.layer_into_the_hole     the call; the next call without a wait; the wait */

static void fault_call_case(size_t i, char *id, int run)
{
    const size_t call = i % 2, in = i / 2 % 2, which = i / 4;
    snprintf(id, CASE_ID, "R.%s.%s.%s", call ? "ptds" : "v2", in ? "to" : "from", strips[which].name);
    if (!run || strips[which].depth > 4000)
        return;
    CUresult (*copy)(const CUDA_MEMCPY3D *) =
        (CUresult(*)(const CUDA_MEMCPY3D *))dlsym(RTLD_DEFAULT, call ? "cuMemcpy3D_v2_ptds" : "cuMemcpy3D_v2");
    const u64 pitch = strips[which].pitch, layer = strips[which].layer, height = strips[which].height;
    const CUdeviceptr start = strip + (u64)strips[which].start;
    struct place *place = in ? &from[MAPPED] : &to[MAPPED];
    use(place);
    CUDA_MEMCPY3D c = {.WidthInBytes = strips[which].width, .Height = height, .Depth = strips[which].depth};
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = in ? place->at : start, c.dstDevice = in ? start : place->at;
    c.srcPitch = in ? 64 : pitch, c.dstPitch = in ? pitch : 64;
    c.srcHeight = in ? height : layer, c.dstHeight = in ? layer : height;
    CUresult r = copy ? copy(&c) : CUDA_ERROR_NOT_FOUND;
    CUstream stream = NULL;
    CUresult next = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s next=%s sync=%s", name_of(r), name_of(next), name_of(sync));
    for (size_t g = 0; g < 7; g++) /* blank the granules whose rights allow it */
        cuMemsetD8(strip + g * G, BLANK, G);
    cuCtxSynchronize();
}

static void group_r(void)
{
    if (is_wanted("R"))
        run_cases(start_strip, COUNT(strips) * 4, fault_call_case);
}
