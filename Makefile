# SPDX-License-Identifier: Apache-2.0
# cuvmm: build out of tree into $(BUILD). `make help` lists the targets.
#
# Sources are found by their place: a new X.c in a folder below is built, a new X_test.c becomes a TAP test.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
AR      ?= ar
# As the compiler is called: aarch64-linux-gnu-gcc's is aarch64-linux-gnu-strip.
STRIP   ?= $(if $(filter %-gcc,$(CC)),$(CC:%-gcc=%-strip),strip)
# Lines and names of functions are what reports of tools need; a debugger that is to show variables needs CFLAGS='-O2 -g' or DEBUG=1.
# Without variables a build takes a tenth less of the processor, and the programs of the tests half the time to link. The rooms
# whose functions the shared libraries export have types as well, which ci/abi-diff compares.
TYPES_CFLAGS := $(if $(filter file undefined,$(origin CFLAGS)),-g)
TYPED    := api/% kernels/% backend_sim/abi/% backend_sim/nvml/% backend_sim/runtime/%
CFLAGS  ?= -O2 $(if $(DEBUG),-g,-g1)
# Tests are compiled once and run once: what the compiler saves without its optimiser the runs do not cost. The suite's own code makes calls
# and compares; the harness and the model run longer, but no faster at -O2.
TEST_CFLAGS := $(if $(filter file undefined,$(origin CFLAGS)),-O0 $(if $(DEBUG),-g,-g0) -U_FORTIFY_SOURCE)
SUITE_CFLAGS := $(if $(TEST_CFLAGS),-O1)
CALLER_CFLAGS := $(if $(SAN),,$(filter-out -g%,$(TEST_CFLAGS)))
SAN     ?=
COVERAGE ?=
DEBUG   ?=
WERROR  ?=
PROVE   ?= prove
JOBS    ?= 2
CUDA_PATH ?= /usr/local/cuda

# What the compiler builds for, which need not be this machine: Linux or Darwin, and the processor. A file X_linux.c or X_darwin.c is
# for that system alone. A cross build runs nothing that it built, but under EMULATOR (qemu-aarch64, say), if one is given.
EMULATOR ?=
TARGET  := $(shell $(CC) -dumpmachine)
SYSTEM  := $(if $(findstring darwin,$(TARGET))$(findstring macos,$(TARGET)),Darwin,$(if $(findstring linux,$(TARGET)),Linux,$(shell uname -s)))
FOREIGN := $(filter-out $(subst arm64,aarch64,$(shell uname -s -m)),$(SYSTEM) $(subst arm64,aarch64,$(firstword $(subst -, ,$(TARGET)))))
RUNS    := $(if $(FOREIGN),$(EMULATOR),1)

# Tests without lines of their own are linked without those of the libraries: gold takes half of lld's time for that, which mostly loads
# itself. With lines lld takes a third less than gold, and gold a third less than the ordinary linker. None starts threads, for the
# processors have other work meanwhile. A cross compiler looks for linkers of its own, which need not be there.
TEST_STRIP := $(if $(FOREIGN),,$(if $(filter Linux,$(SYSTEM)),$(if $(filter -g0,$(TEST_CFLAGS)),-Xlinker --strip-debug)))
LLD  := if ld.lld --threads=1 --version >/dev/null 2>&1; then echo -fuse-ld=lld -Wl,--threads=1 -Wl,-O0 -Wl,--build-id=sha1; exit; fi
GOLD := if command -v ld.gold >/dev/null; then echo -fuse-ld=gold; exit; fi
TEST_LDFLAGS := $(TEST_STRIP) $(if $(FOREIGN),,$(shell $(if $(TEST_STRIP),$(GOLD); $(LLD),$(LLD); $(GOLD))))

