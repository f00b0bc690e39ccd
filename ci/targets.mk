# SPDX-License-Identifier: Apache-2.0
# check and its kin, coverage, install. Included by the Makefile.
#
# A test is a program that prints TAP: every X_test.c, the programs of conformance/, the suite once per profile, and the
# shell scripts X_test.sh. prove runs them through ci/tap_run.c, which keeps what each printed in $(TAP); ci/tally adds up.
#
#   CUVMM_TEST_SCALE   percent of the rounds that random and exhaustive programs make: a quarter in `make check`, all of them in
#                      CI, fewer under slow tools
#   CUVMM_RUN          a command that test programs run under (valgrind); scripts run as they are

unexport COLUMNS # lines are as wide for everybody who runs the tests

# `make check` is run before each commit. Machines that differ from these in numbers alone, and other forms of the same question, are
# left to check-ci.
CHECK_PROFILES ?= h100 h200x2 odd
CHECK_PROFILES_CI := min max large
# Each abi-suite makes this run, too, to compare with; mutants of one have it alone.
CHECK_AS_DRIVER ?=
# libcuda.so.1 adds nothing to what a machine is.
CHECK_ABI      ?= h200x2
CHECK_ABI_CI   := h100 max min odd
CHECK_ABI_RULES ?= h100
CHECK_ABI_RULES_CI := h200x2 min max odd
CHECK_ABI_MISTAKES ?= h100
# The recording programs, and PROGRAM-MACHINE for each recording that is there; the runtime's program needs none
# (ci/runtime-recorded). Two devices are asked all that one is; one alone is left to check-ci, but for the first program, which is asked other
# things. So are the programs that compare megabytes.
ABI_PROGRAMS   := first edges copies answers small memops pools ipc copies3d graphs arrays managed runtime nvml
ABI_FILES      := $(notdir $(wildcard conformance/recorded/facts/*-580.159.04-*.tsv))
ABI_RECORDINGS := first-h100 first-h200x2 runtime-h100 runtime-h200 runtime-h200x2 $(foreach name,$(filter-out runtime,$(ABI_PROGRAMS)), \
    $(patsubst %-580.159.04-$(name).tsv,$(name)-%,$(filter %-580.159.04-$(name).tsv,$(ABI_FILES))))
ABI_RECORDINGS_CI := $(filter-out first-%,$(filter %-h100 %-h200 copies-% copies3d-%,$(ABI_RECORDINGS)))
CHECK_ABI_RECORDED ?= $(filter-out $(ABI_RECORDINGS_CI),$(ABI_RECORDINGS))
CHECK_SCHEDULES ?=
CHECK_SCHEDULES_CI := eager random-1
CHECK_ALIASES  ?=
CHECK_ALIASES_CI := stale-1
CHECK_LAYERS   ?= layers
COVERAGE_FLOOR ?= ci/coverage-floor
TAP            ?= $(BUILD)/tap
TALLY          ?= ci/tally
LIBDIR         ?= $(PREFIX)/lib
# What no program is to find that does not look for it; `cuvmm check` looks in ../lib/cuvmm.
PRIVATE_LIBDIR ?= $(LIBDIR)/cuvmm
VALGRIND       ?= valgrind -q --vgdb=no --suppressions=ci/valgrind.supp --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect
NEST            = $(MAKE) --no-print-directory

# A build without -j uses $(JOBS). What was given on the command line stays, and nested makes share what there is.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

CHECK_RUNS  := $(PROGS:$(BUILD)/bin/%=$(BUILD)/check/%)
CHECK_RUNS  += $(if $(SUITE),$(CHECK_PROFILES:%=$(BUILD)/check/conformance-%))
CHECK_RUNS  += $(if $(SUITE),$(CHECK_AS_DRIVER:%=$(BUILD)/check/conformance-as-driver-%))
CHECK_RUNS  += $(if $(SUITE),$(CHECK_ABI:%=$(BUILD)/check/abi-suite-%))
CHECK_RUNS  += $(CHECK_ABI_RULES:%=$(BUILD)/check/abi-rules-%)
CHECK_RUNS  += $(CHECK_ABI_MISTAKES:%=$(BUILD)/check/abi-mistakes-%)
CHECK_RUNS  += $(CHECK_ABI_RECORDED:%=$(BUILD)/check/abi-%)
CHECK_RUNS  += $(if $(SUITE),$(CHECK_SCHEDULES:%=$(BUILD)/check/conformance-schedule-%))
CHECK_RUNS  += $(if $(SUITE),$(CHECK_ALIASES:%=$(BUILD)/check/conformance-alias-%))
# What drivers answered, replayed.
RECORDINGS  := $(notdir $(patsubst %/profile,%,$(wildcard conformance/recorded/recordings/*/profile)))
CHECK_RUNS  += $(RECORDINGS:%=$(BUILD)/check/recording-%)
CHECK_RUNS  += $(if $(filter %/lockstep,$(PROGS)),$(CHECK_LAYERS:%=$(BUILD)/check/%))
CHECK_RUNS  += $(FUZZ_CHECKS)
# Tests of what maintainers and CI use, which take long: `make check-ci`; it also compares what one H100 answered.
CHECK_CI    := ci/checker_schedules_test.sh ci/gpu_test.sh ci/mutate_test.sh ci/runtime_compilers_test.sh conformance/programs/mistakes_test.sh
CHECK_SHELL := $(filter-out $(CHECK_CI),$(sort $(wildcard ci/*_test.sh api/*/*_test.sh tools/*/*_test.sh conformance/*/*_test.sh docs/*_test.sh)))

RULE_PAIRS  := $(BUILD)/test/tools/explain/rule_pairs_test

# The simulator in a browser: it needs the module for WebAssembly, which no other test does.
CHECK_WEB_TESTS := tools/web/web_browser_test.sh tools/view/view_browser_test.sh $(BUILD)/test/tools/web/web_corpus_test
# What is installed and packed, clients and graders of others, and tools that a change of the engine seldom reaches.
CHECK_PACKED := $(addprefix ci/,$(addsuffix _test.sh,abi_diff analyze bench_compare client cmake fuzz install)) \
    $(addprefix conformance/,corpus/exercises_test.sh oracle/campaign_mpi_test.sh programs/fabric_mpi_test.sh) \
    $(addprefix tools/,export/export_test.sh recording/recording_test.sh sweep/sweep_test.sh view/view_family_test.sh view/view_serve_test.sh) \
    api/stacks/stacks_python_test.sh
# All these are left to check-web and check-ci. Slow tools leave out tests of their own choice.
CHECK_LATER  ?= $(CHECK_WEB_TESTS) $(CHECK_PACKED)

# Those that take longest, here or under valgrind, come first, so that none runs last and alone; ci/slowest lists them.
CHECK_LIST   = $(filter-out $(CHECK_LATER),$(CHECK_RUNS) $(CHECK_SHELL) $(TESTS))
CHECK_LONG   = ci/check_test.sh ci/checker_programs_test.sh $(BUILD)/check/lockstep $(BUILD)/check/world conformance/corpus/exercises_test.sh \
    $(BUILD)/test/conformance/oracle/world_test tools/recording/recording_test.sh ci/cmake_test.sh $(BUILD)/check/conformance-large \
    $(addprefix $(BUILD)/check/abi-,$(filter answers-% copies%,$(CHECK_ABI_RECORDED))) tools/shell/shell_test.sh \
    $(addprefix $(BUILD)/test/,tools/machine/machine_test conformance/oracle/lockstep_drive_test tools/cli/diff_test tools/explain/rule_pairs_test \
    conformance/recorded/ptx/replay_test tools/web/web_corpus_test tools/trace/timeline_test backend_sim/calls/inject_test backend_sim/machine/share_inject_test)
# Those that wait most of their time, each beside one that does not.
CHECK_WAIT   = $(addprefix $(BUILD)/check/abi-,$(filter edges-% memops-% ipc-% pools-%,$(CHECK_ABI_RECORDED))) tools/view/view_browser_test.sh \
    tools/web/web_browser_test.sh $(BUILD)/test/backend_sim/abi/library/abi_unasked_test
CHECK_FIRST  = $(subst |, ,$(join $(addsuffix |,$(CHECK_WAIT)),$(CHECK_LONG)))
CHECK_ORDER  = $(foreach test,$(CHECK_FIRST),$(filter $(test),$(CHECK_LIST))) $(filter-out $(CHECK_FIRST),$(CHECK_LIST))
LONG_SEED      ?= 1
LONG_CALLS     ?= 1500000
LONG_WORLDS    ?= world-2-recorded world-2
SABOTAGE_EVERY ?= 1

.PHONY: check-built check-ci check-web check-list check-list-few mutate mutate-sample mutate-tool entry-points runtime-entries clients-python check-clients check-long soak sabotage check check-few check-build check-valgrind check-asan check-tsan coverage examples-update mistakes lint install uninstall FORCE

# What runs each test. Never with a sanitizer or counters: it is none itself.
TAP_RUN := $(BUILD)/bin/tap-run
$(TAP_RUN): ci/tap_run.c
	$(FOLDER)
	$(CC) -O1 -std=c11 $(CPPFLAGS) $(WARNINGS) $(if $(WERROR),-Werror) -o $@ $<

# A run of part of the tests builds only what it uses.
CHECK_NEEDS ?=
# Mutants are tried by runs, too, that are none of check's.
MUTATE_RUNS := $(addprefix $(BUILD)/check/,$(ABI_RECORDINGS:%=abi-%) conformance-as-driver-h200x2 conformance-alias-stale-1 conformance-schedule-random-1)
check-build: $(TAP_RUN) $(or $(CHECK_NEEDS),all) $(TESTS) $(CHECK_RUNS) $(MUTATE_RUNS) $(BUILD)/cuvmm.pc $(if $(CHECK_NEEDS),,$(BUILD)/bin/ptx-record)

# Programs that print TAP, as tests; what they print on standard error goes past prove (ci/tap_run.c). Seconds until one that does
# not end is ended and named (ci/limit): many, since a debugger or a slow machine is no reason to end a test.
TEST_SECONDS ?= 1800
RUN_TAP = TAP_LIMIT=$(TEST_SECONDS) TAP_STDERR=7 $(PROVE) --nocolor -e

# Where python3 is a script that looks for the interpreter at each start (pyenv's takes fifteen processes), tests get the interpreter's
# own folder first.
PYTHON_FOLDER = $(shell python=$$(command -v python3) && head -c 2 "$$python" | grep -q '^\#!' && \
    python3 -c 'import os, sys; print(os.path.dirname(sys.executable) + ":")')

# Two tests more than there are processors at a time, since some sleep. For coverage they write to a disk, whose file system answers more.
check: check-build ## build everything and run its tests, with short rounds of the random ones (TAP in $(BUILD)/tap)
	@rm -rf $(TAP) && mkdir -p $(TAP)
	@folder=$$($(if $(COVERAGE),TEST_MEMORY= )ci/test-folder $(BUILD)) && trap 'rm -rf "$$folder"' EXIT HUP INT TERM && export TMPDIR="$$folder"; \
	    CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-25} PATH="$(PYTHON_FOLDER)$$PATH" CUVMM_BUILD=$(BUILD) CUVMM_SAN='$(SAN)$(COVERAGE)' CUVMM_HARDENED='$(HARDENED)' CC='$(CC)' \
	    $(RUN_TAP) '$(TAP_RUN) $(TAP)' -j$$(($(JOBS) + 2)) $(CHECK_ORDER) </dev/null 7>&2; \
	    status=$$?; $(TALLY) $(TAP) && exit $$status

# Of one machine, all that refusals say. Under other tools some tests skip, or find other addresses.
SUITE_NOTES = $(if $(SAN)$(COVERAGE),,[ -n "$${CUVMM_RUN-}" ] || set -- --notes conformance/suite/notes.tsv; )

# A file for each run of a program, since prove takes files without arguments.
$(BUILD)/check/conformance-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\n%sexec $${CUVMM_RUN-} $(BUILD)/bin/conformance --backend sim:$* "$$@"\n' '$(if $(filter h100,$*),$(SUITE_NOTES))' >$@
	@chmod +x $@

# As on a driver: one machine for all tests, without checks of rules and objects.
$(BUILD)/check/conformance-as-driver-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/bin/conformance --as-driver --backend sim:$*\n' >$@
	@chmod +x $@

# The CUDA backend on the simulator's libcuda.so.1.
$(BUILD)/check/abi-suite-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec ci/abi-suite $* $(BUILD)\n' >$@
	@chmod +x $@

# The rule book's pairs there, and the mistakes.
$(BUILD)/check/abi-rules-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nCUVMM_KERNELS=cuvmm CUVMM_SIM=sim:$* exec $${CUVMM_RUN-} $(RULE_PAIRS) --driver cuda:$(abspath $(LIBCUDA)) $*\n' >$@
	@chmod +x $@

$(BUILD)/check/abi-mistakes-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nCUVMM_KERNELS=cuvmm CUVMM_SIM=sim:$* exec $${CUVMM_RUN-} $(BUILD)/bin/buggy --driver cuda:$(abspath $(LIBCUDA))\n' >$@
	@chmod +x $@

# The recording programs on the simulator's libcuda.so.1.
define ABI_RECORDED
$(BUILD)/check/abi-$(1)-%: ci/targets.mk
	@mkdir -p $$(@D)
	@printf '#!/bin/sh\nexec ci/abi-recorded $(1) $$* $(BUILD)\n' >$$@
	@chmod +x $$@
endef
$(foreach name,$(ABI_PROGRAMS),$(eval $(call ABI_RECORDED,$(name))))

# In-flight work under schedules other than late.
# Random ones with reports of accesses that nothing orders, which change no answer.
REPORT_ORDER := ,order=report
$(BUILD)/check/conformance-schedule-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/bin/conformance --backend sim:h100,schedule=$(subst -,:,$*)$(if $(filter random-%,$*),$(REPORT_ORDER))\n' >$@
	@chmod +x $@

# Old bytes where the order of writes and reads through two addresses is undefined.
$(BUILD)/check/conformance-alias-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/bin/conformance --backend sim:h100,alias=$(subst -,:,$*)\n' >$@
	@chmod +x $@

# Layers between: a simulator beside the simulator, which must find nothing to say, and a trace. The model beside all.
$(BUILD)/check/layers: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/bin/lockstep --spec "shadow=nodes=1|sim:h100" --spec "shadow=nodes=1|sim:h200x2" --spec "trace=/dev/null|sim:max" --calls 60000\n' >$@
	@chmod +x $@

$(BUILD)/check/recording-%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec ci/replay-recording conformance/recorded/recordings/$* $(BUILD)\n' >$@
	@chmod +x $@

$(PROGS:$(BUILD)/bin/%=$(BUILD)/check/%): $(BUILD)/check/%: ci/targets.mk
	$(FOLDER)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/bin/$*\n' >$@
	@chmod +x $@

# Tests of scripts, documents and pages, to which it makes no difference how the engine was compiled.
CHECK_ONCE := $(wildcard docs/*_test.sh) $(patsubst %,ci/%_test.sh,exclusions fuzz junit requests slowest tally test_folder threaded) tools/view/view_browser_test.sh \
    tools/web/web_browser_test.sh
CHECK_NOT_ONCE = CHECK_SHELL='$(filter-out $(CHECK_ONCE),$(CHECK_SHELL))'

# What a slow tool looks for, it finds on few machines: the others differ in numbers alone. Recordings are calls like others.
CHECK_FEW = $(CHECK_NOT_ONCE) CHECK_LATER= CHECK_PROFILES='h200x2 odd' CHECK_AS_DRIVER= CHECK_ABI=h100 CHECK_ABI_RULES=h100 CHECK_ABI_RECORDED= CHECK_SCHEDULES=random-1 CHECK_ALIASES= RECORDINGS=

CHECK_CI_RUNS = $(addprefix abi-,$(ABI_RECORDINGS_CI) $(CHECK_ABI_CI:%=suite-%) $(CHECK_ABI_RULES_CI:%=rules-%)) \
    $(addprefix conformance-,$(CHECK_PROFILES_CI) $(CHECK_SCHEDULES_CI:%=schedule-%) $(CHECK_ALIASES_CI:%=alias-%))
check-ci: ## what make check leaves out: more machines; what is installed; the tests of make check-gpu and of make mutate; the graders
	+@CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-100} $(NEST) TAP=$(BUILD)/tap-ci CHECK_PROFILES='$(CHECK_PROFILES_CI)' CHECK_SCHEDULES='$(CHECK_SCHEDULES_CI)' \
	    CHECK_ALIASES='$(CHECK_ALIASES_CI)' CHECK_ABI_RECORDED='$(ABI_RECORDINGS_CI)' CHECK_ABI='$(CHECK_ABI_CI)' CHECK_ABI_RULES='$(CHECK_ABI_RULES_CI)' \
	    CHECK_LIST='$(CHECK_CI) $(CHECK_CI_RUNS:%=$(BUILD)/check/%) $(CHECK_PACKED)' check

check-web: web-module ## the tests of the page for browsers (make web) and of the pages of cuvmm view in a browser
	+@$(NEST) TAP=$(BUILD)/tap-web CHECK_LIST='$(CHECK_WEB_TESTS)' check

check-few: ## every test, on fewer machines
	+@$(NEST) $(CHECK_FEW) check

# What users build, with another compiler: builds with sanitizers skip these.
check-built: ## the tests of what is installed, of its hardening and of what programs link
	+@$(NEST) CHECK_NEEDS='$(LIBA) $(LIBSIM) $(LIBSO) $(LIBCUDA) $(LIBCUDART) $(LIBNVML) $(LIBCHECK) $(LIBFILES) $(CUVMM) $(EXAMPLES) $(RULE_PAGE)' TESTS= CHECK_RUNS= \
	    CHECK_LIST='$(patsubst %,ci/%_test.sh,hardening install sim_only symbols_list unload unmodified)' check

# Scripts start their programs themselves: they would be what `check` ran. What reads memory that was never written is found where
# code runs once: in each test of a part, and in the suite, which goes through both libraries. The small world and random calls
# (lockstep) make those calls in every order, and the layers, the rules' pairs and programs with mistakes make them once more: for
# AddressSanitizer, which also runs the tools' tests and those that fail each allocation.
# Valgrind's own a * b + c of f64 is a unit off now and then, so what a device computed is not replayed there.
VALGRIND_RUNS = $(filter-out $(addprefix $(BUILD)/check/,world buggy lockstep),$(PROGS:$(BUILD)/bin/%=$(BUILD)/check/%)) \
    $(if $(SUITE),$(BUILD)/check/abi-suite-h200x2) $(FUZZ_CHECKS)
VALGRIND_TESTS = $(filter-out %inject_test $(BUILD)/test/tools/% $(addprefix $(BUILD)/test/conformance/oracle/,world_test lockstep_test \
    graph_lockstep_test pool_lockstep_test lockstep_drive_test) $(BUILD)/test/backend_sim/nvml/nvml_processes_test \
    $(BUILD)/test/conformance/recorded/ptx/replay_test,$(TESTS))
check-valgrind: check-build $(BUILD)/check/abi-suite-h200x2 ## the test programs under valgrind, with fewer rounds and machines
	+@CUVMM_RUN='$(VALGRIND)' CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-4} $(NEST) TAP=$(BUILD)/tap-valgrind \
	    CHECK_LIST='$(VALGRIND_RUNS) $(VALGRIND_TESTS)' check

# With -fsanitize gcc warns about what cannot happen, and clang about nothing more than without. Under a sanitizer the compiler takes
# longer to optimise fully than the tests then save; for tests themselves to optimise at all.
SAN_BUILD = WERROR=$(if $(findstring clang,$(CC)),$(WERROR)) CFLAGS='-O1 -g1' TEST_CFLAGS='-O0 -g1' $(CHECK_FEW)
# The engine checks itself after each call there, too: a build of its own would cost as much and find no more (docs/debug.md).
check-asan: ## the tests with AddressSanitizer, UndefinedBehaviorSanitizer and DEBUG=1, on fewer machines
	+@CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-25} $(NEST) BUILD=$(BUILD)/asan SAN=address,undefined DEBUG=1 $(SAN_BUILD) check

# Where there is one thread there is nothing to find: the tests that start some, and the suite on libcuda.so.1. Those of the recorder
# and of the checker's stream read with the tools what their threads wrote.
TSAN      := $(BUILD)/tsan
TSAN_RUNS := abi-suite-h100
check-tsan: ## the tests that start threads with ThreadSanitizer
	+@tests=$$(ci/threaded) && CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-5} $(NEST) BUILD=$(TSAN) SAN=thread $(SAN_BUILD) \
	    CHECK_NEEDS='$(TSAN)/bin/conformance $(TSAN)/lib/libcuda.so.1 $(TSAN)/lib/libnvidia-ml.so.1' CHECK_RUNS='$(TSAN_RUNS:%=$(TSAN)/check/%)' CHECK_SHELL= \
	    TESTS="$$(echo $$(for test in $$tests; do echo $(TSAN)/test/$${test%.c}; done))" check

# Shared memory: 10000 exchanges between two processes, 1000 of them killed, a million malformed descriptors and fabric
# handles, the state of a machine forged 40000 times. CI does a twentieth, `make check` a quarter of that.
SOAKS := $(addprefix $(BUILD)/test/backend_sim/machine/,share_soak_test share_fuzz_test share_forge_test)
SOAK_SCALE ?= 2000

soak: $(TAP_RUN) $(SOAKS) ## the figures of shared memory in full (SOAK_SCALE is the percentage of CI's length)
	@rm -rf $(TAP)-soak && mkdir -p $(TAP)-soak
	@CUVMM_TEST_SCALE=$(SOAK_SCALE) $(RUN_TAP) '$(TAP_RUN) $(TAP)-soak' -j$(JOBS) $(SOAKS) </dev/null 7>&2; \
	    status=$$?; $(TALLY) $(TAP)-soak && exit $$status

# The world of two devices, also as a driver answered in it, and a hundred times the random calls that check makes.
WORLD_2 := conformance/recorded/recordings/h200x2-580.159.04
check-long: $(TAP_RUN) $(PROGS) $(SOAKS) $(BUILD)/test/backend_sim/calls/scale_test ## the long forms of the random and exhaustive tests
	@rm -rf $(TAP)-long && mkdir -p $(TAP)-long $(BUILD)/check-long
	@printf '#!/bin/sh\nexec $(BUILD)/bin/world --devices 2\n' >$(BUILD)/check-long/world-2
	@printf '#!/bin/sh\nexec $(BUILD)/bin/lockstep --seed $${CUVMM_SEED-$(LONG_SEED)} --calls $(LONG_CALLS)\n' >$(BUILD)/check-long/lockstep
	@printf '#!/bin/sh\nexec $(BUILD)/bin/lockstep --spec "shadow=nodes=1|sim:h100" --spec "shadow=nodes=1|sim:h200x2" --calls 300000\n' >$(BUILD)/check-long/shadow
	@printf '#!/bin/sh\nexec $(BUILD)/bin/world --devices 2 --replay-recording $(WORLD_2)/world-2.tsv --spec sim:$(WORLD_2)/profile\n' >$(BUILD)/check-long/world-2-recorded
	@for soak in $(SOAKS) $(BUILD)/test/backend_sim/calls/scale_test; do \
	    printf '#!/bin/sh\nCUVMM_TEST_SCALE=$(SOAK_SCALE) exec %s\n' $$soak >$(BUILD)/check-long/$$(basename $$soak); done
	@chmod +x $(BUILD)/check-long/*
	@$(RUN_TAP) '$(TAP_RUN) $(TAP)-long' -j$(JOBS) $(addprefix $(BUILD)/check-long/,$(LONG_WORLDS) lockstep shadow scale_test $(notdir $(SOAKS))) </dev/null 7>&2; \
	    status=$$?; $(TALLY) $(TAP)-long && exit $$status

# Programs that others wrote, as they are, on libcuda.so.1 (docs/clients.md). What cannot be had is skipped by name.
CLIENT_SCRIPTS := $(filter-out client,$(notdir $(basename $(wildcard conformance/programs/clients/*.py))))
CLIENT_RUNS    := $(CLIENT_SCRIPTS:%=13-%) $(patsubst %,12-%,$(filter bindings_% core_%,$(CLIENT_SCRIPTS)))
CLIENT_SAMPLES := deviceQueryDrv vectorAddDrv vectorAddMMAP matrixMulDrv memMapIPCDrv
CLIENT_RUNTIME := vectorAdd asyncAPI cudaOpenMP deviceQuery simpleCallback simpleHyperQ simpleIPC simpleMultiCopy simpleMultiGPU simpleOccupancy \
    simpleP2P simpleStreams simpleTemplates simpleZeroCopy streamOrderedAllocation streamOrderedAllocationIPC streamOrderedAllocationP2P \
    StreamPriorities topologyQuery
# Samples whose own kernels run, from PTX (docs/ptx.md).
CLIENT_PTX     := vectorAddMMAP memMapIPCDrv matrixMulDrv vectorAddDrv reduction scan histogram transpose sortingNetworks shfl_scan \
    simpleAtomicIntrinsics systemWideAtomics simpleCooperativeGroups graphMemoryNodes conjugateGradientMultiBlockCG
CLIENT_KERNELS := $(BUILD)/clients/kernels.so $(BUILD)/clients/tests-kernels.so
CLIENT_TESTS   := $(shell sed -n '/^\#/d; s/\t.*//p' conformance/programs/clients/tests/passing.tsv)
CUDA_SAMPLES ?=
VLLM_SOURCE ?=
CUDA_PYTHON ?=

$(BUILD)/clients/kernels.so: $(wildcard conformance/programs/clients/kernels/*.c)
$(BUILD)/clients/tests-kernels.so: conformance/programs/clients/tests/kernels.c
$(CLIENT_KERNELS): api/vmm_kernel.h
	$(FOLDER)
	$(CC) -Iapi -std=c11 $(WARNINGS) $(if $(WERROR),-Werror) -O2 -fPIC -shared -o $@ $(filter %.c,$^)

clients-python: ## the clients from PyPI, into a virtual environment below $(BUILD)
	@for cuda in 13 12; do ci/clients-python $(BUILD) $$cuda || exit; done

check-clients: $(TAP_RUN) $(LIBCUDA) $(LIBCUDART) $(CLIENT_KERNELS) clients-python ## third-party programs on libcuda.so.1 (CUDA_SAMPLES=/path, VLLM_SOURCE=/path, CUDA_PYTHON=/path: docs/clients.md)
	@$(if $(CUDA_PYTHON),ci/clients-python $(BUILD) tests conformance/programs/clients/tests/requirements.txt)
	@rm -rf $(TAP)-clients $(BUILD)/check-clients && mkdir -p $(TAP)-clients $(BUILD)/check-clients
	@for run in $(CLIENT_RUNS); do \
	    printf '#!/bin/sh\nexec ci/client $(BUILD) %s conformance/programs/clients/%s.py\n' $${run%%-*} $${run#*-} >$(BUILD)/check-clients/$$run; done
	@for sample in $(CLIENT_SAMPLES); do \
	    printf '#!/bin/sh\nexec ci/client-sample $(BUILD) %s\n' $$sample >$(BUILD)/check-clients/$$sample; done
	@for sample in $(CLIENT_RUNTIME); do \
	    printf '#!/bin/sh\nexec ci/client-runtime-sample $(BUILD) %s\n' $$sample >$(BUILD)/check-clients/$$sample; done
	@for sample in $(CLIENT_PTX); do \
	    printf '#!/bin/sh\nexec ci/client-ptx-sample $(BUILD) %s\n' $$sample >$(BUILD)/check-clients/ptx-$$sample; done
	@for file in $(CLIENT_TESTS); do \
	    printf '#!/bin/sh\nexec ci/client-tests $(BUILD) %s\n' $$file >$(BUILD)/check-clients/$$(echo $$file | tr / .); done
	@chmod +x $(BUILD)/check-clients/*
	@CUDA_PYTHON='$(CUDA_PYTHON)' CUDA_SAMPLES='$(CUDA_SAMPLES)' VLLM_SOURCE='$(VLLM_SOURCE)' $(RUN_TAP) '$(TAP_RUN) $(TAP)-clients' -j$(JOBS) \
	    $(addprefix $(BUILD)/check-clients/,$(CLIENT_RUNS) $(CLIENT_SAMPLES) $(CLIENT_RUNTIME) $(CLIENT_PTX:%=ptx-%) $(subst /,.,$(CLIENT_TESTS))) </dev/null 7>&2; \
	    status=$$?; $(TALLY) $(TAP)-clients && exit $$status

# Frameworks on libcudart and libcuda.so.1 (docs/frameworks.md): gigabytes from PyPI, so it is not part of .ci/run.
FRAMEWORKS := torch jax
FRAMEWORK_SCRIPTS = $(notdir $(basename $(shell grep -l '^\# framework: ' conformance/programs/frameworks/*_*.py)))
FRAMEWORK_RUNS = $(foreach script,$(FRAMEWORK_SCRIPTS),$(addprefix $(script).,$(or $(shell sed -n 's/^\# run: \([^ ]*\).*/\1/p' conformance/programs/frameworks/$(script).py),once)))

frameworks-python: ## PyTorch and JAX from PyPI, into virtual environments below $(BUILD), where TORCH_PYTHON and JAX_PYTHON name none
	@for framework in $(FRAMEWORKS); do \
	    [ -n "$$(printenv $$(echo $$framework | tr a-z A-Z)_PYTHON)" ] || CLIENTS_PATIENCE=1800 \
	    ci/clients-python $(BUILD) $$framework conformance/programs/frameworks/requirements-$$framework.txt || exit; done

check-frameworks: $(TAP_RUN) $(LIBCUDA) $(LIBCUDART) $(LIBNVML) $(LIBFILES) $(CUVMM) frameworks-python ## PyTorch and JAX on the simulator (docs/frameworks.md)
	@rm -rf $(TAP)-frameworks $(BUILD)/check-frameworks && mkdir -p $(TAP)-frameworks $(BUILD)/check-frameworks
	@for run in $(FRAMEWORK_RUNS); do \
	    printf '#!/bin/sh\nexec ci/framework $(BUILD) conformance/programs/frameworks/%s.py %s\n' $${run%.*} $$(echo $${run##*.} | grep -vx once) >$(BUILD)/check-frameworks/$$run; done
	@chmod +x $(BUILD)/check-frameworks/*
	@$(RUN_TAP) '$(TAP_RUN) $(TAP)-frameworks' -j$(JOBS) $(addprefix $(BUILD)/check-frameworks/,$(FRAMEWORK_RUNS)) </dev/null 7>&2; \
	    status=$$?; $(TALLY) $(TAP)-frameworks && exit $$status

# Mutants (docs/mutation.md): those that universalmutator from PyPI makes, a line of the engine each, and mistakes by hand.
# What ci/mutate runs: what check does, on fewer machines, which differ in numbers alone.
MUTATE_FEW = CHECK_LATER='$(filter %.sh,$(CHECK_WEB_TESTS))' CHECK_PROFILES='h100 h200x2 odd' CHECK_ALIASES=stale-1 CHECK_AS_DRIVER=h200x2 CHECK_ABI=h200x2 CHECK_ABI_RULES=h100 CHECK_ABI_RECORDED='$(filter-out answers-h200x2 copies-h100 copies3d-h100,$(ABI_RECORDINGS))' CHECK_SCHEDULES=random-1
# UNIVERSALMUTATOR: a folder with the package in it, where PyPI cannot be reached.
UNIVERSALMUTATOR ?=
MUTATE = nice -n 5 ci/mutate --build $(BUILD) --jobs $(JOBS) $(UNIVERSALMUTATOR:%=--package %)
FILES  ?=
COUNT  ?=
EVERY  ?=
SEED   ?=
ONLY   ?=
MOST   ?=
QUICK  ?=
SAMPLE ?= 16

check-list:
	@printf '%s\n' $(CHECK_LIST)

check-list-few:
	+@$(NEST) $(MUTATE_FEW) check-list

mutate-tool:
	@$(if $(UNIVERSALMUTATOR),,ci/clients-python $(BUILD) mutation ci/mutation/requirements.txt)

mutate: check-build mutate-tool ## would a test notice? Mutants of the engine (FILES=, COUNT= or EVERY=, SEED=, ONLY=, MOST=, QUICK=1: docs/mutation.md)
	@$(MUTATE) --reach $(FILES:%=--files %) $(COUNT:%=--count %) $(EVERY:%=--every %) $(SEED:%=--seed %) $(ONLY:%=--only %) $(MOST:%=--most %) $(QUICK:%=--quick)

# $(call MUTATE_TAP,NAME,ARGUMENTS): a run as a test, whose TAP is kept in $(TAP)-NAME.
define MUTATE_TAP
@rm -rf $(TAP)-$(1) && mkdir -p $(TAP)-$(1)
@printf '%s\n' '#!/bin/sh' 'command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }' \
    'exec $(MUTATE) $(2)' >$(BUILD)/$(1)-run
@chmod +x $(BUILD)/$(1)-run
@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-$(1)' $(BUILD)/$(1)-run </dev/null; \
    status=$$?; $(TALLY) $(TAP)-$(1) && exit $$status
endef

mutate-sample: check-build mutate-tool ## SAMPLE of them, for CI
	$(call MUTATE_TAP,mutate,--sample $(SAMPLE) $(SEED:%=--seed %) --most 1000)

sabotage: check-build ## does the suite notice mistakes made by hand? Every SABOTAGE_EVERYth of ci/sabotage.list (ONLY=NAME: one alone)
	$(call MUTATE_TAP,sabotage,--rows ci/sabotage.list --every $(SABOTAGE_EVERY) $(ONLY:%=--only "^%$$") $(QUICK:%=--quick))

# Machines differ in numbers; what the recordings of a driver reach besides is reached by those of one of them.
# Scripts that start hundreds of programs reach no line that others do not, and each program writes the counters of all files, into
# memory where there is such a place.
COVERAGE_MORE := CHECK_ABI_RECORDED='$(filter-out first-%,$(CHECK_ABI_RECORDED)) $(filter copies%x2 %-h200 arrays-% managed-%,$(ABI_RECORDINGS_CI))' \
    CHECK_SHELL='$(filter-out $(CHECK_ONCE) tools/sweep/sweep_test.sh tools/recording/recording_test.sh,$(CHECK_SHELL))'
coverage: ## line and branch coverage of api/ and backend_sim/ (HTML in $(BUILD)/coverage), checked against ci/coverage-floor
	@if [ -d $(BUILD)/cov ]; then find $(BUILD)/cov -name '*.gcda' -delete; fi
	+@counters=$$(mktemp -d /dev/shm/cuvmm-coverage-XXXXXX 2>/dev/null) && trap 'rm -rf "$$counters"' EXIT && export GCOV_PREFIX="$$counters"; \
	    CHECKER_SEEDS=4 CUVMM_TEST_SCALE=$${CUVMM_TEST_SCALE-25} $(NEST) BUILD=$(BUILD)/cov COVERAGE=1 CC=gcc CFLAGS=-g1 WERROR= $(CHECK_FEW) $(COVERAGE_MORE) check; \
	    status=$$?; ci/coverage $(BUILD)/cov $(BUILD)/coverage $(COVERAGE_FLOOR) && exit $$status

examples-update: $(LIBA) ## regenerate the outputs of conformance/programs/examples and their excerpts in README.md and docs/library.md
	ci/examples-update $(BUILD)

mistakes: $(BUILD)/bin/buggy ## the tables of docs/mistakes.md from the programs of conformance/programs/buggy
	{ sed '/^## /,$$d' docs/mistakes.md; $(BUILD)/bin/buggy --table; } >$(BUILD)/mistakes.md && mv $(BUILD)/mistakes.md docs/mistakes.md

entry-points: ## docs/entry-points.md from the table of libcuda.so.1
	ci/entry-points >$(BUILD)/entry-points.md && mv $(BUILD)/entry-points.md docs/entry-points.md

runtime-entries: ## the list of docs/runtime.md from the table of libcudart
	ci/runtime-entries >$(BUILD)/runtime.md && mv $(BUILD)/runtime.md docs/runtime.md

lint: ## shellcheck on every shell script; the rows of ci/sabotage.list against the sources; the licence of each
	ci/sabotage --check
	ci/mutate --check
	ci/spdx
	ci/walls
	shellcheck -x $$(grep -d skip -lE '^#!.*[ /](ba)?sh$$' .ci/run ci/* packaging/python/* ci/mutation/* fuzz/run $(CHECK_SHELL) $(CHECK_CI) $(EXERCISES)/exercise $(addprefix tools/recording/,record diff ours))

$(BUILD)/cuvmm.pc: FORCE
	$(FOLDER)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' \
    'driverdir=$(PRIVATE_LIBDIR)' 'driverincludedir=$${includedir}/cuvmm/abi' '' 'Name: cuvmm' \
	    'Description: CUDA Virtual Memory Management on a simulator or a driver' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lcuvmm' 'Libs.private: -pthread $(DL_LIBS)' >$@

HEADERS := api/vmm.h api/vmm_fd.h api/results.def api/vmm_kernel.h api/cuvmm_mark.h
PART_HEADERS := $(wildcard api/vmm/*.h)
ABI_HEADERS := api/abi/cuda.h api/abi/cuda_functions.h api/abi/cuda_graph.h api/abi/cuda_array.h api/abi/cuda_values.def api/abi/cuda_runtime_api.h \
    $(wildcard api/abi/runtime/*.h) api/abi/runtime/values.def \
    api/abi/nvml.h api/abi/nvml_functions.h api/abi/nvml_values.def

# The driver's library of the simulator lies in a folder of its own, so that no program finds it that does not look there.
# The exercises without their solutions, and the harness that their graders print with.
EXERCISES    := conformance/corpus/exercises
EXERCISE_SET := $(sort $(wildcard $(EXERCISES)/[0-9]*-*/*) $(wildcard $(EXERCISES)/grader/*)) $(EXERCISES)/README.md $(EXERCISES)/coarse.profile

install: $(LIBA) $(LIBSIM) $(LIBSO) $(DRIVER_LIBS) $(CUVMM) $(RULE_PAGE) $(BUILD)/cuvmm.pc install-pages install-cmake install-recording ## libraries, headers, pkg-config file, command, manual pages, completion, exercises and documents, into DESTDIR and PREFIX
	install -d $(DESTDIR)$(PREFIX)/include/cuvmm/vmm $(DESTDIR)$(PREFIX)/include/cuvmm/abi/runtime $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PRIVATE_LIBDIR) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/cuvmm
	install -m 644 $(PART_HEADERS) $(DESTDIR)$(PREFIX)/include/cuvmm/vmm
	install -m 644 $(filter-out api/abi/runtime/%,$(ABI_HEADERS)) $(DESTDIR)$(PREFIX)/include/cuvmm/abi
	install -m 644 $(filter api/abi/runtime/%,$(ABI_HEADERS)) $(DESTDIR)$(PREFIX)/include/cuvmm/abi/runtime
	install -m 644 $(LIBA) $(LIBSIM) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBSO) $(DESTDIR)$(LIBDIR)
	$(if $(DRIVER_LIBS),install -m 755 $(DRIVER_LIBS) $(DESTDIR)$(PRIVATE_LIBDIR))
	$(if $(DRIVER_LIBS),ln -sf libcuda.so.1 $(DESTDIR)$(PRIVATE_LIBDIR)/libcuda.so)
	$(if $(DRIVER_LIBS),ln -sf libcudart.so.13 $(DESTDIR)$(PRIVATE_LIBDIR)/libcudart.so)
	$(if $(DRIVER_LIBS),ln -sf libnvidia-ml.so.1 $(DESTDIR)$(PRIVATE_LIBDIR)/libnvidia-ml.so)
	ln -sf $(notdir $(LIBSO)) $(DESTDIR)$(LIBDIR)/$(notdir $(LIBSO_MAJOR))
	ln -sf $(notdir $(LIBSO_MAJOR)) $(DESTDIR)$(LIBDIR)/$(notdir $(LIBSO_DEV))
	install -m 644 $(BUILD)/cuvmm.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	$(if $(CUVMM),install -m 755 $(CUVMM) $(DESTDIR)$(PREFIX)/bin)
	$(if $(CUVMM),ln -sf "$$(realpath -m --relative-to=$(PRIVATE_LIBDIR) $(PREFIX)/bin/cuvmm)" $(DESTDIR)$(PRIVATE_LIBDIR)/ptxas)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/cuvmm/,$(sort $(patsubst conformance/corpus/%/,%,$(dir $(EXERCISE_SET)))))
	for file in $(EXERCISE_SET:conformance/corpus/%=%); do \
	    install -m 644 conformance/corpus/$$file $(DESTDIR)$(PREFIX)/share/cuvmm/$$file || exit; done
	install -m 644 conformance/harness/tap.h conformance/harness/tap.c $(DESTDIR)$(PREFIX)/share/cuvmm
	install -m 755 $(EXERCISES)/exercise $(DESTDIR)$(PREFIX)/share/cuvmm/exercises
	$(if $(RULE_PAGE),install -d $(DESTDIR)$(DOCDIR) && install -m 644 $(RULE_PAGE) $(DESTDIR)$(DOCDIR))

uninstall: uninstall-pages uninstall-cmake uninstall-recording ## remove what install installed
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/cuvmm/,$(notdir $(HEADERS)) $(PART_HEADERS:api/%=%) $(ABI_HEADERS:api/%=%))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libcuvmm.a libcuvmm-sim.a $(notdir $(LIBSO) $(LIBSO_MAJOR) $(LIBSO_DEV)) pkgconfig/cuvmm.pc)
	rm -f $(addprefix $(DESTDIR)$(PRIVATE_LIBDIR)/,libcuda.so.1 libcuda.so libcudart.so.12 libcudart.so.13 libcudart.so libnvidia-ml.so.1 libnvidia-ml.so libcuvmm-check.so libcuvmm-device-files.so libcuvmm-optional.so ptxas)
	rm -f $(DESTDIR)$(PREFIX)/bin/cuvmm
	rm -rf $(DESTDIR)$(PREFIX)/share/cuvmm/exercises $(addprefix $(DESTDIR)$(PREFIX)/share/cuvmm/,tap.h tap.c)
	-rmdir $(DESTDIR)$(PREFIX)/include/cuvmm/vmm $(DESTDIR)$(PREFIX)/include/cuvmm/abi/runtime $(DESTDIR)$(PREFIX)/include/cuvmm/abi $(DESTDIR)$(PREFIX)/include/cuvmm $(DESTDIR)$(PRIVATE_LIBDIR) $(DESTDIR)$(PREFIX)/share/cuvmm

# Texts of compilers for a test of the simulator's device code; clang needs no toolkit.
PTX_BODIES := backend_sim/ptx/testing
.PHONY: ptx-bodies ptx-device
PTX_DEVICE := $(addprefix ptx-of/,backend_sim/abi/testing/device conformance/corpus/scripts/launch kernels/kernels)
ptx-of/kernels/kernels: PTX_ARCH = sm_90 -I. -I../api
ptx-of/kernels/kernels: PTX_MORE = && echo "// of kernels.cu, norm.h, pattern.h: $$(cat kernels.cu norm.h pattern.h | cksum)" >>kernels.ptx
ptx-device: $(PTX_DEVICE) ## make the PTX of tests and of scripts again, with nvcc
.PHONY: $(PTX_DEVICE)
$(PTX_DEVICE): ptx-of/%:
	cd $(dir $*) && $(NVCC) -ptx -lineinfo -arch=$(or $(PTX_ARCH),sm_80) $(notdir $*).cu -o $(notdir $*).ptx && sed -i 's|"[^"]*/\([^/"]*\)"|"\1"|' $(notdir $*).ptx $(PTX_MORE)
ptx-bodies: ## make backend_sim/ptx/testing/bodies-*.ptx again, with nvcc and clang
	$(NVCC) -ptx -arch=sm_80 -fmad=false $(PTX_BODIES)/bodies.cu -o $(PTX_BODIES)/bodies-nvcc.ptx
	$(NVCC) -G -ptx -arch=sm_80 -fmad=false $(PTX_BODIES)/bodies.cu -o $(PTX_BODIES)/bodies-nvcc-debug.ptx
	sed -i '/\.section/,/}/d; s|"/.*/\([^/]*\)"|"\1"|' $(PTX_BODIES)/bodies-nvcc-debug.ptx # debug data, which names folders of this machine
	for level in 0 2; do clang -x cuda --cuda-device-only -S --cuda-gpu-arch=sm_75 -nocudalib -nocudainc -ffp-contract=off -O$$level \
	    -D__CUDACC__ -Wno-unknown-cuda-version $(PTX_BODIES)/bodies.cu -o $(PTX_BODIES)/bodies-clang-O$$level.ptx || exit; done

# ptxas's verdicts on instructions of the simulator's table, which a test compares with ours; the seed selects the lines.
PTX_VERDICTS := conformance/recorded/ptx/verdicts
PTXAS        ?= ptxas
.PHONY: ptx-verdicts
ptx-verdicts: $(BUILD)/test/conformance/recorded/ptx/verdict_test ## make conformance/recorded/ptx/verdicts.tsv again, with ptxas
	$< --head $(BUILD)/verdicts.head
	$(PTX_VERDICTS).py $(BUILD)/verdicts.head backend_sim/ptx/code/ptx_table.def $(PTXAS) $(CC) >$(BUILD)/verdicts.tsv
	$< --mark $(BUILD)/verdicts.tsv >$(PTX_VERDICTS).tsv
