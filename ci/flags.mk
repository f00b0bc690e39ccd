# SPDX-License-Identifier: Apache-2.0
# How things are built, apart from what: the same bytes wherever and whenever (reproducible), and harder to abuse once a
# program that uses them has a fault (hardening). docs/packaging.md says what each costs. Included by the Makefile.
#
#   HARDEN=      without the second; a build with a sanitizer or for coverage is without it anyway
#   BUILD, SAN, COVERAGE, CC, CFLAGS are the Makefile's

HARDEN ?= 1
SYSTEM := $(shell uname -s)

# Handlers of signals, of forks and of the ends of threads point into the libraries as long as the program runs.
ifeq ($(SYSTEM),Linux)
SHARED_LDFLAGS := -Wl,-z,nodelete
endif

# accepted FLAG...: those of them that this compiler takes, each alone.
accepted = $(foreach flag,$(1),$(shell $(CC) -Werror $(flag) -x c -c -o /dev/null /dev/null 2>/dev/null && echo '$(flag)'))

# Names of files as they are called from the top folder. Coverage is read by who must find the files.
ifeq ($(COVERAGE),)
override CFLAGS += -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(patsubst %/,%,$(BUILD))/=./build/
endif

# No times nor owners in archives: GNU ar can leave them out, and not all of them do so unasked.
ARFLAGS := rcs$(shell $(AR) --help 2>/dev/null | grep -q '\[D\]' && echo D)

ifneq ($(HARDEN),)
ifeq ($(SAN)$(COVERAGE),)
HARDEN_CFLAGS := $(call accepted,-fstack-protector-strong -fcf-protection -mbranch-protection=standard)
override CFLAGS += $(HARDEN_CFLAGS)
# What there is of it, for the test that looks for it.
HARDENED := $(HARDEN_CFLAGS)
# The checked functions of the C library need an optimiser; a distribution's compiler may have set another level.
ifneq ($(filter -O1 -O2 -O3 -Os,$(CFLAGS)),)
HARDENED += fortify
override CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
ifeq ($(SYSTEM),Linux)
HARDENED += linker
override LDFLAGS += -Wl,-z,relro -Wl,-z,now
PIE_LDFLAGS := -pie
endif
endif
endif
