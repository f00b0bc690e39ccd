# SPDX-License-Identifier: Apache-2.0
# Products for distribution: symbol lists, manual pages, completion, a tarball, packages; and the analysers. Included
# by the Makefile. See docs/packaging.md.

.PHONY: symbols-update

symbols-update: $(LIBSO) $(LIBCUDA) $(LIBNVML) ## ci/symbols/ from the libraries: adds new names with their version
	@mkdir -p ci/symbols
	ci/symbols-list $(LIBSO) ci/symbols/libcuvmm.txt $(VERSION) --update
	ci/symbols-list $(LIBCUDA) ci/symbols/libcuda.txt $(VERSION) --update
	ci/symbols-list $(LIBNVML) ci/symbols/libnvidia-ml.txt $(VERSION) --update

# NAME:LIBRARY, as in ci/abi_diff_test.sh.
ABI_LIBS := libcuvmm:$(LIBSO) libcuda:$(LIBCUDA) libcudart-12:$(BUILD)/lib/libcudart.so.12 libcudart-13:$(BUILD)/lib/libcudart.so.13 libnvidia-ml:$(LIBNVML)
.PHONY: abi-update
abi-update: $(LIBSO) $(LIBCUDA) $(LIBCUDART) $(LIBNVML) ## ci/abi/ from the libraries, for a release (docs/stability.md; needs libabigail)
	$(foreach pair,$(ABI_LIBS),ci/abi-diff --write ci/abi/$(firstword $(subst :, ,$(pair))).abi.xz $(lastword $(subst :, ,$(pair))) &&) :

# ------------------------------------------------------------------------------------------------ pages and completion

MANDIR  ?= $(PREFIX)/share/man
DOCDIR  ?= $(PREFIX)/share/doc/cuvmm
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS  ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

