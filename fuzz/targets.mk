# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: fuzz/X_fuzz.c. With libFuzzer they search (`make fuzz`), without it they make the inputs of fuzz/corpus/X once,
# as part of check. docs/fuzzing.md
#
# They link the simulator alone, so that no input can have a driver loaded.

FUZZ_TARGETS := $(patsubst fuzz/%_fuzz.c,%,$(wildcard fuzz/*_fuzz.c))
FUZZ_COMMON  := $(call obj,fuzz/fuzz.c fuzz/room.c fuzz/machine.c)
FUZZ_PARTS   := $(TOOLA) $(CONFA) $(TOOLA) $(LIBSIM)
FUZZ_ENGINE  ?= $(call obj,fuzz/replay.c)
FUZZ_BUILD   := $(BUILD)/libfuzzer
FUZZ_CC      ?= clang
TARGET       ?=
TIME         ?= 60
CORPUS       ?= fuzz/corpus

.PHONY: fuzz fuzz-minimise

# An engine that is a flag is libFuzzer's.
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/%_fuzz.o $(FUZZ_COMMON) $(FUZZ_PARTS) $(filter %.o,$(FUZZ_ENGINE))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter -%,$(FUZZ_ENGINE)) -o $@ $(filter %.o,$^) $(FUZZ_PARTS) $(TOOL_LIBS) $(DL_LIBS) -lm

$(BUILD)/fuzz/words: $(BUILD)/obj/fuzz/words.o $(FUZZ_PARTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(FUZZ_PARTS) $(TOOL_LIBS) $(DL_LIBS)

# Their own tests link what they share.
$(BUILD)/test/fuzz/%: $(BUILD)/obj/fuzz/%.o $(FUZZ_COMMON) $(FUZZ_PARTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(FUZZ_PARTS) $(TOOL_LIBS) $(DL_LIBS)

# It reads code as the library for unmodified programs does.
$(BUILD)/fuzz/image: $(call obj,$(call sources,backend_sim/abi/image))

# In check: every input once.
FUZZ_CHECKS := $(FUZZ_TARGETS:%=$(BUILD)/check/fuzz-%)
$(FUZZ_CHECKS): $(BUILD)/check/fuzz-%: fuzz/targets.mk | $(BUILD)/fuzz/%
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec $${CUVMM_RUN-} $(BUILD)/fuzz/$* fuzz/corpus/$*\n' >$@
	@chmod +x $@

check-build: $(if $(CHECK_NEEDS),,$(BUILD)/fuzz/words)

fuzz: ## search for inputs that break TARGET (script, trace, ...) for TIME seconds, with libFuzzer (docs/fuzzing.md)
	+@MAKE='$(MAKE)' fuzz/run search '$(TARGET)' '$(FUZZ_TARGETS)' '$(FUZZ_CC)' '$(FUZZ_BUILD)' '$(TIME)' '$(CORPUS)'

fuzz-minimise: ## the corpus of TARGET as few and small inputs as reach as much of the code
	+@MAKE='$(MAKE)' fuzz/run minimise '$(TARGET)' '$(FUZZ_TARGETS)' '$(FUZZ_CC)' '$(FUZZ_BUILD)' '$(TIME)' '$(CORPUS)'