VERSION := $(shell awk '/define VMM_VERSION_MAJOR/{a=$$3} /define VMM_VERSION_MINOR/{b=$$3} /define VMM_VERSION_PATCH/{c=$$3} END{print a"."b"."c}' api/vmm.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
override CPPFLAGS += -D_POSIX_C_SOURCE=200809L
ifeq ($(SYSTEM),Darwin)
override CPPFLAGS += -D_DARWIN_C_SOURCE
endif

# A file sees its own room and those that ci/rooms lists for it; a test sees every room, its own ones first. The compiler looks there for
# "X.h" alone: to look for each of the system's headers in a hundred rooms first takes a fifth of a test's compilation.
$(foreach line,$(shell awk -f ci/rooms.awk ci/rooms),$(eval ROOMS += $(firstword $(subst |, ,$(line))))\
    $(eval sees.$(firstword $(subst |, ,$(line))) := $(patsubst %,-iquote%,$(subst |, ,$(line)))))
SIM_ROOMS := $(filter-out backend_sim/testing backend_sim/nvml backend_sim/device_files backend_sim/abi/% backend_sim/runtime/%,$(filter backend_sim/%,$(ROOMS)))
ABI_ROOMS := $(filter backend_sim/abi/%,$(ROOMS))
RT_ROOMS  := $(filter backend_sim/runtime/%,$(ROOMS))
TOOL_ROOMS := $(filter tools/%,$(ROOMS))
FIXTURES  := backend_sim/abi backend_sim/runtime backend_sim/ptx
of    = $(sees.$(patsubst %/,%,$(dir $(1))))
sees  = $(call of,$(1))$(if $(filter %_test.c,$(1)), $(filter-out $(call of,$(1)),$(addprefix -iquote,$(ROOMS) $(FIXTURES))))
override CFLAGS   += -std=c11 $(WARNINGS) -fvisibility=hidden -fPIC -pthread $(if $(WERROR),-Werror)
override LDFLAGS  += -pthread
ifneq ($(SAN),)
override CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
override LDFLAGS  += -fsanitize=$(SAN)
# Clang defines no macro for it. Without the shared runtime each program has one of its own, and the libraries it loads have none;
# with it, a program of libFuzzer, which is C++, would load another library first, which the runtime refuses. Those load none of ours.
ifneq ($(and $(findstring clang,$(CC)),$(findstring address,$(SAN))),)
SAN_RUNTIME := $(dir $(shell $(CC) -print-file-name=libclang_rt.asan-$(shell uname -m).so))
override CPPFLAGS += -D__SANITIZE_ADDRESS__=1
override LDFLAGS  += $(if $(findstring fuzzer,$(SAN)),,-shared-libsan -Wl,-rpath,$(SAN_RUNTIME))
endif
endif
ifneq ($(DEBUG),)
override CPPFLAGS += -DCUVMM_DEBUG
endif
ifneq ($(COVERAGE),)
override CFLAGS   += -O0
TEST_CFLAGS :=
SUITE_CFLAGS :=
CALLER_CFLAGS :=
override LDFLAGS  += --coverage
# Counters are where ci/coverage looks for them: each of thousands of processes writes all that it has, and lcov reads them all.
counters = $(if $(filter api/% backend_sim/%,$(1)),--coverage)
endif

include ci/flags.mk

# Optional libraries: parts that need them switch themselves off where they are missing.
PKG_CONFIG ?= pkg-config
HAVE_JANSSON := $(shell $(PKG_CONFIG) --exists jansson 2>/dev/null && echo 1)
ifeq ($(HAVE_JANSSON),1)
TOOL_CFLAGS := -DCUVMM_HAVE_JANSSON $(shell $(PKG_CONFIG) --cflags jansson)
TOOL_LIBS   := $(shell $(PKG_CONFIG) --libs jansson)
endif

# Line editing in the shell; without it the shell reads plain lines.
HAVE_LIBEDIT := $(shell $(PKG_CONFIG) --exists libedit 2>/dev/null && echo 1)
ifeq ($(HAVE_LIBEDIT),1)
TOOL_CFLAGS += -DCUVMM_HAVE_LIBEDIT $(shell $(PKG_CONFIG) --cflags libedit)
OPTIONAL_LIBS += $(shell $(PKG_CONFIG) --libs libedit)
endif

# Lines of source in reports of the checker; without it they name functions by symbol tables.
HAVE_LIBDW := $(shell $(PKG_CONFIG) --exists libdw 2>/dev/null && echo 1)
ifeq ($(HAVE_LIBDW),1)
TOOL_CFLAGS += -DCUVMM_HAVE_LIBDW $(shell $(PKG_CONFIG) --cflags libdw)
OPTIONAL_LIBS += $(shell $(PKG_CONFIG) --libs libdw)
endif

# The driver is loaded at run time; C libraries older than glibc 2.34 keep dlopen apart.
DL_LIBS := $(if $(filter Linux,$(SYSTEM)),-ldl)

# The toolkit's header, where it is present, holds our values and layouts to the driver's.
HAVE_CUDA_H := $(wildcard $(CUDA_PATH)/include/cuda.h)

# The compiler for device code; without it the library holds none, and launches on a driver are refused.
NVCC ?= $(or $(shell command -v nvcc),$(wildcard $(CUDA_PATH)/bin/nvcc))
GENCODE ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90

# Sorted, so that the linker sees them in one order on every file system. What reads ELF, and what runs programs of CUDA, has X_darwin.c
# in its place on macOS, or X_none.c wherever it cannot be; X_wasm.c is X for WebAssembly (tools/web/wasm.mk).
LINUX_ALONE := $(filter-out %_none.c,$(wildcard api/stacks/*.c)) api/findings/findings_symbol.c \
    $(addprefix tools/,exec/% checker/% recorder/% sweep/% symbols/% cli/command_exec.c cli/command_check.c)
OTHER_SYSTEMS := $(if $(filter Darwin,$(SYSTEM)),%_linux.c $(LINUX_ALONE),%_darwin.c %_none.c)
sources   = $(sort $(filter-out %_test.c %_wasm.c $(OTHER_SYSTEMS),$(wildcard $(addsuffix /*.c,$(1)))))
LIB_SRC   := $(call sources,api api/base api/fd api/stacks api/marks api/recorder api/findings api/layers kernels $(SIM_ROOMS) backend_cuda)
TOOL_SRC  := $(call sources,$(TOOL_ROOMS))
CONF_SRC  := $(call sources,$(addprefix conformance/,harness oracle/model oracle))
SUITE_SRC := $(call sources,$(filter conformance/suite/%,$(ROOMS)))
TEST_SRC  := $(wildcard $(addsuffix /*_test.c,api/abi $(ROOMS)))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJ   := $(call obj,$(LIB_SRC) $(if $(COVERAGE),ci/coverage_exit.c)) $(BUILD)/obj/kernels_image.o
TEXTS_OBJ := $(addprefix $(BUILD)/obj/,practices_embedded.o examples_embedded.o)
TOOL_OBJ  := $(call obj,$(filter-out tools/cli/main.c,$(TOOL_SRC))) $(BUILD)/obj/rulebook_data.o $(BUILD)/obj/view_page.o $(BUILD)/obj/lessons_embedded.o $(TEXTS_OBJ)
CONF_OBJ  := $(call obj,$(CONF_SRC)) $(BUILD)/obj/kernels_ptx.o
# Every main of the conformance folder: conformance/programs/X.c becomes bin/X.
PROG_SRC  := $(wildcard conformance/programs/*.c)
PROGS     := $(patsubst conformance/programs/%.c,$(BUILD)/bin/%,$(PROG_SRC))
SUITE     := $(if $(SUITE_SRC),$(BUILD)/bin/conformance)
CUVMM     := $(if $(wildcard tools/cli/main.c),$(BUILD)/bin/cuvmm)
RULE_PAGE := $(if $(RUNS),$(CUVMM:%/bin/cuvmm=%/doc/rulebook.html))
TESTS     := $(patsubst %.c,$(BUILD)/test/%,$(TEST_SRC))
# conformance/programs/examples/X.c becomes examples/X, compiled as a user's program is: with the public headers alone.
EXAMPLES  := $(patsubst conformance/programs/examples/%.c,$(BUILD)/examples/%,$(wildcard conformance/programs/examples/*.c))
LIBA      := $(BUILD)/lib/libcuvmm.a
# The same without a line for a driver, for programs that link the simulator alone.
LIBSIM    := $(BUILD)/lib/libcuvmm-sim.a
SIM_OBJ   := $(filter-out %/api/open.o %/kernels_image.o $(BUILD)/obj/backend_cuda/%,$(LIB_OBJ)) $(BUILD)/obj/sim-only/open.o
# Archives, so that a test carries only what it uses of the harness and of the command.
TOOLA     := $(if $(TOOL_OBJ),$(BUILD)/obj/tools.a)
CONFA     := $(if $(CONF_OBJ),$(BUILD)/obj/conformance.a)
ifeq ($(SYSTEM),Darwin)
LIBSO     := $(BUILD)/lib/libcuvmm.$(VERSION).dylib
LIBSO_MAJOR := $(BUILD)/lib/libcuvmm.$(SOVERSION).dylib
LIBSO_DEV := $(BUILD)/lib/libcuvmm.dylib
SONAME    := -Wl,-install_name,@rpath/$(notdir $(LIBSO_MAJOR))
else
LIBSO     := $(BUILD)/lib/libcuvmm.so.$(VERSION)
LIBSO_MAJOR := $(BUILD)/lib/libcuvmm.so.$(SOVERSION)
LIBSO_DEV := $(BUILD)/lib/libcuvmm.so
SONAME    := -Wl,-soname,$(notdir $(LIBSO_MAJOR))
endif
# The simulator as a driver's library, for programs that know nothing of this project (docs/unmodified.md).
ABI_SRC   := $(call sources,$(ABI_ROOMS))
LIBCUDA   := $(BUILD)/lib/libcuda.so.1
LIBCHECK  := $(BUILD)/lib/libcuvmm-check.so
LIBFILES  := $(BUILD)/lib/libcuvmm-device-files.so
LIBOPTIONAL := $(if $(OPTIONAL_LIBS),$(BUILD)/lib/libcuvmm-optional.so)
# The simulator as NVML (docs/nvml.md). Its tests are programs of NVML and of the driver's API.
NVML_SRC  := $(call sources,backend_sim/nvml)
LIBNVML   := $(BUILD)/lib/libnvidia-ml.so.1
NVML_TESTS := $(patsubst %.c,$(BUILD)/test/%,$(wildcard backend_sim/nvml/*_test.c))
NVML_INSIDE := $(filter %_inside_test,$(NVML_TESTS))
ABI_TESTS := $(patsubst %.c,$(BUILD)/test/%,$(wildcard $(addsuffix /*_test.c,$(ABI_ROOMS))))
ABI_INSIDE := $(filter %_inject_test %_inside_test,$(ABI_TESTS))
ABI_KERNELS := $(BUILD)/test/abi_kernels.so
# The CUDA runtime over libcuda.so.1, in the versions 12 and 13 (docs/runtime.md): X_forms.c is compiled for each of them.
LIBCUDART := $(BUILD)/lib/libcudart.so.12 $(BUILD)/lib/libcudart.so.13
RT_SRC    := $(filter-out %_forms.c,$(call sources,$(RT_ROOMS)))
RT_FORMS  := $(filter %_forms.c,$(call sources,$(RT_ROOMS)))
rt_obj     = $(call obj,$(RT_SRC)) $(patsubst %.c,$(BUILD)/obj/runtime$(1)/%.o,$(RT_FORMS))
RT_TESTS  := $(patsubst %.c,$(BUILD)/test/%,$(wildcard $(addsuffix /*_test.c,$(RT_ROOMS))))
RT_INSIDE := $(filter %_inject_test %_inside_test,$(RT_TESTS))
ABI_KERNELS := $(BUILD)/test/abi_kernels.so
RT_FAKE   := $(BUILD)/test/rt_fake_driver.so

# The folder of a target, before its recipe's first command: made once, for a process a target is two seconds of a build.
FOLDER = $(if $(folder.$(@D)),,$(shell mkdir -p $(@D))$(eval folder.$(@D) := 1))

.PHONY: all help clean demo bench bench-compare
# Rules are here; to look for each header of each file in make's own takes longer than all the rest of a run that builds nothing.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
# What was built on the way stays.
.SECONDARY:
# Programs of CUDA, and what is put before them, exist on Linux; elsewhere the library and the command are all there is.
DRIVER_LIBS := $(if $(filter Linux,$(SYSTEM)),$(LIBCUDA) $(LIBCUDART) $(LIBNVML) $(LIBCHECK) $(LIBFILES) $(LIBOPTIONAL))
all: $(LIBA) $(LIBSIM) $(LIBSO) $(DRIVER_LIBS) $(CUVMM) $(RULE_PAGE) $(if $(filter Linux,$(SYSTEM)),$(SUITE) $(PROGS)) $(EXAMPLES) $(BUILD)/share/cuvmm/exercises ## the libraries, the command, the examples and the tests' programs

help: ## this list
	@awk -F':.*## ' '/^[a-zA-Z_-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(filter %akefile %.mk,$(MAKEFILE_LIST))
	@echo "  Variables: BUILD CC CFLAGS SAN=address,undefined DEBUG=1 (the engine checks itself: docs/debug.md) WERROR=1 PREFIX DESTDIR CUDA_PATH JOBS"

$(BUILD)/obj/%.o: %.c
	$(FOLDER)
	$(CC) $(call sees,$<) $(CPPFLAGS) $(CFLAGS) $(if $(filter %_test.c,$<),$(TEST_CFLAGS),$(if $(filter conformance/%,$<),$(SUITE_CFLAGS) $(if $(filter conformance/suite/%,$<),$(CALLER_CFLAGS)),$(if $(filter $(TYPED),$<),$(TYPES_CFLAGS)))) $(if $(filter tools/%,$<),$(TOOL_CFLAGS)) $(if $(HAVE_CUDA_H),$(if $(filter %_abi_test.c,$<),-DCUVMM_HAVE_CUDA_H -isystem $(CUDA_PATH)/include)) $(call counters,$<) -MMD -MP -c -o $@ $<

# Lanes of device code are loops that the optimiser makes vectors of; and a * b + c is rounded twice unless the code says otherwise. What is
# compiled again for wider vectors runs on a processor that has them.
PTX_CFLAGS := -ffp-contract=off -fno-math-errno $(call accepted,-Wno-pass-failed -Wno-tsan) $(if $(filter -O2,$(CFLAGS)),-O3)
PTX_WIDE := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),$(call accepted,-mavx2 -mfma))
$(BUILD)/obj/backend_sim/ptx/%.o: override CFLAGS += $(PTX_CFLAGS)
$(BUILD)/obj/backend_sim/ptx/run/fast_%.o: override CFLAGS += $(PTX_WIDE)

# Its test knows instructions and kernels that are in no library.
$(addprefix $(BUILD)/test/conformance/recorded/ptx/,replay_test tiers_test): $(call obj,$(wildcard conformance/recorded/ptx/pair*.c conformance/recorded/ptx/random_kernel.c))
$(BUILD)/test/conformance/recorded/ptx/%: $(BUILD)/obj/conformance/recorded/ptx/%.o $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ -lm $(DL_LIBS)

# It compares with the C library's functions of mathematics.
$(BUILD)/test/backend_sim/ptx/float/%: $(BUILD)/obj/backend_sim/ptx/float/%.o $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ -lm $(DL_LIBS)

# kernels/kernels.cu as one fat binary, and that as an array for the library; an empty one where there is no nvcc.
$(BUILD)/obj/kernels.fatbin: kernels/kernels.cu kernels/norm.h kernels/pattern.h api/vmm.h $(wildcard api/vmm/*.h) api/results.def
	$(FOLDER)
	$(if $(NVCC),$(NVCC) -fatbin $(GENCODE) -Iapi -Ikernels -o $@ $<,: >$@)

$(BUILD)/obj/kernels_image.c: $(BUILD)/obj/kernels.fatbin
	@{ echo '#include "kernels.h"'; echo '_Alignas(64) const unsigned char kernels_image[] = {'; \
	    od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; \
	    echo 'const size_t kernels_image_size = sizeof kernels_image - 1;'; } >$@

$(BUILD)/obj/kernels_image.o: $(BUILD)/obj/kernels_image.c kernels/kernels.h
	$(CC) $(sees.kernels) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The same as PTX, which is checked in (make ptx-device), for tests of what PTX computes.
$(BUILD)/obj/kernels_ptx.c: kernels/kernels.ptx
	$(FOLDER)
	@{ echo '#include "kernels_ptx.h"'; echo 'const unsigned char kernels_ptx[] = {'; od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; \
	    echo 'const size_t kernels_ptx_size = sizeof kernels_ptx - 1;'; } >$@

$(BUILD)/obj/kernels_ptx.o: $(BUILD)/obj/kernels_ptx.c conformance/harness/kernels_ptx.h
	$(CC) -Iconformance/harness $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# Texts for `cuvmm explain`: the rules' examples in the order of the rules, and what recorded machines answered to each.
RULE_EXAMPLES := $(patsubst rules/%.def,conformance/corpus/rulebook/%.txt,$(shell sed -n 's/^#include "\(.*\)"$$/\1/p' api/rules.def))
RULE_RECORDED := $(sort $(wildcard conformance/recorded/recordings/*/suite.tap))
$(BUILD)/obj/rulebook_data.c: $(RULE_EXAMPLES) $(RULE_RECORDED) Makefile
	$(FOLDER)
	@array() { echo "const unsigned char $$1_text[] = {"; od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g'; \
	    echo "0};"; echo "const size_t $$1_size = sizeof $$1_text - 1;"; }; \
	{ echo '#include "rulebook_data.h"'; cat $(RULE_EXAMPLES) | array rule_examples; \
	    for tap in $(RULE_RECORDED); do echo "= $$(basename $$(dirname $$tap))"; grep -- '- breaks VMM-' $$tap; done \
	        | array rule_recorded; } >$@

$(BUILD)/obj/rulebook_data.o: $(BUILD)/obj/rulebook_data.c tools/explain/rulebook_data.h
	$(CC) -Itools/explain $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The page of `cuvmm view` as texts for the command: view_page_html, _css and _js. Its sources are ASCII.
VIEW_PAGE := $(addprefix tools/view/,page.html page.css trace.js lists.js picture.js family.js page.js)
$(BUILD)/obj/view_page.c: $(VIEW_PAGE)
	$(FOLDER)
	@{ echo '#include "view_page.h"'; for kind in html css js; do echo "const char view_page_$$kind[] = {"; \
	    set --; for file in $^; do case $$file in *.$$kind) set -- "$$@" $$file;; esac; done; \
	    cat "$$@" | od -An -v -tu1 | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; done; } >$@.new && mv $@.new $@

