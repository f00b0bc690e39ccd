# SPDX-License-Identifier: Apache-2.0
# Targets of the exercises, included by the Makefile: conformance/corpus/exercises/README.md.

EXERCISE   = CUVMM_PREFIX=$(abspath $(BUILD)) CC='$(CC)' conformance/corpus/exercises/exercise
EX        ?=
INTO      ?=
SRC       ?=

.PHONY: exercise grade

exercise: ## lists the exercises; EX=vector INTO=FOLDER copies one out, to be worked on
	@$(EXERCISE) $(if $(EX)$(INTO),take '$(EX)' '$(INTO)',list)

grade: $(LIBA) | $(BUILD)/include/cuvmm ## what was made of one: EX=vector SRC=FOLDER/vector.c
	@$(EXERCISE) grade '$(EX)' '$(SRC)'

# Laid out like an installed tree, so that the command finds them in a build as well.
$(BUILD)/share/cuvmm/exercises:
	@mkdir -p $(@D)
	@ln -sfn $(CURDIR)/conformance/corpus/exercises $@
