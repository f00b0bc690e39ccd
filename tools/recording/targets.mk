# SPDX-License-Identifier: Apache-2.0
# What `cuvmm record` and `cuvmm diff-recordings` use, as an installed tree has it: scripts and tables in share/cuvmm/recording, our
# recordings in share/cuvmm/recordings, programs in lib/recording. Included by the Makefile.

FACTS       := conformance/recorded/facts
RECORDERS   := $(shell sed -n 's/^recording_programs=(\(.*\))/\1/p' tools/recording/common)
RECORD_BIN  := $(BUILD)/lib/recording
RECORD_PROGRAMS := $(addprefix $(RECORD_BIN)/,device conformance $(RECORDERS))
RECORD_KERNELS  := $(patsubst $(FACTS)/%/kernels.c,$(RECORD_BIN)/%-kernels.so,$(wildcard $(RECORDERS:%=$(FACTS)/%/kernels.c)))
RECORD_SHARE    := $(addprefix $(BUILD)/share/cuvmm/recording/,record diff common parts suite comparable recorded.awk relations.tsv reasons.tsv exceptions.tsv)
RECORDED_OURS   := $(patsubst %,$(BUILD)/share/cuvmm/recordings/%.tar.gz,$(notdir $(patsubst %/suite.tap,%,$(wildcard conformance/recorded/recordings/*/suite.tap))))
# Nothing is recorded where there is no driver.
RECORD_ALL      := $(if $(DRIVER_LIBS),$(RECORD_PROGRAMS) $(RECORD_KERNELS)) $(RECORD_SHARE) $(RECORDED_OURS)

# A sanitizer is in the library, and not in them.
all: $(if $(SAN),,$(RECORD_ALL))

# They find the driver as any program does. Without debug information: they are to be sent to other machines.
$(RECORDERS:%=$(RECORD_BIN)/%): $(RECORD_BIN)/%: $(FACTS)/%.c $(wildcard $(FACTS)/*.h $(FACTS)/*/*.c $(FACTS)/*/*.h $(FACTS)/*/*.def) $(LIBCUDA)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(if $(filter copies%,$*),-O1,-O0) -isystem api/abi -o $@ $< -L$(BUILD)/lib -lcuda -ldl -pthread

$(RECORD_KERNELS): $(RECORD_BIN)/%-kernels.so: $(FACTS)/%/kernels.c api/vmm_kernel.h
	@mkdir -p $(@D)
	$(CC) -O1 -shared -fPIC -Iapi -o $@ $<

# The program of the runtime, which no recording of a driver needs: for ci/runtime-recorded, which three machines run.
RUNTIME_PROGRAMS := $(addprefix $(BUILD)/test/recording/,runtime12 runtime13 runtime-kernels.so)
$(BUILD)/test/recording/runtime12: MAJOR = 12 -DCUDART_VERSION=12090
$(BUILD)/test/recording/runtime13: MAJOR = 13 -DCUDART_VERSION=13000
$(filter-out %.so,$(RUNTIME_PROGRAMS)): $(FACTS)/runtime.c $(wildcard $(FACTS)/*.h $(FACTS)/*/*.c $(FACTS)/*/*.h $(FACTS)/*/*.def) $(LIBCUDA) $(LIBCUDART)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O0 $(wordlist 2,2,$(MAJOR)) -isystem api/abi -o $@ $< -L$(BUILD)/lib -l:libcudart.so.$(firstword $(MAJOR)) -lcuda -ldl -pthread

ifeq ($(SAN)$(COVERAGE),)
$(filter $(BUILD)/check/abi-runtime-%,$(CHECK_RUNS)): | $(RUNTIME_PROGRAMS)
endif

$(BUILD)/test/recording/runtime-kernels.so: $(FACTS)/runtime/kernels.c api/vmm_kernel.h
	@mkdir -p $(@D)
	$(CC) -O1 -shared -fPIC -Iapi -o $@ $<

$(addprefix $(RECORD_BIN)/,device conformance): $(RECORD_BIN)/%: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(STRIP) -g -o $@ $<

record_from = $(or $(wildcard tools/recording/$(1)),$(filter %/$(1),ci/recorded.awk ci/comparable $(FACTS)/relations.tsv $(FACTS)/reasons.tsv),\
    $(if $(filter parts,$(1)),ci/record),$(if $(filter suite,$(1)),ci/gpu-suite))
define RECORD_COPY
$(BUILD)/share/cuvmm/recording/$(1): $(call record_from,$(1))
	@mkdir -p $$(@D)
	@cp -p $$< $$@
endef
$(foreach name,$(filter-out exceptions.tsv,$(notdir $(RECORD_SHARE))),$(eval $(call RECORD_COPY,$(name))))

$(BUILD)/share/cuvmm/recording/exceptions.tsv: $(wildcard $(FACTS)/*exceptions.tsv)
	@mkdir -p $(@D)
	@cat $^ | grep -v '^#' >$@

$(RECORDED_OURS): $(BUILD)/share/cuvmm/recordings/%.tar.gz: tools/recording/ours tools/recording/common $(wildcard $(FACTS)/*.tsv conformance/recorded/recordings/*/*)
	@mkdir -p $(@D)
	tools/recording/ours $* $@

.PHONY: install-recording uninstall-recording
install-recording: $(RECORD_ALL)
	install -d $(DESTDIR)$(PRIVATE_LIBDIR)/recording $(addprefix $(DESTDIR)$(PREFIX)/share/cuvmm/,recording recordings)
	install -m 755 $(RECORD_PROGRAMS) $(RECORD_KERNELS) $(DESTDIR)$(PRIVATE_LIBDIR)/recording
	install -m 644 $(RECORD_SHARE) $(DESTDIR)$(PREFIX)/share/cuvmm/recording
	chmod 755 $(addprefix $(DESTDIR)$(PREFIX)/share/cuvmm/recording/,record diff parts suite comparable)
	install -m 644 $(RECORDED_OURS) $(DESTDIR)$(PREFIX)/share/cuvmm/recordings

uninstall-recording:
	rm -rf $(DESTDIR)$(PRIVATE_LIBDIR)/recording $(addprefix $(DESTDIR)$(PREFIX)/share/cuvmm/,recording recordings)