$(BUILD)/obj/view_page.o: $(BUILD)/obj/view_page.c tools/view/view_page.h
	$(CC) -Itools/view $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The lessons as C, so that an installed command has them.
$(BUILD)/obj/lessons_embedded.c: ci/embed-lessons $(wildcard conformance/corpus/lessons/*)
	$(FOLDER)
	ci/embed-lessons conformance/corpus/lessons >$@.new && mv $@.new $@

$(BUILD)/obj/lessons_embedded.o: $(BUILD)/obj/lessons_embedded.c tools/lesson/lessons.h
	$(CC) -Itools/lesson $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# Exercises in the form of scripts, and the scripts of the demo, for the page in a browser (tools/web).
PRACTICES := $(sort $(wildcard conformance/corpus/exercises/scripts/*.txt))
$(BUILD)/obj/practices_embedded.c: ci/embed-texts $(PRACTICES)
	$(FOLDER)
	ci/embed-texts practice.h practice_source practices $(foreach text,$(PRACTICES),$(basename $(notdir $(text)))=$(text)) >$@.new && mv $@.new $@

EXAMPLE_SCRIPTS := $(sort $(wildcard conformance/corpus/demo/*.vmm))
$(BUILD)/obj/examples_embedded.c: ci/embed-texts $(EXAMPLE_SCRIPTS)
	$(FOLDER)
	ci/embed-texts examples.h example_source examples $(foreach text,$(EXAMPLE_SCRIPTS),$(basename $(notdir $(text)))=$(text)) >$@.new && mv $@.new $@

$(TEXTS_OBJ): %.o: %.c tools/practice/practice.h tools/web/examples.h
	$(CC) -Itools/practice -Itools/web $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(LIBA): $(LIB_OBJ)
	$(FOLDER)
	@rm -f $@
	$(AR) $(ARFLAGS) $@ $^

$(BUILD)/obj/sim-only/open.o: api/open.c
	$(FOLDER)
	$(CC) $(sees.api) $(CPPFLAGS) -DCUVMM_NO_CUDA $(CFLAGS) $(call counters,$<) -MMD -MP -c -o $@ $<

$(LIBSIM): $(SIM_OBJ)
	$(FOLDER)
	@rm -f $@
	$(AR) $(ARFLAGS) $@ $^

# Nothing but the driver's names is to be seen of it, so that it can stand beside libcuvmm in one process. It uses its own
# functions, as a driver does, whatever is preloaded.
$(LIBCUDA): $(call obj,$(ABI_SRC)) $(LIBSIM) backend_sim/abi/symbols/exports.map
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(SHARED_LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic-functions -Wl,--version-script=backend_sim/abi/symbols/exports.map -o $@ $(filter %.o %.a,$^) $(DL_LIBS)
	@ln -sf libcuda.so.1 $(BUILD)/lib/libcuda.so

$(BUILD)/obj/runtime12/%.o: %.c
	$(FOLDER)
	$(CC) $(call sees,$<) $(CPPFLAGS) -DCUDART_VERSION=12090 $(CFLAGS) $(TYPES_CFLAGS) $(call counters,$<) -MMD -MP -c -o $@ $<

$(BUILD)/obj/runtime13/%.o: %.c
	$(FOLDER)
	$(CC) $(call sees,$<) $(CPPFLAGS) -DCUDART_VERSION=13000 $(CFLAGS) $(TYPES_CFLAGS) $(call counters,$<) -MMD -MP -c -o $@ $<

# Each name has the version that the toolkit's library gives it.
$(BUILD)/obj/libcudart.so.%.map: api/runtime_entries.def
	$(FOLDER)
	@{ echo 'libcudart.so.$* {'; echo 'global:'; sed -n 's/^RT_ENTRY(\([^,]*\), \(BOTH\|IN$*\), .*/    \1;/p' $<; echo 'local: *;'; echo '};'; } >$@

