# SPDX-License-Identifier: Apache-2.0
# The wheel for Python and its tests (docs/python.md). Included by the Makefile.

.PHONY: wheel check-python
# A Debian 11, kept for the next time, whose C library makes the wheel manylinux_2_28; "host" builds here.
WHEEL_ROOT ?= $(BUILD)/wheel-root
wheel: ## a wheel for Python in $(BUILD)/wheel; nothing is uploaded (root and debootstrap: manylinux_2_28; WHEEL_ROOT=/path keeps the Debian 11)
	@JOBS=$(JOBS) packaging/python/wheel $(BUILD) $(VERSION) $(WHEEL_ROOT)

check-python: $(TAP_RUN) wheel ## the wheel in fresh environments, with planted mistakes (pip; TORCH_PYTHON=/path/to/python has PyTorch)
	@rm -rf $(TAP)-python && mkdir -p $(TAP)-python
	@printf '#!/bin/sh\nexec packaging/python/check $(BUILD) $(BUILD)/wheel/*.whl $(WHEEL_ROOT)\n' >$(BUILD)/check-python-run
	@chmod +x $(BUILD)/check-python-run
	@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-python' $(BUILD)/check-python-run </dev/null; \
	    status=$$?; $(TALLY) $(TAP)-python && exit $$status
