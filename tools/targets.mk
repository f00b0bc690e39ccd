# SPDX-License-Identifier: Apache-2.0
# Targets of the cuvmm command, included by the Makefile.

.PHONY: demo rulebook scripts-update view-pictures

demo: $(BUILD)/bin/cuvmm ## the lifecycles of the documents and classic mistakes, drawn and explained
	@for script in conformance/corpus/demo/*.vmm; do $(EMULATOR) $(BUILD)/bin/cuvmm run $$script || exit 1; done

rulebook: $(BUILD)/bin/cuvmm ## docs/rulebook.md from the table of rules and its examples
	@mkdir -p docs
	$(BUILD)/bin/cuvmm rules --markdown > docs/rulebook.md.new && mv docs/rulebook.md.new docs/rulebook.md

# The same as a page, to be installed.
$(RULE_PAGE): $(BUILD)/bin/cuvmm
	@mkdir -p $(@D)
	$(EMULATOR) $(BUILD)/bin/cuvmm rules --html > $@.new && mv $@.new $@

scripts-update: $(BUILD)/test/tools/script/script_test $(BUILD)/test/tools/explain/rule_report_test $(BUILD)/bin/cuvmm ## the expected outputs of conformance/corpus/scripts, the rules' examples and conformance/corpus/lessons, and the session of docs/shell.md, to be read before a commit
	CUVMM_UPDATE=1 $(BUILD)/test/tools/script/script_test
	CUVMM_UPDATE=1 $(BUILD)/test/tools/explain/rule_report_test
	CUVMM_UPDATE=1 CUVMM_BUILD=$(BUILD) conformance/corpus/lessons_test.sh
	tools/shell/shell-page $(BUILD)/bin/cuvmm > $(BUILD)/shell.md && mv $(BUILD)/shell.md docs/shell.md

# The Python that Debian's packages are for comes first.
BROWSER_PYTHON = $(shell for python in /usr/bin/python3 python3; do $$python -c 'import selenium' 2>/dev/null && break; done; echo $$python)
view-pictures: $(BUILD)/bin/cuvmm ## the pictures of docs/view.md, by a headless Chromium
	$(BROWSER_PYTHON) tools/view/pictures.py $(BUILD)/bin/cuvmm docs/view