$(BUILD)/lib/libcudart.so.12: $(call rt_obj,12)
$(BUILD)/lib/libcudart.so.13: $(call rt_obj,13)
$(LIBCUDART): $(BUILD)/lib/libcudart.so.%: $(BUILD)/obj/libcudart.so.%.map $(LIBSIM)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(SHARED_LDFLAGS) -shared -Wl,-soname,libcudart.so.$* -Wl,-Bsymbolic-functions -Wl,--version-script=$< -o $@ $(filter %.o,$^) $(LIBSIM) $(DL_LIBS)
	@ln -sf libcudart.so.13 $(BUILD)/lib/libcudart.so

# Its tests are programs of the runtime: X_12_test.c of CUDA 12's, the others of CUDA 13's. The driver's library is there when the
# runtime looks for it.
$(filter-out $(RT_INSIDE),$(RT_TESTS)): $(BUILD)/test/%: $(BUILD)/obj/%.o $(LIBCUDART) $(LIBCUDA) $(CONFA) $(LIBSIM) | $(ABI_KERNELS)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $< $(CONFA) $(LIBSIM) -Wl,--no-as-needed $(BUILD)/lib/libcudart.so.$(if $(filter %_12_test,$@),12,13) -L$(BUILD)/lib -lcuda -Wl,-rpath,$(abspath $(BUILD))/lib $(DL_LIBS)