# The command prints them, so a cross build without an emulator leaves them out.
PRINTS      := $(if $(RUNS),$(CUVMM))
MAN_PAGES   := $(addprefix $(BUILD)/man/,$(if $(PRINTS),cuvmm.1) $(notdir $(wildcard packaging/man/*.[37])))
COMPLETIONS := $(if $(PRINTS),$(addprefix $(BUILD)/completion/cuvmm.,bash zsh fish))
INSTALL_DOCS     := $(wildcard docs/*.md)
INSTALL_EXAMPLES := $(wildcard conformance/programs/examples/*.c) conformance/programs/unmodified/kernel_template.c

$(BUILD)/man/cuvmm.1: $(CUVMM)
	@mkdir -p $(@D)
	$(EMULATOR) $(CUVMM) help --man >$@.new && mv $@.new $@

# PREFIX and PRIVATE_LIBDIR may differ from the last run's.
$(BUILD)/man/%: packaging/man/% FORCE
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(VERSION)|g; s|@PRIVATE_LIBDIR@|$(PRIVATE_LIBDIR)|g' $< >$@

$(BUILD)/completion/cuvmm.%: $(CUVMM)
	@mkdir -p $(@D)
	$(EMULATOR) $(CUVMM) completion $* >$@.new && mv $@.new $@

.PHONY: install-pages uninstall-pages
install-pages: $(MAN_PAGES) $(COMPLETIONS)
	install -d $(addprefix $(DESTDIR)$(MANDIR)/,man1 man3 man7) $(DESTDIR)$(DOCDIR)/docs $(DESTDIR)$(DOCDIR)/examples
	$(foreach page,$(MAN_PAGES),install -m 644 $(page) $(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(page))) &&) :
	install -m 644 README.md CHANGELOG.md LICENSE $(DESTDIR)$(DOCDIR)
	install -m 644 $(INSTALL_DOCS) $(DESTDIR)$(DOCDIR)/docs
	install -m 644 $(INSTALL_EXAMPLES) $(DESTDIR)$(DOCDIR)/examples
	$(if $(COMPLETIONS),install -d $(addprefix $(DESTDIR),$(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)))
	$(if $(COMPLETIONS),install -m 644 $(BUILD)/completion/cuvmm.bash $(DESTDIR)$(BASH_COMPLETIONS)/cuvmm)
	$(if $(COMPLETIONS),install -m 644 $(BUILD)/completion/cuvmm.zsh $(DESTDIR)$(ZSH_COMPLETIONS)/_cuvmm)
	$(if $(COMPLETIONS),install -m 644 $(BUILD)/completion/cuvmm.fish $(DESTDIR)$(FISH_COMPLETIONS)/cuvmm.fish)

uninstall-pages:
	rm -f $(foreach page,$(MAN_PAGES),$(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))
	rm -f $(addprefix $(DESTDIR)$(DOCDIR)/,README.md CHANGELOG.md LICENSE rulebook.html $(INSTALL_DOCS) $(addprefix examples/,$(notdir $(INSTALL_EXAMPLES))))
	rm -f $(DESTDIR)$(BASH_COMPLETIONS)/cuvmm $(DESTDIR)$(ZSH_COMPLETIONS)/_cuvmm $(DESTDIR)$(FISH_COMPLETIONS)/cuvmm.fish
	-rmdir $(DESTDIR)$(DOCDIR)/docs $(DESTDIR)$(DOCDIR)/examples $(DESTDIR)$(DOCDIR)

# ---------------------------------------------------------------------------------------------------------------- CMake

CMAKE_DIR   ?= $(LIBDIR)/cmake/cuvmm
CMAKE_MADE  := $(addprefix $(BUILD)/cmake/,cuvmm-config.cmake cuvmm-config-version.cmake)
CMAKE_FILES := $(CMAKE_MADE) $(addprefix packaging/cmake/,cuvmm-targets.cmake cuvmm-test.cmake)

# As the pages: the folders may differ from the last run's.
$(BUILD)/cmake/%: packaging/cmake/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@VERSION@|$(VERSION)|g; s|@SOVERSION@|$(SOVERSION)|g; s|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@CMAKE_DIR@|$(CMAKE_DIR)|g' \
	    -e 's|@PRIVATE_LIBDIR@|$(PRIVATE_LIBDIR)|g; s|@DL_LIBS@|$(DL_LIBS)|g; s|@POINTER@|$(shell echo __SIZEOF_POINTER__ | $(CC) -E -P -)|g' $< >$@

.PHONY: install-cmake uninstall-cmake
install-cmake: $(CMAKE_MADE)
	install -d $(DESTDIR)$(CMAKE_DIR)
	install -m 644 $(CMAKE_FILES) $(DESTDIR)$(CMAKE_DIR)

uninstall-cmake:
	rm -f $(addprefix $(DESTDIR)$(CMAKE_DIR)/,$(notdir $(CMAKE_FILES)))
	-rmdir $(DESTDIR)$(CMAKE_DIR) $(DESTDIR)$(LIBDIR)/cmake

# ------------------------------------------------------------------------------------------------------------- releases

DIST := cuvmm-$(VERSION)

.PHONY: dist check-dist
dist: ## $(BUILD)/cuvmm-VERSION.tar.gz, the same bytes wherever it is made
	ci/dist $(DIST) $(BUILD)

check-dist: $(TAP_RUN) ## build the tarball twice, compare, and test the result (BUILT=1: the second time is what $(BUILD) holds)
	@rm -rf $(TAP)-dist && mkdir -p $(TAP)-dist $(BUILD)
	@printf '#!/bin/sh\nexec ci/check-dist $(DIST) $(BUILD) $(if $(BUILT),built)\n' >$(BUILD)/check-dist-run
	@chmod +x $(BUILD)/check-dist-run
	@CC='$(CC)' CHECK_TEST_CFLAGS='$(TEST_CFLAGS)' $(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-dist' $(BUILD)/check-dist-run </dev/null; \
	    status=$$?; $(TALLY) $(TAP)-dist && exit $$status

# ---------------------------------------------------------------------------------------------------- Debian packages

# Like a packager: from the tarball, in a separate folder, and without this make's variables.
DEB := $(BUILD)/deb
.PHONY: deb
deb: ## Debian packages in $(BUILD)/deb, with dpkg-buildpackage (docs/packaging.md)
	@command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || { echo "make deb: apt-get install dpkg-dev debhelper"; exit 1; }
	rm -rf $(DEB) && mkdir -p $(DEB)
	ci/dist $(DIST) $(DEB)
	mv $(DEB)/$(DIST).tar.gz $(DEB)/cuvmm_$(VERSION).orig.tar.gz
	tar -xzf $(DEB)/cuvmm_$(VERSION).orig.tar.gz -C $(DEB)
	cp -R $(DEB)/$(DIST)/packaging/debian $(DEB)/$(DIST)/debian
	sed -i "s|@VERSION@|$(VERSION)|; s|@DATE@|$$(LC_ALL=C date -u -R -r $(DEB)/$(DIST)/Makefile)|" $(DEB)/$(DIST)/debian/changelog
	cd $(DEB)/$(DIST) && env -i PATH="$$PATH" HOME="$$HOME" dpkg-buildpackage -us -uc -j$(JOBS)

# Tests the packages in fresh systems below PACKAGE_ROOT (ci/check-package). Needs root, debootstrap and a network; takes
# minutes.
PACKAGE_ROOT ?= $(BUILD)/package-root
.PHONY: check-package
check-package: $(TAP_RUN) deb dist ## test packages, tarball, FetchContent, action and container in a fresh Debian (root; PACKAGE_ROOT=/path, CUVMM_PACKAGE_PARTS=user: packages alone)
	@rm -rf $(TAP)-package && mkdir -p $(TAP)-package
	@printf '#!/bin/sh\nexec ci/check-package $(DIST) $(BUILD) $(PACKAGE_ROOT)\n' >$(BUILD)/check-package-run
	@chmod +x $(BUILD)/check-package-run
	@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-package' $(BUILD)/check-package-run </dev/null; \
	    status=$$?; $(TALLY) $(TAP)-package && exit $$status

# Other systems, libraries and processors (ci/check-portable): what this machine can have of them.
PORTABLE_ROOT ?= $(PACKAGE_ROOT)
.PHONY: check-portable
check-portable: $(TAP_RUN) dist ## other systems: Debian 12 and 13, Ubuntu, musl, arm64, macOS (docs/systems.md; CUVMM_PORTABLE_PARTS="musl arm64": these alone)
	@rm -rf $(TAP)-portable && mkdir -p $(TAP)-portable
	@printf '#!/bin/sh\nexec ci/check-portable $(DIST) $(BUILD) $(PORTABLE_ROOT)\n' >$(BUILD)/check-portable-run
	@chmod +x $(BUILD)/check-portable-run
	@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-portable' $(BUILD)/check-portable-run </dev/null; \
	    status=$$?; $(TALLY) $(TAP)-portable && exit $$status

# -------------------------------------------------------------------------------------------- analysers and CI systems

.PHONY: analyze junit
SINCE ?=
MOST ?=
ANALYZERS ?=
analyze: $(TAP_RUN) ## gcc -fanalyzer, cppcheck and clang-tidy, those that are installed (SINCE=main: only the changes since main, INCLUDERS=1: and what includes them; ANALYZERS="gcc cppcheck")
	@rm -rf $(TAP)-analyze && mkdir -p $(TAP)-analyze $(BUILD)
	@printf '#!/bin/sh\nexec ci/analyze --jobs $(JOBS) $(if $(SINCE),--since $(SINCE) $(if $(INCLUDERS),--includers)) $(if $(MOST),--most $(MOST)) $(ANALYZERS:%=--tool %)\n' >$(BUILD)/analyze-run
	@chmod +x $(BUILD)/analyze-run
	@$(PROVE) --nocolor -e '$(TAP_RUN) $(TAP)-analyze' $(BUILD)/analyze-run </dev/null; \
	    status=$$?; $(TALLY) $(TAP)-analyze && exit $$status

junit: ## the TAP of the runs so far as JUnit, in $(BUILD)/junit, for CI systems
	@rm -rf $(BUILD)/junit
	ci/junit $(BUILD)/junit $(wildcard $(TAP) $(TAP)-*)
