# SPDX-License-Identifier: Apache-2.0
# Targets for a machine with a GPU and its driver: docs/gpu.md. Included by the Makefile.
#
#   GPU_PATIENCE   seconds that one program may take, so that a hanging call ends with its program
#   GPU_CALLS      random calls; GPU_BUDGET seconds for them, and for each small world
#   GPU_BACKEND    sim:h100 to test without a GPU that everything runs
#   GPU_JOBS       processes at a time for rules and mistakes
#   GPU_BYTES      memory that bin/kernels verifies for time

GPU_BACKEND  ?= cuda
GPU_PATIENCE ?= 300
GPU_CALLS    ?= 4000
GPU_BUDGET   ?= 30
GPU_JOBS     ?= 4
GPU_BYTES    ?= $(if $(filter sim%,$(GPU_BACKEND)),16777216,1073741824)
GPU_TAP      ?= $(BUILD)/tap-gpu
GPU_TIMEOUT   = timeout $(GPU_PATIENCE)

# The recording programs that are compared.
GPU_RECORDED := first edges copies small memops pools copies3d ipc runtime nvml
# A name and a command each, in the order of execution; programs that are not built are omitted.
GPU_RUNS := device suite rules mistakes
GPU_RUNS += $(if $(filter backend_cuda/cuda_device_test.c,$(TEST_SRC)),life)
GPU_RUNS += $(GPU_RECORDED) examples lessons exercises checked
GPU_RUNS += $(filter kernels,$(notdir $(PROGS)))
GPU_RUNS += random world world-2

GPU_COMMAND_device  = $(GPU_TIMEOUT) $(BUILD)/bin/device --backend $(GPU_BACKEND)
GPU_COMMAND_suite   = $(GPU_TIMEOUT) ci/gpu-suite $(BUILD)/bin/conformance --as-driver --backend $(GPU_BACKEND)
GPU_COMMAND_rules   = $(GPU_TIMEOUT) $(RULE_PAIRS) --jobs $(GPU_JOBS) --together --driver $(GPU_BACKEND)
GPU_COMMAND_mistakes = $(GPU_TIMEOUT) $(BUILD)/bin/buggy --jobs $(GPU_JOBS) --together --driver $(GPU_BACKEND)
GPU_COMMAND_life    = $(GPU_TIMEOUT) $(BUILD)/test/backend_cuda/cuda_device_test
$(foreach name,$(GPU_RECORDED),$(eval GPU_COMMAND_$(name) = ci/gpu-recorded $(name) $(BUILD)))
GPU_COMMAND_examples = ci/gpu-examples $(BUILD)
GPU_COMMAND_lessons = ci/gpu-lessons $(BUILD)
GPU_COMMAND_exercises = ci/gpu-exercises $(BUILD)
GPU_COMMAND_checked = ci/gpu-checked $(BUILD)
GPU_COMMAND_kernels = $(GPU_TIMEOUT) $(BUILD)/bin/kernels --backend $(GPU_BACKEND) --bytes $(GPU_BYTES)
GPU_COMMAND_random  = $(GPU_TIMEOUT) $(BUILD)/bin/cuvmm diff --as-driver --backend $(GPU_BACKEND) --calls $(GPU_CALLS) --budget $(GPU_BUDGET) $(GPU_EXPLAINED)
GPU_COMMAND_world   = $(GPU_TIMEOUT) $(BUILD)/bin/world --as-driver --spec $(GPU_BACKEND) --budget $(GPU_BUDGET) $(GPU_EXPLAINED)
GPU_COMMAND_world-2 = $(GPU_COMMAND_world) --devices 2
GPU_EXPLAINED       = $(addprefix --explained ,$(wildcard conformance/recorded/recordings/explained.tsv))

.PHONY: check-gpu check-gpu-frameworks record-gpu need-gpu bench-gpu

bench-gpu: $(BUILD)/bin/bench-gpu need-gpu ## the cost of a life on this machine's driver, and of the layers (docs/bench.md)
	@$(BUILD)/bin/bench-gpu --backend $(GPU_BACKEND) $(if $(filter sim%,$(GPU_BACKEND)),--driver $(abspath $(LIBCUDA)))

# One message here instead of one from each test.
need-gpu: $(BUILD)/bin/device
	@$(BUILD)/bin/device --backend $(GPU_BACKEND) --kind || { echo "check-gpu and record-gpu need a CUDA device and its driver" >&2; exit 1; }

check-gpu: need-gpu all $(TAP_RUN) $(RULE_PAIRS) $(filter %/cuda_device_test,$(TESTS)) ## the tests on this machine's CUDA driver (docs/gpu.md)
	@rm -rf $(GPU_TAP) $(BUILD)/check-gpu && mkdir -p $(GPU_TAP) $(BUILD)/check-gpu $(BUILD)/gpu
	@$(foreach run,$(GPU_RUNS),printf '#!/bin/sh\nexec $(GPU_COMMAND_$(run))\n' >$(BUILD)/check-gpu/$(run) &&) chmod +x $(BUILD)/check-gpu/*
	@CC='$(CC)' CUDA_PATH=$(CUDA_PATH) GPU_BACKEND=$(GPU_BACKEND) GPU_PATIENCE=$(GPU_PATIENCE) $(PROVE) --nocolor --timer -e '$(TAP_RUN) $(GPU_TAP)' \
	    $(GPU_RUNS:%=$(BUILD)/check-gpu/%) </dev/null; status=$$?; ci/skips $(GPU_TAP); $(TALLY) $(GPU_TAP) && exit $$status

check-gpu-frameworks: need-gpu all ## PyTorch, JAX, CuPy and NCCL on this machine's driver under `cuvmm check` (docs/gpu.md)
	@ci/gpu-frameworks $(BUILD)

record-gpu: need-gpu all ## record this machine's driver into conformance/recorded/recordings, for make check to replay
	@CUDA_PATH=$(CUDA_PATH) GPU_BACKEND=$(GPU_BACKEND) GPU_PATIENCE=$(GPU_PATIENCE) GPU_CALLS=$(GPU_CALLS) GPU_BUDGET=$(GPU_BUDGET) ci/record-gpu $(BUILD)

# What a device computes, for conformance/recorded/ptx: no compiler for device code is needed. After PTX_SECONDS it ends with what it has.
PTX_OUT     ?= $(BUILD)/ptx-recorded
PTX_KERNELS ?= 300
PTX_SECONDS ?= 60
PTX_SOURCES := $(wildcard conformance/recorded/ptx/pair*.c conformance/recorded/ptx/random_kernel.c conformance/recorded/ptx/device/*.c)
$(BUILD)/bin/ptx-record: $(PTX_SOURCES) $(wildcard conformance/recorded/ptx/*.h conformance/recorded/ptx/device/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -Wall -Wextra $(if $(WERROR),-Werror) -isystem api/abi -Iconformance/recorded/ptx -Iconformance/recorded/ptx/device -o $@ $(filter %.c,$^) -lm $(DL_LIBS)

.PHONY: record-ptx
record-ptx: $(BUILD)/bin/ptx-record ## what this machine's device computes of PTX, into PTX_OUT (docs/gpu.md)
	@mkdir -p $(PTX_OUT)
	PTX_OUT=$(PTX_OUT) PTX_SECONDS=$(PTX_SECONDS) $(BUILD)/bin/ptx-record $(PTX_KERNELS)
	@for file in pairs kernels facts; do LC_ALL=C sort -o $(PTX_OUT)/$$file.tsv $(PTX_OUT)/$$file.tsv; done