$(RT_INSIDE): $(BUILD)/test/%: $(BUILD)/obj/%.o $(call rt_obj,13) $(LIBCUDA) $(CONFA) $(LIBSIM) | $(ABI_KERNELS)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(CONFA) $(LIBSIM) -Wl,--no-as-needed -L$(BUILD)/lib -lcuda -Wl,-rpath,$(abspath $(BUILD))/lib $(DL_LIBS)

$(RT_FAKE): backend_sim/runtime/testing/fake_driver.c
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $<

RT_FAKED := backend_sim/runtime/library/rt_driver_test backend_sim/runtime/library/rt_entries_test backend_sim/runtime/graph/rt_old_driver_12_test
$(RT_FAKED:%=$(BUILD)/test/%): | $(RT_FAKE)
$(RT_FAKED:%=$(BUILD)/obj/%.o): override CPPFLAGS += -DRT_FAKE_DRIVER='"$(abspath $(RT_FAKE))"'
$(BUILD)/obj/backend_sim/runtime/%_12_test.o: override CPPFLAGS += -DCUDART_VERSION=12090
$(BUILD)/obj/backend_sim/runtime/%_test.o: override CPPFLAGS += -DABI_TEST_KERNELS='"$(abspath $(ABI_KERNELS))"'

# The same for NVML, beside it.
$(LIBNVML): $(call obj,$(NVML_SRC)) $(LIBSIM) backend_sim/nvml/exports.map
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(SHARED_LDFLAGS) -shared -Wl,-soname,libnvidia-ml.so.1 -Wl,-Bsymbolic-functions -Wl,--version-script=backend_sim/nvml/exports.map -o $@ $(filter %.o %.a,$^) $(DL_LIBS)
	@ln -sf libnvidia-ml.so.1 $(BUILD)/lib/libnvidia-ml.so

