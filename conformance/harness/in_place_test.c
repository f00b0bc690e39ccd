/* SPDX-License-Identifier: Apache-2.0 */
/* in_place: two systems of one program have the same addresses, regardless of the rest of the spec. */
#include "in_place.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static vmm_deviceptr first_address(vmm_system *sys)
{
    vmm_deviceptr at = 0;
    if (vmm_init(sys, 0) || vmm_mem_address_reserve(sys, &at, UINT64_C(64) << 20, 0, 0, 0))
        tap_bail("no reservation");
    return at;
}

static void same(const char *spec, vmm_deviceptr expected)
{
    vmm_system *one, *two;
    if (open_in_place(spec, &one) || open_in_place(spec, &two))
        tap_bail("%s cannot be opened: %s", spec ? spec : "NULL", vmm_last_detail()->note);
    tap_u64(first_address(one), expected, "%s: the profile's first address", spec ? spec : "NULL");
    tap_u64(first_address(two), expected, "and for a second system");
    vmm_close(one);
    vmm_close(two);
}

int main(void)
{
    vmm_system *sys = NULL;
    same("sim", UINT64_C(0x302000000));
    same("sim:h100", UINT64_C(0x302000000));
    same("sim:h200x2,strict", UINT64_C(0x402000000));
    same("trace=/dev/null | sim:h100,schedule=eager", UINT64_C(0x302000000));
    unsetenv("CUVMM_BACKEND");
    same(NULL, UINT64_C(0x302000000));
    tap_ok(opens_without_arena(NULL), "then the host finds nothing at its addresses");
    setenv("CUVMM_BACKEND", "sim:h200x2", 1);
    same(NULL, UINT64_C(0x402000000));
    setenv("CUVMM_BACKEND", "cuda", 1);
    tap_ok(!opens_without_arena(NULL), "a driver's addresses are the host's as well");
    tap_ok(opens_without_arena("sim") && opens_without_arena("shadow | sim:h100,arena=none"), "with none it finds nothing");
    tap_ok(!opens_without_arena("trace=/dev/null | sim:h100,arena=auto"), "with one it finds what the device does");
    tap_ok(!opens_without_arena("shadow|cuda"), "and beside a driver, too");
    tap_result(open_in_place("sim:h100,arena=nowhere", &sys), VMM_ERROR_INVALID_VALUE, "an explicit arena is not changed");
    tap_result(open_in_place("nothing:h100", &sys), VMM_ERROR_NOT_FOUND, "so is another backend");
    tap_result(open_in_place("sim:nothing", &sys), VMM_ERROR_NOT_FOUND, "and a profile that does not exist");
    tap_ok(!strstr(vmm_last_detail()->note, "arena"), "the message refers to the given spec");
    tap_ok(!sys, "and nothing is opened");
    return tap_done();
}
