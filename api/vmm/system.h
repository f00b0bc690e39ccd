/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - systems: open and close. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_SYSTEM_H
#define CUVMM_VMM_SYSTEM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a system on the backend that spec names and stores it in *sys.
 *
 *   spec = [layer '|']... backend
 *   backend: sim                 the simulator with the profile h100
 *            sim:PROFILE         a built-in profile (cuvmm profiles lists them) or the path of a profile file
 *            sim:PROFILE,strict  documented rules that the recorded driver does not enforce are errors too
 *            sim:PROFILE,observed  the default: answer as the recorded driver, report such breaches as warnings
 *            sim:PROFILE,schedule=late|eager|random:SEED|device   when queued work runs: as late as the program's
 *                                synchronisation allows (the default), when it is issued, in an order chosen by SEED,
 *                                or on threads as on a device (docs/in-flight.md). Commas separate options
 *            sim:PROFILE,arena=auto|profile|none   whether device addresses are reserved in the host's address space:
 *                                at the profile's addresses, or elsewhere where those are taken (auto, the default);
 *                                at the profile's addresses only; not at all (docs/host-memory.md)
 *            sim:PROFILE,faults=explained|plain   whether cuvmm explains a forbidden host access to a device address
 *                                before the signal is delivered (the default), or does nothing about it
 *            sim:PROFILE,alias=fresh|stale:SEED   what a kernel reads through one address after it wrote the same
 *                                memory through another without a fence: the newest bytes (the default), or older
 *                                bytes at places that SEED chooses (docs/aliases.md)
 *            sim:PROFILE,machine=NAME   the machine of that name, shared by all processes of this user that open it: device
 *                                memory counts for all of them and can be exported and imported (docs/sharing.md). Letters,
 *                                digits, '-', '_' and '.', at most 40. Without it the environment's CUVMM_MACHINE,
 *                                otherwise each system has a machine of its own
 *            sim:PROFILE,imex=DIR   IMEX channels for fabric handles: files channel0, channel1, ... in DIR; each call
 *                                takes the lowest that this process can read and write. Machines that name the same
 *                                folder are nodes of one NVLink domain (docs/fabric.md). No commas in DIR. Without it
 *                                the profile's fabric.imex decides
 *            sim:PROFILE,team_wait=SECONDS   how long a bind or a mapping of a multicast object waits for other processes to add
 *                                their devices: 0 to 3600, default 10 (docs/multicast.md)
 *            sim:PROFILE,kernels=refuse|skip   what a launch does through libcuda.so.1 whose kernel the loaded image holds and
 *                                no plugin has: it is refused (the default), or does nothing and is counted (docs/unmodified.md)
 *            sim:PROFILE,kernel_steps=N   a kernel that runs from PTX is ended after N steps of its warps; 0: never. Default
 *                                17179869184, some minutes (docs/ptx.md)
 *            sim:PROFILE,kernel_threads=N   the blocks of a kernel that runs from PTX are spread over N threads of the host: 1, the
 *                                default, to 256 (docs/ptx.md). With order= or unwritten= one thread runs them
 *            sim:PROFILE,order=report|no   warn of accesses of work that nothing orders, or not (the default; docs/ordering.md)
 *            sim:PROFILE,unwritten=report|no   warn of reads of bytes that nothing has written since the memory was created,
 *                                or not (the default)
 *            sim:PROFILE,visible=LIST   the devices that the process sees, in this order, as 1:0; none; or env: those
 *                                that CUDA_VISIBLE_DEVICES names when vmm_init is called, as a driver reads it.
 *                                Without this option all: only libcuda.so.1 reads the variable by itself
 *            cuda                the machine's driver, libcuda.so.1 or the library that CUVMM_LIBCUDA names
 *            cuda:PATH           the same from the library at PATH (docs/cuda.md)
 *   layer:   trace=FILE          JSON lines, one per call, into FILE ("-" is standard error)
 *            fault=CALL:N[:RESULT][:forever]   the Nth CALL (by name; "any" counts every call) fails with RESULT
 *                                (default OUT_OF_MEMORY) without reaching the backend, once or from then on
 *            shadow[=nodes=N|=runtime] the simulator alongside the backend to its right, whose answers it returns, with the
 *                                rules' reasons
 *                                (backend_sim/shadow/shadow.h)
 *   The leftmost layer sees a call first.
 *
 * A NULL spec means the environment's CUVMM_BACKEND, or "sim:h100" if that is unset. A spec without layers gets
 * those of CUVMM_LAYERS (the same syntax, '|' between them), if set.
 * Returns VMM_ERROR_INVALID_VALUE [VMM-OPEN-ARGUMENT] for a malformed spec, VMM_ERROR_NOT_FOUND [VMM-OPEN-NOT-FOUND] for
 * an unknown backend, profile or layer, VMM_ERROR_NOT_SUPPORTED [VMM-OPEN-UNSUPPORTED] for a library that is not a driver,
 * VMM_ERROR_OPERATING_SYSTEM [VMM-OPEN-SYSTEM] for a file that cannot be opened, VMM_ERROR_OUT_OF_MEMORY
 * [VMM-SYSTEM-HOST-MEMORY]; *sys is then untouched and vmm_last_detail() holds the position and what was expected.
 * vmm_open makes no CUDA call: call vmm_init next. */
VMM_API vmm_result vmm_open(const char *spec, vmm_system **sys);

/* Opens a second process on the machine of sys: its own address space, handles and contexts, the same devices and
 * physical memory. Simulator only: VMM_ERROR_NOT_SUPPORTED [VMM-OPEN-UNSUPPORTED] elsewhere. Layers are not inherited. */
VMM_API vmm_result vmm_attach(vmm_system *sys, vmm_system **peer);

/* Ends the process: reports what it still holds (vmm_leaks) to the report function, then frees it.
 * NULL is ignored. Contexts, streams and handles of sys must not be used afterwards. */
VMM_API void vmm_close(vmm_system *sys);

#ifdef __cplusplus
}
#endif

#endif