$(filter-out $(NVML_INSIDE),$(NVML_TESTS)): $(BUILD)/test/%: $(BUILD)/obj/%.o $(LIBNVML) $(LIBCUDA) $(CONFA) $(LIBSIM)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $< $(CONFA) $(LIBSIM) -L$(BUILD)/lib -lnvidia-ml -lcuda -Wl,-rpath,$(abspath $(BUILD))/lib $(DL_LIBS)

# Those that make its requests fail hold it.
$(NVML_INSIDE): $(BUILD)/test/%: $(BUILD)/obj/%.o $(call obj,$(NVML_SRC)) $(CONFA) $(LIBSIM)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

# The shadow beside a driver, for `cuvmm check` to preload (docs/check.md). Of it only the driver's names are to be seen, too.
CHECK_SRC := $(call sources,backend_cuda/follow backend_cuda/check)
$(LIBCHECK): $(call obj,$(CHECK_SRC)) $(LIBSIM) backend_cuda/check/exports.map
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(SHARED_LDFLAGS) -shared -Wl,-soname,libcuvmm-check.so -Wl,-Bsymbolic-functions -Wl,--version-script=backend_cuda/check/exports.map -o $@ $(filter %.o %.a,$^) $(DL_LIBS)

# What `cuvmm exec` preloads, so that programs find a driver's files (docs/exec.md). Never with a sanitizer or counters: it is loaded into programs
# that have none.
FILES_SRC := $(wildcard backend_sim/device_files/device_files*.c)
$(LIBFILES): $(filter-out %_test.c,$(FILES_SRC)) api/base/os_environment.c backend_sim/device_files/device_files.h backend_sim/device_files/exports.map
	$(FOLDER)
	$(CC) $(sees.api) $(CPPFLAGS) $(filter-out -fsanitize=% -fno-sanitize-recover=% -shared-libsan --coverage,$(CFLAGS) $(LDFLAGS)) $(SHARED_LDFLAGS) -shared -Wl,-soname,libcuvmm-device-files.so -Wl,--version-script=backend_sim/device_files/exports.map -o $@ $(filter %.c,$^) $(DL_LIBS)

