# SPDX-License-Identifier: Apache-2.0
# Build flags: for reproducible output, and for hardening, which makes faults in programs that use the library harder
# to exploit. docs/packaging.md lists the costs. Included by the Makefile.
#
#   HARDEN=      without hardening; a build with a sanitizer or for coverage never has it
#   BUILD, SAN, COVERAGE, CC, CFLAGS, SYSTEM are the Makefile's

HARDEN ?= 1

# Handlers of signals, of forks and of the ends of threads point into the libraries as long as the program runs.
ifeq ($(SYSTEM),Linux)
SHARED_LDFLAGS := -Wl,-z,nodelete
endif

# accepted FLAG...: the flags that this compiler accepts, each tested separately.
accepted = $(foreach flag,$(1),$(shell $(CC) -Werror $(flag) -x c -S -o - /dev/null >/dev/null 2>&1 && echo '$(flag)'))

# File names relative to the top folder, except for coverage, whose reader must find the files.
ifeq ($(COVERAGE),)
override CFLAGS += -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(patsubst %/,%,$(BUILD))/=./build/
endif

# No times or owners in archives: GNU ar can omit them, but not every build of it does so by default.
ARFLAGS := rcs$(shell $(AR) --help 2>/dev/null | grep -q '\[D\]' && echo D)

ifneq ($(HARDEN),)
ifeq ($(SAN)$(COVERAGE),)
HARDEN_CFLAGS := $(call accepted,-fstack-protector-strong -fcf-protection -mbranch-protection=standard)
override CFLAGS += $(HARDEN_CFLAGS)
# The hardening in effect, for the test that checks it.
HARDENED := $(HARDEN_CFLAGS)
# The checked functions of the C library need an optimiser; a distribution's compiler may have set another level.
ifneq ($(filter -O1 -O2 -O3 -Os,$(CFLAGS)),)
HARDENED += $(if $(findstring __GLIBC__,$(shell echo '\#include <stdio.h>' | $(CC) -E -dM -x c - 2>/dev/null)),fortify)
override CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
ifeq ($(SYSTEM),Linux)
HARDENED += linker
override LDFLAGS += -Wl,-z,relro -Wl,-z,now
PIE_LDFLAGS := -pie
endif
endif
endif
