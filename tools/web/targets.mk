# SPDX-License-Identifier: Apache-2.0
# The simulator in a browser: $(BUILD)/web/index.html, a self-contained file. Included by the Makefile.
#
#   make web fails without a compiler for WebAssembly (ci/web-compiler)
#   make web-pictures   the pictures of docs/web.md
#   make web-module     what `make check` builds: without a compiler nothing, and its test is skipped with the reason

.PHONY: web web-module web-pictures

WEB_TEXT_C := $(addprefix $(BUILD)/obj/,rulebook_data.c lessons_embedded.c view_page.c practices_embedded.c examples_embedded.c)
WEB_MAKE    = $(MAKE) --no-print-directory -f tools/web/wasm.mk BUILD=$(BUILD) WERROR=$(WERROR)

web: $(WEB_TEXT_C) ## the simulator as a page for browsers, in $(BUILD)/web (docs/web.md)
	+@compiler=$$(ci/web-compiler) || { echo "make web: $$compiler; ci/setup --all installs what it takes" >&2; exit 1; }; \
	    $(WEB_MAKE) WEB_CC="$$compiler"

web-module: $(WEB_TEXT_C)
	+@if compiler=$$(ci/web-compiler); then $(WEB_MAKE) WEB_CC="$$compiler"; else rm -rf $(BUILD)/web; fi

web-pictures: web
	$(BROWSER_PYTHON) tools/web/pictures.py $(BUILD)/web/index.html docs/web