# Nothing but the names of libraries that the command loads when it needs them (tools/optional).
$(LIBOPTIONAL):
	$(FOLDER)
	$(CC) $(filter-out -fsanitize=% -shared-libsan --coverage,$(LDFLAGS)) -shared -nostdlib -Wl,-soname,$(@F) -Wl,--no-as-needed -o $@ $(OPTIONAL_LIBS)

# Its test is a program that finds its functions before the C library's.
$(BUILD)/test/backend_sim/device_files/device_files_test: $(call obj,$(FILES_SRC)) $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

# Kernels for its tests, as its users write them.
$(ABI_KERNELS): backend_sim/abi/testing/kernels.c api/vmm_kernel.h
	$(FOLDER)
	$(CC) -Iapi -std=c11 $(WARNINGS) $(if $(WERROR),-Werror) -g -fPIC -shared -o $@ $<

$(BUILD)/obj/backend_sim/abi/%_test.o: override CPPFLAGS += -DABI_TEST_KERNELS='"$(abspath $(ABI_KERNELS))"'

# Its tests are programs of the driver's API: of this project they link that library and the harness, with its words.
$(filter-out $(ABI_INSIDE),$(ABI_TESTS)): $(BUILD)/test/%: $(BUILD)/obj/%.o $(LIBCUDA) $(CONFA) $(LIBSIM) | $(ABI_KERNELS)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $< $(CONFA) $(LIBSIM) -L$(BUILD)/lib -lcuda -Wl,-rpath,$(abspath $(BUILD))/lib $(DL_LIBS)

# It reads the fat binary that nvcc made of this project's kernels.
$(BUILD)/test/backend_sim/abi/image/image_inside_test: $(BUILD)/obj/kernels_image.o

# Those that make its requests fail, or call its own functions, hold it: a library keeps its allocator, its system calls and
# its functions to itself.
$(ABI_INSIDE): $(BUILD)/test/%: $(BUILD)/obj/%.o $(call obj,$(ABI_SRC)) $(CONFA) $(LIBSIM) | $(ABI_KERNELS)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

$(BUILD)/obj/tools.a: $(TOOL_OBJ)
	@rm -f $@
	$(AR) $(ARFLAGS) $@ $^

$(BUILD)/obj/conformance.a: $(CONF_OBJ)
	@rm -f $@
	$(AR) $(ARFLAGS) $@ $^

$(LIBSO): $(LIB_OBJ)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(SHARED_LDFLAGS) -shared $(SONAME) -o $@ $^ $(DL_LIBS)
	@ln -sf $(notdir $@) $(LIBSO_MAJOR)
	@ln -sf $(notdir $(LIBSO_MAJOR)) $(LIBSO_DEV)

