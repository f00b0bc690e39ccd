/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of NVIDIA's own tests of cuda.core and cuda.bindings (ci/client-tests). Where two of the tests' programs have
 * different kernels of one name, or kernels of a template, theirs is the name as the compiler mangles it. Without a twin are those that
 * have more than 16 parameters (basic) and those that set a condition of a graph or launch one from the device. */
#include "vmm_kernel.h"

/* ---- kernels that do nothing ---- */

#define NOTHING(...)         \
    VMM_KERNEL(__VA_ARGS__)  \
    {                        \
        (void)k;             \
    }
#define FOUR(type) type, type, type, type
NOTHING(_Z12empty_kernelv)
NOTHING(my_kernel)
NOTHING(test_kernel)
NOTHING(test_kernel_alt)
NOTHING(test_grid_sync)
NOTHING(k)
NOTHING(ABC)
NOTHING(_Z3fooi, int32_t)
NOTHING(_Z4foo0v)
NOTHING(_Z4foo1i, int32_t)
NOTHING(_Z4foo2ii, int32_t, int32_t)
NOTHING(_Z4foo3iii, int32_t, int32_t, int32_t)
NOTHING(_Z5foo16iiiiiiiiiiiiiiii, FOUR(int32_t), FOUR(int32_t), FOUR(int32_t), FOUR(int32_t))
NOTHING(_Z4foo1s, int16_t)
NOTHING(_Z4foo2ss, int16_t, int16_t)
NOTHING(_Z4foo3sss, int16_t, int16_t, int16_t)
NOTHING(_Z5foo16ssssssssssssssss, FOUR(int16_t), FOUR(int16_t), FOUR(int16_t), FOUR(int16_t))

/* ---- kernels that take time ---- */

enum { MILLISECOND = 1000000 };

VMM_KERNEL(nanosleep_kernel)
{
    vmm_take_time(k, 20 * MILLISECOND);
}

/* Waits until *val is set, for as many cycles at most; a cycle takes half a nanosecond. */
VMM_KERNEL(latch, vmm_ptr, uint64_t)
{
    uint64_t left = vmm_param_u64(k, 1) / 2;
    while (!vmm_load_i32(k, vmm_param_ptr(k, 0)) && left > MILLISECOND) {
        vmm_take_time(k, MILLISECOND);
        left -= MILLISECOND;
    }
}

/* ---- kernels that compute ---- */

VMM_KERNEL(_Z7add_onePi, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), vmm_load_i32(k, vmm_param_ptr(k, 0)) + 1);
}

VMM_KERNEL(increment, vmm_ptr)
{
    vmm_add_i32(k, vmm_param_ptr(k, 0), 1);
}

VMM_KERNEL(write_value, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 0), 42);
}

VMM_KERNEL(_Z8set_zeroPcm, vmm_ptr, uint64_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        vmm_store_u8(k, vmm_param_ptr(k, 0) + i, 0);
}

VMM_KERNEL(_Z7add_onePcm, vmm_ptr, uint64_t)
{
    for (uint64_t i = 0; i < vmm_param_u64(k, 1); i++)
        vmm_add_u8(k, vmm_param_ptr(k, 0) + i, 1);
}

#define SAXPY(mangled, type, name)                                                                              \
    VMM_KERNEL_THREADS(mangled, type, vmm_ptr, vmm_ptr, vmm_ptr, uint64_t)                                      \
    {                                                                                                           \
        uint64_t at = vmm_thread(k) * sizeof(type);                                                             \
        if (vmm_thread(k) < vmm_param_u64(k, 4))                                                                \
            vmm_store_##name(k, vmm_param_ptr(k, 3) + at,                                                       \
                             vmm_param_##name(k, 0) * vmm_load_##name(k, vmm_param_ptr(k, 1) + at) +            \
                                 vmm_load_##name(k, vmm_param_ptr(k, 2) + at));                                 \
    }
SAXPY(_Z5saxpyIfEvT_PKS0_S2_PS0_m, float, f32)
SAXPY(_Z5saxpyIdEvT_PKS0_S2_PS0_m, double, f64)

VMM_KERNEL_THREADS(memory_ops, vmm_ptr, uint64_t)
{
    vmm_ptr at = vmm_param_ptr(k, 0) + vmm_thread(k) * sizeof(float);
    if (vmm_thread(k) < vmm_param_u64(k, 1))
        vmm_store_f32(k, at, vmm_load_f32(k, at) * 3.0F);
}

#define WRITE_SCALAR(mangled, type)                                                        \
    VMM_KERNEL(mangled, vmm_ptr, type)                                                     \
    {                                                                                      \
        k->store(k, vmm_param_ptr(k, 0), k->params + k->offset[1], sizeof(type));          \
    }
struct complex_float {
    _Alignas(8) float part[2];
};
struct complex_double {
    _Alignas(16) double part[2];
};
WRITE_SCALAR(_Z12write_scalarIbEvPT_S0_, uint8_t)
WRITE_SCALAR(_Z12write_scalarIaEvPT_S0_, int8_t)
WRITE_SCALAR(_Z12write_scalarIhEvPT_S0_, uint8_t)
WRITE_SCALAR(_Z12write_scalarIsEvPT_S0_, int16_t)
WRITE_SCALAR(_Z12write_scalarItEvPT_S0_, uint16_t)
WRITE_SCALAR(_Z12write_scalarIiEvPT_S0_, int32_t)
WRITE_SCALAR(_Z12write_scalarIjEvPT_S0_, uint32_t)
WRITE_SCALAR(_Z12write_scalarIxEvPT_S0_, int64_t)
WRITE_SCALAR(_Z12write_scalarIyEvPT_S0_, uint64_t)
WRITE_SCALAR(_Z12write_scalarIfEvPT_S0_, float)
WRITE_SCALAR(_Z12write_scalarIdEvPT_S0_, double)
WRITE_SCALAR(_Z12write_scalarI6__halfEvPT_S1_, uint16_t)
WRITE_SCALAR(_Z12write_scalarIN4cuda3std3__47complexIfEEEvPT_S5_, struct complex_float)
WRITE_SCALAR(_Z12write_scalarIN4cuda3std3__47complexIdEEEvPT_S5_, struct complex_double)

/* ---- structures, of the tests of cuda.bindings ---- */

struct test_struct {
    int32_t value;
};

VMM_KERNEL(structCustom, struct test_struct, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 1), vmm_param_i32(k, 0));
}

VMM_KERNEL(testkernel, int32_t, vmm_ptr, float, vmm_ptr, struct test_struct, vmm_ptr)
{
    vmm_store_i32(k, vmm_param_ptr(k, 1), vmm_param_i32(k, 0));
    vmm_store_f32(k, vmm_param_ptr(k, 3), vmm_param_f32(k, 2));
    vmm_store_i32(k, vmm_param_ptr(k, 5), vmm_param_i32(k, 4));
}

VMM_VARIABLE(uint8_t, isDone);

VMM_KERNEL(empty_kernel)
{
    vmm_store_u8(k, vmm_variable(k, isDone), 1);
}
