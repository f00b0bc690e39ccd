# SPDX-License-Identifier: Apache-2.0
# The documentation as a site, by mkdocs-material, mkdoxy and Doxygen. Included by the Makefile.

SITE      := $(abspath $(BUILD))/site
SITE_VENV := $(BUILD)/clients/site/venv/bin
SITE_LOOK := "" CHANGELOG/ CONTRIBUTING/ docs/ docs/check/ docs/shell/ docs/scripts/ docs/glossary/ docs/gpu/ docs/driver-580/ docs/mistakes/ docs/view/ docs/web/ \
    rules/ rules/cumemmap/ conformance/corpus/lessons/ conformance/corpus/lessons/01-address-and-memory/ conformance/corpus/exercises/ \
    conformance/corpus/exercises/1-vector/task/ conformance/recorded/facts/ reference/ api/functions/ api/classes/ api/files/ api/address_8h/ \
    api/structvmm__mem__allocation__prop/ try/index.html
.PHONY: site check-site

# mkdocs knows links and anchors; a warning of it is an error here, but for the names that Doxygen makes of what has none.
site: web-module ## the documentation as a site in $(BUILD)/site: guides, lessons, rule book, reference of the API, the simulator (mkdocs-material from PyPI, Doxygen)
	@command -v doxygen >/dev/null || { echo "make site: apt-get install doxygen"; exit 1; }
	@ci/clients-python $(BUILD) site docs/site/requirements.txt
	@[ -e $(BUILD)/clients/site/installed ] || { cat $(BUILD)/clients/site/reason; exit 1; }
	@rm -rf $(SITE) $(SITE)-headers $(BUILD)/.mkdoxy && mkdir -p $(SITE)-headers
	@cp -R api/vmm.h api/vmm_fd.h api/vmm_kernel.h api/cuvmm_mark.h api/vmm $(SITE)-headers
	@python3 docs/site/prepare.py $(SITE)-pages $(SITE) $(SITE)-headers $(SITE).yml $(BUILD)/web/index.html
	@NO_MKDOCS_2_WARNING=1 $(SITE_VENV)/mkdocs build --no-strict -f $(SITE).yml >$(SITE).log 2>&1 || { cat $(SITE).log; exit 1; }
	@! grep -E '^(WARNING|ERROR)' $(SITE).log | grep -vE "link '#[a-z]+-@[0-9]+'"

check-site: $(TAP_RUN) site ## its pages in Chromium, wide and on a phone: pictures in $(BUILD)/site-pictures, accessibility by axe-core
	@rm -rf $(TAP)-site && mkdir -p $(TAP)-site
	@printf '#!/bin/sh\nexec $(BROWSER_PYTHON) docs/site/look.py $(SITE) $(SITE)-pictures "$$(find $(BUILD)/clients/site/venv -name axe.min.js)" $(SITE_LOOK)\n' >$(BUILD)/check-site-run
	@chmod +x $(BUILD)/check-site-run
	@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-site' $(BUILD)/check-site-run </dev/null; status=$$?; $(TALLY) $(TAP)-site && exit $$status

# The Python that Debian's selenium is for.
BROWSER_PYTHON = $(firstword $(wildcard /usr/bin/python3) python3)