# The command and the harness use each other: the command's object comes first, the archives in a circle.
$(BUILD)/bin/cuvmm: $(BUILD)/obj/tools/cli/main.o $(TOOLA) $(CONFA) $(TOOLA) $(LIBA) | $(LIBOPTIONAL)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(PIE_LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(DL_LIBS)
	@mkdir -p $(BUILD)/lib && ln -sf ../bin/cuvmm $(BUILD)/lib/ptxas # cuvmm ptxas, for compilers that start it by a path

$(BUILD)/bin/conformance: $(call obj,$(SUITE_SRC)) $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

$(PROGS): $(BUILD)/bin/%: $(BUILD)/obj/conformance/programs/%.o $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(DL_LIBS)

$(BUILD)/include/cuvmm:
	$(FOLDER)
	@ln -sfn $(CURDIR)/api $@

$(BUILD)/examples/%: conformance/programs/examples/%.c $(LIBA) $(wildcard api/vmm*.h api/vmm/*.h) api/results.def | $(BUILD)/include/cuvmm
	$(FOLDER)
	$(CC) -I$(BUILD)/include $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBA) $(DL_LIBS)

# Its programs register themselves, so their objects are linked as they are.
$(BUILD)/bin/buggy: $(call obj,$(wildcard conformance/programs/buggy/*.c))

# Every main of the bench folder: bench/X.c becomes bin/bench-X. What they share is in bench/lib.
BENCHES   := $(patsubst bench/%.c,$(BUILD)/bin/bench-%,$(wildcard bench/*.c))
BENCHA    := $(BUILD)/obj/bench.a
$(BENCHA): $(call obj,$(call sources,bench/lib))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/obj/bench/%.o: override CPPFLAGS += -DBENCH_LIBCUDA='"$(abspath $(LIBCUDA))"' -DBENCH_LIBCUDART='"$(abspath $(BUILD)/lib/libcudart.so.13)"' -DBENCH_CUVMM='"$(abspath $(BUILD)/bin/cuvmm)"' -DBENCH_KERNELS='"$(abspath $(ABI_KERNELS))"' -DBENCH_TIMES='"$(abspath conformance/recorded/facts/times.tsv)"'
$(BENCHES): $(BUILD)/bin/bench-%: $(BUILD)/obj/bench/%.o $(BENCHA) $(TOOLA) $(CONFA) $(TOOLA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(DL_LIBS)

# Ratios are kept in $(BUILD)/bench/NAME.tsv and shown beside those of the next run.
BENCH_RUNS := life threads memory runtime start ptx
bench: $(BENCHES) $(CUVMM) $(LIBCHECK) $(LIBFILES) $(LIBCUDA) $(LIBCUDART) $(ABI_KERNELS) ## the cost of the simulator, as ratios within the run (docs/bench.md)
	@mkdir -p $(BUILD)/bench
	@$(foreach name,$(BENCH_RUNS),echo "# $(name)" && $(BUILD)/bin/bench-$(name) --result $(BUILD)/bench/$(name).tsv &&) true

# Of two commits or build folders, measured in turn.
BENCH_ROUNDS ?= 5
bench-compare: ## OLD=COMMIT NEW=COMMIT: the ratios of both, measured in turn in one run (BENCH_ROUNDS, BENCH_ONLY)
	@$(if $(and $(OLD),$(NEW)),,echo 'make bench-compare OLD=main NEW=HEAD: commits, or folders that make bench has run in' >&2; exit 2;) \
	    bench/compare.py --build $(BUILD) --rounds $(BENCH_ROUNDS) --jobs $(JOBS) --only "$(BENCH_ONLY)" "$(OLD)" "$(NEW)"

$(BUILD)/test/bench/%: $(BUILD)/obj/bench/%.o $(BENCHA) $(TOOLA) $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(DL_LIBS)

$(BUILD)/test/%: $(BUILD)/obj/%.o $(TOOLA) $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(DL_LIBS)

# Files in memory are of the module for browsers, and no library has them.
$(BUILD)/test/backend_sim/os/memory_files_wasm_test: $(call obj,$(addprefix backend_sim/os/,memory_files_wasm_test.c memory_files_wasm.c \
    memory_chunks_wasm.c)) $(CONFA) $(LIBA)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

# The capture of stacks in a library, for programs that are no C.
STACKS_PROBE := $(BUILD)/test/stacks_probe.so
$(STACKS_PROBE): api/stacks/testing/stacks_probe.c $(LIBSIM)
	$(FOLDER)
	$(CC) $(sees.api/stacks) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $< $(LIBSIM) $(DL_LIBS)
$(BUILD)/test/api/stacks/stacks_test $(BUILD)/test/api/stacks/stacks_module_test: | $(STACKS_PROBE)

# Stand-ins for the driver's library, for the tests of the backend that loads it. Never with a sanitizer: it is loaded.
FAKES := $(addprefix $(BUILD)/fake/libcuda,.so -old.so -first.so -ancient.so)
$(BUILD)/fake/libcuda-old.so: FAKE := -DFAKE_OLD
$(BUILD)/fake/libcuda-first.so: FAKE := -DFAKE_OLD -DFAKE_FIRST
$(BUILD)/fake/libcuda-ancient.so: FAKE := -DFAKE_OLD -DFAKE_ANCIENT
$(FAKES): $(wildcard backend_cuda/fake/*) api/entries.def
	$(FOLDER)
	$(CC) $(sees.backend_cuda) $(CPPFLAGS) -std=c11 $(WARNINGS) $(if $(WERROR),-Werror) -g -fPIC -pthread $(FAKE) -shared -o $@ $(filter %.c,$^)

$(filter $(BUILD)/test/backend_cuda/%,$(TESTS)): | $(FAKES)

# Of the checker's library, so not in the archives.
$(filter $(BUILD)/test/backend_cuda/follow/%,$(TESTS)): $(BUILD)/test/%: $(BUILD)/obj/%.o $(call obj,$(call sources,backend_cuda/follow)) $(CONFA) $(LIBSIM)
	$(FOLDER)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $^ $(DL_LIBS)

# The targets of the folders: check and its kin, coverage and install; demo and the rule book.
-include fuzz/targets.mk ci/targets.mk docs/site/targets.mk ci/gpu.mk ci/package.mk packaging/python/targets.mk tools/targets.mk tools/web/targets.mk tools/recording/targets.mk \
    conformance/corpus/exercises/targets.mk

clean: ## remove everything that was built
	rm -rf $(BUILD)

-include $(shell test -d $(BUILD)/obj && find $(BUILD)/obj -name '*.d')
