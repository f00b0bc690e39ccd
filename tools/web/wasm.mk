# SPDX-License-Identifier: Apache-2.0
# The library, the shell, lessons, exercises and pictures as a WebAssembly module, $(BUILD)/web/cuvmm.wasm, and the page
# around it. Run by tools/web/targets.mk, which has made the generated sources ($(BUILD)/obj/*.c); it finds sources like
# the Makefile, by the rooms of ci/rooms.
#
#   WEB_CC      a clang that links with wasi-libc (ci/web-compiler)
#   WEB_CFLAGS  optimisation
#
# A source X.c for other systems has an X_wasm.c beside it. The headers in api/base/wasm precede those of wasi-libc,
# and declare what it lacks.

BUILD      ?= build
WEB_CC     ?= clang
WEB_CFLAGS ?= -Os
OBJ        := $(BUILD)/web/obj
VERSION_OF := $(shell $(WEB_CC) --version | head -n 1)

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.SECONDARY:
.PHONY: all
all: $(BUILD)/web/index.html

$(foreach line,$(shell awk -f ci/rooms.awk ci/rooms),$(eval ROOMS += $(firstword $(subst |, ,$(line))))\
    $(eval sees.$(firstword $(subst |, ,$(line))) := $(patsubst %,-iquote%,$(subst |, ,$(line)))))
sources = $(sort $(filter-out %_test.c,$(wildcard $(addsuffix /*.c,$(1)))))

# If a room has files for this system, those for other systems are excluded: by their names, or one by one.
ABSENT := backend_sim/device_code/kernel_load.c backend_sim/device_code/code_run.c %_posix.c %_linux.c %_darwin.c api/base/posix.c api/base/os_write.c api/layers/sites.c api/layers/trace_file.c conformance/harness/touch.c \
    tools/shell/shell_main.c tools/shell/complete_files.c tools/shell/typed.c tools/shell/lines_edit.c tools/trace/replay%.c tools/trace/trace_convert.c \
    $(addprefix tools/view/view_,server.c answer.c find.c)
WEB_ROOMS := api api/base api/layers kernels \
    $(filter-out $(addprefix backend_sim/,testing nvml device_files abi/% runtime/% ptx/%),$(filter backend_sim/%,$(ROOMS))) \
    $(addprefix tools/,text values picture explain script program shell lesson trace view practice web)
WEB_SRC := $(filter-out $(ABSENT),$(call sources,$(WEB_ROOMS))) api/stacks/stacks_none.c conformance/harness/in_place.c \
    conformance/harness/touch_wasm.c tools/checker/json_read.c tools/web/json/json_tree.c
WEB_TEXTS := rulebook_data lessons_embedded view_page practices_embedded examples_embedded
WEB_OBJ := $(WEB_SRC:%.c=$(OBJ)/%.o) $(WEB_TEXTS:%=$(OBJ)/%.o)

# Narrowing to 32 bits affects only lengths of this module's own memory, which never get that large: sizes of the
# simulated machine are uint64_t.
CFLAGS := --target=wasm32-wasi -std=c11 $(WEB_CFLAGS) -g0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-shorten-64-to-32 \
    -Wno-gnu-statement-expression $(if $(WERROR),-Werror) -ffile-prefix-map=$(CURDIR)=. -D_POSIX_C_SOURCE=200809L -DCUVMM_NO_CUDA \
    -DCUVMM_HAVE_JANSSON -D_WASI_EMULATED_PROCESS_CLOCKS -Iapi/base/wasm
sees = $(sees.$(patsubst %/,%,$(dir $(1))))

# The stack lies below everything else, so that an overflow traps instead of overwriting data. Signed pointers do not
# matter anywhere, but a gigabyte is more than a page should use.
LDFLAGS := --target=wasm32-wasi -mexec-model=reactor -Wl,--gc-sections -Wl,--stack-first -Wl,-z,stack-size=1048576 \
    -Wl,--max-memory=2147483648 -Wl,-s

# As in the Makefile.
FOLDER = $(if $(folder.$(@D)),,$(shell mkdir -p $(@D))$(eval folder.$(@D) := 1))

# A change of compiler or flags rebuilds everything.
$(OBJ)/flags: FORCE
	$(FOLDER)
	@echo '$(VERSION_OF) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || echo '$(VERSION_OF) $(CFLAGS) $(LDFLAGS)' >$@
.PHONY: FORCE
FORCE:

$(OBJ)/%.o: %.c $(OBJ)/flags
	$(FOLDER)
	$(WEB_CC) $(CFLAGS) $(call sees,$<) -Itools/web/json -Itools/checker -MMD -MP -c -o $@ $<

$(WEB_TEXTS:%=$(OBJ)/%.o): $(OBJ)/%.o: $(BUILD)/obj/%.c $(OBJ)/flags
	$(FOLDER)
	$(WEB_CC) $(CFLAGS) -Itools/explain -Itools/lesson -Itools/view -Itools/practice -Itools/web -c -o $@ $<

$(BUILD)/web/cuvmm.wasm: $(WEB_OBJ)
	$(WEB_CC) $(LDFLAGS) -o $@ $^

PAGE := tools/web/page $(addprefix tools/web/,page.html page.css module.js terminal.js guide.js lesson.js page.js)
$(BUILD)/web/index.html: $(BUILD)/web/cuvmm.wasm $(PAGE)
	tools/web/page $< >$@.new && mv $@.new $@

-include $(shell test -d $(OBJ) && find $(OBJ) -name '*.d')
