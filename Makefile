# SPDX-License-Identifier: MIT
# seckill: a flash-sale voucher service and the laboratory that shows which locks oversell.
# `make help` lists the targets.
#
#   make BUILD=release|debug|asan|tsan   flavour; release goes to build/, the others to
#                                        build/<flavour>/
#   make BUILD=o0                        not optimized, only for `make simulate-same`
#   make CFLAGS=... CPPFLAGS=... LDFLAGS=...   more flags, which win over the project's own
#   make V=1                             show whole commands
#   make WERROR=1                        warnings are errors
#   make demo LOCKS=lua,reentrant        compare only these, or all
#   make matrix MATRIX='--seeds=1'     less of it: whatever `seckill matrix --help` says
#   make mutants MUTANTS='drop-*'        try only these
#   make compose COMPOSE=docker-compose  with this command; default: docker compose, if it is there
#   make test AGAIN=1                    run a program that failed again, alone

BUILD  ?= release
V      ?= 0
WERROR ?= 0
CC     ?= cc
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
DOCDIR     ?= $(DATADIR)/doc/dlock
ZSHDIR     ?= $(DATADIR)/zsh/site-functions
# The locks that `make demo` compares: names with commas, or all.
LOCKS  ?= none,local,naive,owner,lua,reentrant,redlock
# More flags for `seckill matrix` and `seckill show`.
MATRIX ?=
SHOW ?=
# The groups of packages that `make deps` installs: run, test, browser, arm64, analyze, compose, peers,
# bench-peers.
GROUPS ?= run test
# The time that `make fuzz` gives each of its programs.
FUZZ ?= 60s
# The changes that `make mutants` tries: a shell pattern over the names in tests/mutants.
MUTANTS ?= *

# The hardening flags that the compiler takes; _FORTIFY_SOURCE needs an optimising compiler.
HARDEN      := $(shell tools/hardening.sh $(CC))
ifneq ($(filter -O0,$(CFLAGS)),)
HARDEN      := $(filter-out -D_FORTIFY_SOURCE=%,$(HARDEN))
endif
OPT.release := -O2 -g $(HARDEN)
OPT.debug   := -Og -g
# A report names functions and lines, for which -g1 is enough; it compiles in three quarters of
# the time.  For a debugger: make BUILD=asan CFLAGS=-g
OPT.asan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
               -fno-sanitize-recover=all
OPT.tsan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
# For clang; the programs of tests/fuzz are also linked with libFuzzer.
OPT.fuzz    := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
               -fno-sanitize-recover=all
OPT.o0      := -O0 -g
ifeq ($(OPT.$(BUILD)),)
$(error unknown BUILD=$(BUILD); use release, debug, asan, tsan, fuzz or o0)
endif
ifeq ($(BUILD),fuzz)
CC := clang
endif
OUT := build$(if $(filter-out release,$(BUILD)),/$(BUILD))
# A failed check names its file and line itself, and of these programs only the simulation is
# often waited for.
$(OUT)/obj/tests/%.o: OPT.release := -O1 -g1 $(HARDEN)
$(OUT)/obj/tests/simulation/%.o: OPT.release := -O2 -g1 $(HARDEN)

PKGS     := hiredis libpq jansson libssl libcrypto libcurl
CSTD     := -std=c11 -D_GNU_SOURCE
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wformat=2 -Wvla -Wstrict-prototypes \
            -Wmissing-prototypes -Wimplicit-fallthrough
# CPPFLAGS, CFLAGS and LDFLAGS are the user's.  They come last, so they win.
# The headers of one processor come last, so that a compiler for another one finds its own first.
PREPROCESS := -I. -Ibuild $(patsubst -I/usr/include/%-linux-gnu,-idirafter/usr/include/%-linux-gnu,\
              $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)) $(CPPFLAGS)
# The objects of libdlock.so must be PIC; all others end up in an executable.
PIC      := -fPIE
COMPILE   = $(CSTD) $(WARN) $(OPT.$(BUILD)) $(if $(filter 1,$(WERROR)),-Werror) -pthread \
            $(PIC) $(CFLAGS)
# The linker resolves all symbols at the start, and then makes the tables of addresses read-only.
LINK     := $(if $(findstring sanitize,$(OPT.$(BUILD))),$(OPT.$(BUILD))) -pthread \
            -Wl,--as-needed -Wl,-z,relro,-z,now,-z,noexecstack $(CFLAGS) $(LDFLAGS)
# The client library of ZooKeeper comes without a .pc file.
LIBS.lock := $(shell $(PKG_CONFIG) --libs hiredis libpq libssl libcrypto libcurl jansson 2>/dev/null) -lzookeeper_mt
LIBS.db   := $(shell $(PKG_CONFIG) --libs libpq 2>/dev/null)
LIBS.base := $(shell $(PKG_CONFIG) --libs libcrypto 2>/dev/null)
LIBS.app  := -lcivetweb $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null)
LIBS.lab  := -lcivetweb $(shell $(PKG_CONFIG) --libs libcurl jansson 2>/dev/null) -lm
LIBS.test := -lcmocka $(shell $(PKG_CONFIG) --libs libcurl jansson 2>/dev/null)

comma := ,
sources = $(sort $(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

# The library is built with the files that it depends on.
LOCK_SRC := $(call sources,lock lock/record lock/variants lock/primitives lock/stores base/os base/redis base/postgres)
BASE_SRC := $(call sources,base/text base/http)
DB_SRC   := $(call sources,db db/guards)
APP_SRC  := $(call sources,app app/paths)
LAB_SRC  := $(call sources,loadtest/* loadtest/check/checks loadtest/fault/faults \
            loadtest/sale/hazards loadtest/scenario/*)

LIBRARY  := $(OUT)/libdlock.a
version   = $(shell sed -n 's/^\#define $(1) "\(.*\)"/\1/p' base/text/version.h)
VERSION  := $(call version,SECKILL_VERSION)
SONAME   := $(call version,SECKILL_LIBRARY)
SHARED   := $(OUT)/$(SONAME)
COMMON   := $(OUT)/obj/libcommon.a
# The same without the names of all programs' settings, which only a program that has all their
# tables can print.
BASE_DB  := $(OUT)/obj/libbase_db.a
# The tests of the service and of the laboratory link these: all sources without main().
APP_LIB  := $(OUT)/obj/libapp.a
LAB_LIB  := $(OUT)/obj/liblab.a
GEN      := build/gen/lua_scripts.h build/gen/schema_sql.h build/gen/postgres_sql.h \
            build/gen/timeline_html.h build/gen/matrix_html.h build/gen/story_html.h build/gen/report_html.h \
            build/gen/show_page.h build/gen/stamp

UNIT          := $(OUT)/tests/unit
TOPOLOGY      := $(OUT)/tests/topology
ADDRESS_PAIRS := $(OUT)/tests/address_pairs
SERVICE_TESTS := $(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/service/test_*.c))
CLI_TESTS     := $(sort $(wildcard tests/cli/*.sh))
CONFORMANCE   := $(OUT)/tests/conformance
PRIMITIVES    := $(OUT)/tests/primitives
ASYNC         := $(OUT)/tests/async
LIAR          := $(OUT)/tests/liar
PROVE_ORDERS  := $(OUT)/tests/prove-orders
SIMULATE      := $(OUT)/tests/simulate
FROZEN_CLOCK  := $(OUT)/tests/frozen_clock.so
INTEROP_PEER  := $(OUT)/tests/interop-peer
BENCH_PEER    := $(OUT)/peers-ours
PROGRAMS      := $(OUT)/seckilld $(OUT)/seckill
# This library is loaded into servers of other projects, so it is never built with a sanitizer.
WALL_CLOCK    := build/wall_clock.so

ifeq ($(V),0)
say = @printf '  %-5s %s\n' '$(1)' '$@';
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

##@ Build
.PHONY: all
all: $(PROGRAMS) $(WALL_CLOCK) $(SHARED)    ## build the service and the laboratory

.PHONY: lib
lib: $(LIBRARY) $(SHARED)                   ## build the lock library, static and shared

# tools/install.sh has the list of all other files that are installed, and their places.
PUBLIC_HEADERS := $(addprefix lock/,dlock.h dlock_async.h dlock_cancel.h dlock_inspect.h dlock_later.h dlock_lease.h dlock_metrics.h dlock_primitives.h)
MANUAL := $(OUT)/man/library $(OUT)/man/programs
$(OUT)/man/library: $(PUBLIC_HEADERS) tools/manual.sh tools/manual-library.awk base/text/version.h
	$(call say,GEN)tools/manual.sh library $@
$(OUT)/man/programs: $(PROGRAMS) tools/manual.sh tools/manual-program.awk
	$(call say,GEN)tools/manual.sh programs $@ $(OUT)

COMPLETION := $(OUT)/completion/seckill $(OUT)/completion/_seckill
$(OUT)/completion/seckill: for_shell := bash
$(OUT)/completion/_seckill: for_shell := zsh
$(COMPLETION): $(PROGRAMS) tools/completion.sh
	@mkdir -p $(@D)
	$(call say,GEN)tools/completion.sh $(for_shell) $(OUT) >$@

.PHONY: manual
manual: $(MANUAL)                           ## build the manual pages, into build/man/

PLACES := PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR DATADIR DOCDIR ZSHDIR DESTDIR OUT SONAME VERSION PUBLIC_HEADERS
.PHONY: install install-programs uninstall
install install-programs uninstall: export_places = $(foreach p,$(PLACES),$(p)='$($(p))')
install: lib $(OUT)/man/library             ## install libdlock: PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=
	@$(export_places) tools/install.sh install library
	@$(if $(DESTDIR),true,echo 'Programs find it once ldconfig has run as root, if $(LIBDIR) is in its list.')
install-programs: $(PROGRAMS) $(WALL_CLOCK) $(OUT)/man/programs $(COMPLETION) ## install seckilld and seckill: PREFIX= BINDIR= DESTDIR=
	@$(export_places) tools/install.sh install programs
uninstall: $(OUT)/man/library               ## remove what both targets installed, with the same PREFIX, LIBDIR, DESTDIR
	@$(export_places) tools/install.sh uninstall

.PHONY: deps
deps:                                       ## install the Debian packages that are missing; GROUPS='run test'
	@tools/deps.sh $(GROUPS)
# Each target below installs only the packages that it needs itself.
.PHONY: deps-run deps-test deps-browser deps-analyze deps-peers deps-bench-peers
deps-run deps-test deps-browser deps-analyze deps-peers deps-bench-peers: deps-%:
	@tools/deps.sh $*

$(OUT)/seckilld: $(call objects,$(APP_SRC)) $(LIBRARY) $(COMMON)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $(filter %.o,$^) $(COMMON) \
	  $(LIBRARY) $(LIBS.app) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

$(OUT)/seckill: $(call objects,$(LAB_SRC)) $(LIBRARY) $(COMMON)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $(filter %.o,$^) $(COMMON) \
	  $(LIBRARY) $(LIBS.lab) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

$(WALL_CLOCK): loadtest/fault/preload/wall_clock.c Makefile
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CSTD) $(WARN) $(OPT.release) -fPIC $(CFLAGS) $(LDFLAGS) \
	  -shared -o $@ $<

# Only names that the public headers declare are visible from outside.
$(call objects,$(LOCK_SRC)): PIC := -fPIC -fvisibility=hidden

# The library is never unloaded: threads that have used it run its code when they end.
$(SHARED): $(call objects,$(LOCK_SRC)) lock/libdlock.map
	$(call say,LINK)$(CC) $(LINK) -shared -Wl,-soname,$(SONAME) \
	  -Wl,--version-script=lock/libdlock.map -Wl,-z,defs -Wl,-z,nodelete \
	  -o $@ $(filter %.o,$^) $(LIBS.lock)

$(LIBRARY): $(call objects,$(LOCK_SRC))
$(COMMON): $(call objects,$(BASE_SRC) $(DB_SRC))
$(APP_LIB): $(call objects,$(filter-out app/main.c,$(APP_SRC)))
$(LAB_LIB): $(call objects,$(filter-out loadtest/command/main.c,$(LAB_SRC)))
# Every program knows the names of all programs' settings, which a program that has all
# their tables prints before they are linked.  That program runs after each of their changes;
# the file changes only if the list does.
$(OUT)/obj/list-settings: $(OUT)/obj/tools/list_settings.o $(APP_LIB) $(LAB_LIB) \
    $(call objects,$(BASE_SRC) $(DB_SRC)) $(LIBRARY)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $(filter %.o,$^) $(APP_LIB) $(LAB_LIB) \
	  $(LIBRARY) $(LIBS.app) $(LIBS.lab) $(LIBS.db) $(LIBS.lock) $(LIBS.base)
$(OUT)/obj/known_settings.c: $(OUT)/obj/list-settings
	@$(RUN) $< >$@.new && { cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }
$(OUT)/obj/known_settings.o: $(OUT)/obj/known_settings.c
	$(call say,CC)$(CC) $(PREPROCESS) $(COMPILE) -c -o $@ $<
$(COMMON): $(OUT)/obj/known_settings.o

# tools/reference prints the lists of both programs, so it is linked with both.
$(OUT)/obj/write-reference: $(OUT)/obj/tools/write_reference.o \
    $(OUT)/obj/tools/reference_locks.o $(OUT)/obj/tools/reference_service.o \
    $(OUT)/obj/tools/watch.o $(APP_LIB) $(LAB_LIB) $(COMMON) $(LIBRARY)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.app) $(LIBS.lab) $(LIBS.db) \
	  $(LIBS.lock) $(LIBS.base)

$(BASE_DB): $(call objects,$(BASE_SRC) $(DB_SRC))
$(LIBRARY) $(COMMON) $(BASE_DB) $(APP_LIB) $(LAB_LIB):
	$(call say,AR)rm -f $@ && $(AR) qcs $@ $^

$(OUT)/obj/%.o: %.c Makefile tools/hardening.sh | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(PREPROCESS) $(COMPILE) -MMD -MP -c -o $@ $<

# Everything is built after this rule, so this rule reports missing packages.
build/gen/stamp: tools/embed.sh
	@$(PKG_CONFIG) --exists $(PKGS) && [ -e /usr/include/zookeeper/zookeeper.h ] || \
	  { echo 'packages are missing; install them with: make deps' >&2; exit 69; }
	@mkdir -p $(@D) && touch $@
build/gen/lua_scripts.h: $(wildcard lua/*.lua) tools/embed.sh build/gen/stamp
	$(call say,GEN)tools/embed.sh LUA_ $(sort $(wildcard lua/*.lua)) >$@
build/gen/schema_sql.h: db/schema.sql tools/embed.sh build/gen/stamp
	$(call say,GEN)tools/embed.sh '' db/schema.sql >$@
build/gen/postgres_sql.h: lock/stores/postgres.sql tools/embed.sh build/gen/stamp
	$(call say,GEN)tools/embed.sh '' lock/stores/postgres.sql >$@
# Every page has the same head, loadtest/page/head.css and head.js: a file that is opened alone has it inside,
# the live page gets it from its server.
PAGE_HEAD := $(addprefix loadtest/page/,head.css head.js patterns.svg)
PAGE_PARTS := $(PAGE_HEAD) $(wildcard loadtest/page/figure.css loadtest/page/story*.css loadtest/page/story*.js)
SHOW_PAGE := $(addprefix loadtest/show/,show.html show.css show.js words.js lines.js lesson.css lesson.js)
build/gen/show_page.h: $(SHOW_PAGE) $(PAGE_HEAD) tools/inline.awk tools/embed.sh build/gen/stamp
	@mkdir -p build/gen/inlined
	@for file in $(SHOW_PAGE) $(PAGE_HEAD); do \
	  awk -f tools/inline.awk $$file >build/gen/inlined/$${file##*/} || exit 1; done
	$(call say,GEN)cd build/gen/inlined && ../../../tools/embed.sh '' $(notdir $(SHOW_PAGE) $(PAGE_HEAD)) >../show_page.h
define inline_page
	@mkdir -p build/gen/inlined
	@awk -f tools/inline.awk $< >build/gen/inlined/$*.html
	$(call say,GEN)tools/embed.sh '' build/gen/inlined/$*.html >$@
endef
build/gen/%_html.h: loadtest/page/%.html $(PAGE_PARTS) tools/inline.awk tools/embed.sh build/gen/stamp
	$(inline_page)
build/gen/%_html.h: loadtest/report/%.html $(PAGE_HEAD) tools/inline.awk tools/embed.sh build/gen/stamp
	$(inline_page)

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

##@ Run
.PHONY: demo
demo: deps-run                                  ## install, build, and print the table of the locks that oversell
	@$(MAKE) --no-print-directory -j2 all
	@build/seckill compare --locks=$(LOCKS)

.PHONY: show
show: deps-run                                  ## show a sale on a page in a browser, where keys inject faults; SHOW='--locks=none'
	@$(MAKE) --no-print-directory -j2 all
	@build/seckill show $(SHOW)

.PHONY: lessons
lessons: deps-run deps-browser                  ## run the ten lessons of the live page three times in a browser; LESSONS='3 9'
	@$(MAKE) --no-print-directory -j2 all
	@/usr/bin/python3 -B tests/browser/lessons.py --times=3 $(LESSONS)

.PHONY: matrix
matrix: deps-run                                ## perform every scenario under every lock, with five seeds; MATRIX='--part=1/2'
	@$(MAKE) --no-print-directory -j2 all
	@build/seckill matrix $(MATRIX)

.PHONY: lab-up lab-down
lab-up: all                                 ## start the private servers in .lab/
	@build/seckill lab up
lab-down: all                               ## stop the private servers and remove .lab/
	@build/seckill lab down

.PHONY: bench
bench: deps-run                                 ## measure orders per second, as ratios to pgbench
	@$(MAKE) --no-print-directory -j2 all
	@build/seckill bench

.PHONY: results
results: deps-run deps-test                       ## measure docs/results again, for several hours; RESULTS='demo bench'
	@$(if $(filter bench-peers,$(or $(RESULTS),bench-peers)),tools/deps.sh bench-peers || \
	  echo 'results: bench-peers: not all packages could be installed' >&2)
	@$(MAKE) --no-print-directory -j2 all $(BENCH_PEER)
	@tools/results.sh $(RESULTS)
RESULTS :=

.PHONY: bench-locks
bench-locks: deps-run                           ## measure locks per second, as ratios to redis-benchmark and others
	@$(MAKE) --no-print-directory -j2 all
	@build/seckill bench-locks

# A peer whose packages cannot be installed is named in the result, and the others are measured.
.PHONY: bench-peers
bench-peers: deps-run                           ## measure these locks and Redisson, redis-py, ...; PEERS='--quick --peers=redsync'
	@tools/deps.sh bench-peers || echo 'bench-peers: not all packages could be installed' >&2
	@$(MAKE) --no-print-directory -j2 all $(BENCH_PEER)
	@loadtest/peers/peers.py $(PEERS)
PEERS :=
$(BENCH_PEER): $(call objects,$(call sources,loadtest/peers/ours)) $(LIBRARY)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.lock)

.PHONY: bench-floods
bench-floods: deps-run deps-test                ## measure an honest client during floods, also with nginx; FLOODS=--small
	@$(MAKE) --no-print-directory -j2 all
	@loadtest/bench/floods/floods.py $(FLOODS)

##@ Test
# tests/run --more builds the sanitizer variants while the tests that wait run.
.PHONY: test
test: deps-test                                  ## run lint and the tests in the build that is released; .ci/run runs more
	@$(MAKE) --no-print-directory -j2 WERROR=1 all tests
	@tests/run $(if $(filter 1,$(AGAIN)),--again)

.PHONY: test-more
test-more: deps-test                             ## run the tests with ASan, UBSan and TSan, and the long tests
	@$(MAKE) --no-print-directory -j2 WERROR=1 all tests
	@tests/run $(if $(filter 1,$(AGAIN)),--again) --more

.PHONY: changed
changed: deps-test                               ## run the tests that belong to the files that differ from HEAD, until one fails
	@tests/changed

.PHONY: tests lock-tests asan-tests tsan-lock-tests tsan-tests tsan-programs topology-tests
lock-tests: $(CONFORMANCE) $(PRIMITIVES) $(ASYNC) $(LIAR)
tests: $(PROGRAMS) $(WALL_CLOCK) lib $(UNIT) $(TOPOLOGY) $(ADDRESS_PAIRS) $(SERVICE_TESTS) lock-tests ## build all test programs
tests: $(INTEROP_PEER) $(PROVE_ORDERS) $(BENCH_PEER) $(SIMULATE) $(FROZEN_CLOCK)
# The tests of topologies, such as Sentinels; each starts its own servers.
.PHONY: topology
topology: deps-test                              ## test fail-overs, poolers, and replicas behind a front, on real servers
	@tests/run 'topology*'

# The programs of the sanitizer builds that the tests run.
asan-tests: lock-tests $(UNIT) $(PROGRAMS)
tsan-lock-tests: $(CONFORMANCE) $(PRIMITIVES) $(ASYNC)
tsan-tests: tsan-lock-tests $(UNIT) $(OUT)/tests/service/test_pool
tsan-programs: $(PROGRAMS)
topology-tests: $(TOPOLOGY) $(ADDRESS_PAIRS)

# The tests of these files define functions of the library or of the C library themselves.  Each is
# linked with a library of its own, and shows the other files none of these functions.
ALONE := $(addprefix tests/unit/test_,lock_clock redis_hold redis_yields scenario_plays)
$(ALONE:%=$(OUT)/obj/%.alone.o): $(OUT)/obj/%.alone.o: $(OUT)/obj/%.o $(LAB_LIB) $(COMMON) $(LIBRARY)
	$(call say,LINK)$(LD) -r -o $@ $^ && $(OBJCOPY) --keep-global-symbol=none $@

# With TSan, only tests of several threads run, which need no archive of the laboratory.
ifeq ($(BUILD),tsan)
UNIT_SRC := $(addprefix tests/unit/test_,voucher_cache.c lane.c os_fiber.c) app/voucher_cache.c app/lane.c
$(UNIT): $(BASE_DB) $(LIBRARY)
else
UNIT_SRC := $(call sources,tests/unit)
$(UNIT): $(APP_LIB) $(LAB_LIB) $(COMMON) $(LIBRARY)
endif
$(UNIT): $(call objects,$(filter-out $(ALONE:=.c),$(UNIT_SRC)) $(patsubst %.c,%.alone.c,$(filter $(ALONE:=.c),$(UNIT_SRC))))
$(TOPOLOGY): $(call objects,$(filter-out %/address_pairs.c,$(call sources,tests/topology)))
$(UNIT) $(TOPOLOGY): $(OUT)/obj/tests/registered.o $(OUT)/obj/tests/jobs.o
$(ADDRESS_PAIRS): $(OUT)/obj/tests/topology/address_pairs.o
$(TOPOLOGY) $(ADDRESS_PAIRS): $(APP_LIB) $(LAB_LIB) $(COMMON) $(LIBRARY)
$(UNIT) $(TOPOLOGY) $(ADDRESS_PAIRS):
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS.test) \
	  $(LIBS.app) $(LIBS.lab) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

SERVICE_HELP := $(call objects,$(filter-out tests/service/test_%,$(call sources,tests/service)))
$(OUT)/tests/service/%: $(OUT)/obj/tests/service/%.o $(SERVICE_HELP) $(APP_LIB) $(LAB_LIB) $(COMMON) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.test) $(LIBS.app) \
	  $(LIBS.lab) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

# This one runs with TSan too, where the archives of the service and of the laboratory would be built
# for it alone: it is linked with what it needs.
$(OUT)/tests/service/test_pool: $(call objects,tests/service/test_pool.c loadtest/kit/port.c) \
    $(filter-out %/stream_rig.o,$(SERVICE_HELP)) $(BASE_DB) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $(filter %.o,$^) $(BASE_DB) $(LIBRARY) \
	  $(LIBS.test) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

$(PROVE_ORDERS): $(call objects,$(call sources,tests/proof)) $(SERVICE_HELP) $(APP_LIB) $(LAB_LIB) $(COMMON) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.test) $(LIBS.app) \
	  $(LIBS.lab) $(LIBS.db) $(LIBS.lock) $(LIBS.base)

# The linker redirects its calls to tests/conformance/by_async.c.
BY_ASYNC := $(addprefix -Wl$(comma)--wrap=dlock_,acquire acquire_with release renew abandon close)
$(CONFORMANCE): $(call objects,tests/jobs.c $(call sources,tests/conformance tests/conformance/wrong)) $(LIBRARY) | $(WALL_CLOCK)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie $(BY_ASYNC) -o $@ $^ $(LIBS.test) $(LIBS.lock)

# The tests of the primitives and of the asynchronous interface use the rig of the conformance tests.
CONFORMANCE_HELP := $(addprefix tests/conformance/,rig.c slots.c servers.c replica.c database.c \
                    lab.c cutter.c refuser.c nodes.c forked.c)
$(PRIMITIVES): $(call objects,$(call sources,tests/primitives) $(CONFORMANCE_HELP)) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.test) $(LIBS.lock)

$(ASYNC): $(call objects,$(call sources,tests/async) $(CONFORMANCE_HELP)) $(LIBRARY) | $(WALL_CLOCK)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.test) $(LIBS.lock)

$(LIAR): $(call objects,$(call sources,tests/liar)) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.test) $(LIBS.lock)

# The simulation's own os and wire replace those of base/ in the archive. Mutexes are inline, and
# the loops are the library's own on a simulated kernel. The recorder's times are converted to the
# world's clock.
BY_TASKS := $(addprefix -Wl$(comma)--wrap=pthread_mutex_,init destroy lock unlock) \
    $(addprefix -Wl$(comma)--wrap=,epoll_create1 epoll_ctl epoll_wait timerfd_create \
    timerfd_settime dlock_stack_switch) \
    $(addprefix -Wl$(comma)--wrap=dlock_recorder_,open close begin end begin_release note)
$(SIMULATE): $(call objects,$(call sources,tests/simulation)) $(LAB_LIB) $(BASE_DB) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie $(BY_TASKS) -o $@ $^ $(LIBS.lock) -llua5.1

# This library is loaded into a redis-server, so it is built without the sanitizers of this build.
$(FROZEN_CLOCK): tests/simulation/frozen/clock.c
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CSTD) -O2 -Wall -Wextra -fPIC -shared -o $@ $<

$(INTEROP_PEER): $(call objects,$(call sources,tests/interop)) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -pie -o $@ $^ $(LIBS.lock)

FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/tests/fuzz/%,$(wildcard tests/fuzz/*.c))
build/fuzz/tests/fuzz/%: build/fuzz/obj/tests/fuzz/%.o build/fuzz/obj/libapp.a \
                         build/fuzz/obj/liblab.a build/fuzz/obj/libcommon.a build/fuzz/libdlock.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS.app) $(LIBS.lab) \
	  $(LIBS.db) $(LIBS.lock) $(LIBS.base)

# Inputs that reach new code are kept in build/fuzz/corpus, inputs that break a target in
# build/fuzz/found.
.PHONY: fuzz fuzz-programs
fuzz-programs:
	@$(MAKE) --no-print-directory BUILD=fuzz $(FUZZERS)
fuzz:                                       ## give random input to every parser; FUZZ=60s for each
	@tools/deps.sh test
	@$(MAKE) --no-print-directory -j2 fuzz-programs
	@tests/fuzz/run $(FUZZ)

# The tests run a few thousand of these requests.
.PHONY: fuzz-http
fuzz-http: deps-run deps-test                   ## send malformed requests to a service with ASan and UBSan; REQUESTS=300000
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory -j2 BUILD=asan build/asan/seckilld
	@tests/fuzz/http/fuzz.py --requests=$(REQUESTS) --service=build/asan/seckilld
REQUESTS := 300000

# The tests run a part of these.
.PHONY: damage
damage: deps-test                               ## read damaged records with ASan and UBSan; DAMAGED=10000
	@$(MAKE) --no-print-directory -j2 BUILD=asan build/asan/tests/unit
	@DAMAGE_COUNT=$(DAMAGED) build/asan/tests/unit test_damaged_files
DAMAGED := 10000

# Not a part of `make test`: the run takes minutes, and shows only that the tests can fail.
.PHONY: mutants
mutants: deps-test                               ## break the code on purpose, and see that a test fails; MUTANTS=GLOB
	@$(MAKE) --no-print-directory -j2 BUILD=release all tests
	@tests/mutants/run '$(MUTANTS)'

.PHONY: prove-failovers
prove-failovers: deps-test                       ## let Sentinel fail over under load; FAILOVERS='--times=20 --lock=reentrant'
	@$(MAKE) --no-print-directory -j2 all
	@/usr/bin/python3 -B tests/proof/failovers.py $(FAILOVERS)
FAILOVERS :=

.PHONY: prove-cluster
prove-cluster: deps-test                         ## break and reshard a Redis Cluster under load; CLUSTER='--times=8'
	@$(MAKE) --no-print-directory -j2 all
	@/usr/bin/python3 -B tests/proof/cluster_changes.py $(CLUSTER)
CLUSTER :=

.PHONY: prove-promotions prove-pooler
prove-promotions: deps-test                      ## promote a standby of PostgreSQL under load; PROMOTIONS='--times=10 --only=sync'
	@$(MAKE) --no-print-directory -j2 all
	@/usr/bin/python3 -B tests/proof/promotions.py $(PROMOTIONS)
prove-pooler: deps-test                          ## restart PgBouncer and PostgreSQL under load; POOLER='--seconds=60 --lock=pg-fair'
	@$(MAKE) --no-print-directory -j2 all
	@/usr/bin/python3 -B tests/proof/pooler.py $(POOLER)
PROMOTIONS :=
POOLER :=

# `make test-more` tries each fault twice.
.PHONY: prove-orders
prove-orders: deps-test                          ## break servers under load, and compare every answer with the rows; TIMES=20 ORDER_PATH=all
	@$(MAKE) --no-print-directory -j2 all $(PROVE_ORDERS)
	@$(PROVE_ORDERS) --times=$(TIMES) --order-path=$(ORDER_PATH)
TIMES := 20
ORDER_PATH := all

# Each seed is a world of its own; SEED= with one VARIANT and one CLASS prints one of them.
SEEDS   := 100
VARIANT := all
CLASS   := all
SEED    :=
FROM    := 1
TWICE   :=
LESS    :=
.PHONY: simulate
simulate: deps-test                              ## run the locks in simulated worlds; SEEDS=100 VARIANT=all CLASS=all, or SEED=N; MARKDOWN=FILE
	@$(MAKE) --no-print-directory -j2 $(SIMULATE)
	@$(if $(MARKDOWN),tests/simulation/simulated.sh '$(MARKDOWN)' \
	  "make simulate SEEDS=$(SEEDS) FROM=$(FROM) VARIANT='$(VARIANT)' CLASS='$(CLASS)' MARKDOWN=$(MARKDOWN)") \
	$(SIMULATE) --variant='$(VARIANT)' --class='$(CLASS)' \
	  $(if $(SEED),--seed='$(SEED)' $(if $(LESS),--less='$(LESS)'),--seeds='$(SEEDS)' \
	  --from='$(FROM)' --failed=$(OUT)/simulate.failed $(if $(TWICE),--twice))

# Each seed is played four times: optimized and not, in a batch and alone.
.PHONY: simulate-same
simulate-same: deps-test                         ## check that a seed has the same trace at -O0 and -O2, alone and in a batch; SEEDS=3
	@$(MAKE) --no-print-directory -j2 $(SIMULATE)
	@$(MAKE) --no-print-directory -j2 BUILD=o0 build/o0/tests/simulate
	@tests/simulation/same.sh $(SIMULATE) build/o0/tests/simulate --variant='$(VARIANT)' \
	  --class='$(CLASS)' --seeds='$(if $(filter file,$(origin SEEDS)),3,$(SEEDS))' --from='$(FROM)'

.PHONY: simulate-planted
simulate-planted: deps-test                     ## count the seeds until the simulation finds planted bugs; PLANTED_SEEDS=100000 MUTANTS=GLOB MARKDOWN=FILE
	@$(MAKE) --no-print-directory -j2 $(SIMULATE)
	@tests/simulation/planted.sh '$(PLANTED_SEEDS)' '$(PLANTED_EXPLAINED)' '$(MUTANTS)' \
	  $(if $(MARKDOWN),'$(MARKDOWN)')
PLANTED_SEEDS := 100000
PLANTED_EXPLAINED := 100000

SEQUENCES := 3000
.PHONY: simulate-model
simulate-model: deps-run deps-test               ## compare the simulation's model of Redis with redis-server; SEQUENCES=3000
	@$(MAKE) --no-print-directory -j2 $(SIMULATE) $(FROZEN_CLOCK)
	@tests/simulation/beside.sh $(SIMULATE) $(FROZEN_CLOCK) '$(SEQUENCES)' '$(FROM)'

# The tests compare a few hundred of these histories.
.PHONY: crosscheck
crosscheck: deps-run deps-test              ## compare `seckill check` with a second judge; HISTORIES=10000 SEED=1
	@$(MAKE) --no-print-directory -j2 all
	@tests/crosscheck/crosscheck.py --histories='$(HISTORIES)' --seed='$(or $(SEED),1)'
HISTORIES := 10000

# Not a part of `make test`: the run needs a JDK and, the first time, Maven Central.
.PHONY: interop
interop: deps-peers                         ## test the locks with the real Redisson and redis-py
	@$(MAKE) --no-print-directory -j2 $(PROGRAMS) $(INTEROP_PEER)
	@tests/interop/run

.PHONY: prove-handover
prove-handover: deps-peers                  ## hand a fair lock over under faults, with Redisson on the same lock; HOLDS=2000000
	@$(MAKE) --no-print-directory -j2 $(PROGRAMS) $(INTEROP_PEER)
	@HOLDS=$(or $(HOLDS),2000000) tests/interop/run handover

# Not a part of `make test`: the run needs Docker and its registry, and takes minutes.
.PHONY: compose
compose:                                    ## run the service in containers, with each profile, and kill parts; COMPOSE=docker-compose
	@tools/deps.sh compose
	@$(if $(COMPOSE),COMPOSE='$(COMPOSE)') tests/compose/run

##@ Quality
.PHONY: lint
lint: deps-test                                  ## check layers, sizes, documents, shell scripts, and clang's warnings
	@tests/lint.sh

.PHONY: weight
weight:                                     ## print the lines of each directory, its limit, and its budget
	@tools/size.py weight

.PHONY: docs
docs: $(OUT)/obj/write-reference            ## write the pages and tables that are generated from lists and results
	@$< .
	@tools/pages.py fill

.PHONY: clang
clang:                                      ## parse the whole tree with clang, warnings as errors
	@$(MAKE) --no-print-directory CC=clang WERROR=1 OUT=build/clang parsed
# clang-check parses many files in one process, in a third of the time that clang takes.
.PHONY: parsed
parsed: $(GEN)
	@find app base db lock loadtest tests tools -name '*.c' -print0 | xargs -0 -P2 -n300 \
	  bash -c 'clang-check "$$@" -- $(PREPROCESS) $(COMPILE)' clang-check

# Debian's headers serve every processor; a program needs libraries too, see tools/arm64.sh.
.PHONY: arm64 arm64-objects objects
arm64:                                      ## build for arm64, and run unit tests and laws under qemu
	@tools/arm64.sh
arm64-objects: deps-test                    ## compile every file for arm64, warnings as errors
	@$(MAKE) --no-print-directory -j2 CC=aarch64-linux-gnu-gcc WERROR=1 OUT=build/arm64/objects objects
objects: $(call objects,$(shell find app base db lock loadtest tests tools -name '*.c'))

.PHONY: analyze
analyze: build/gen/stamp $(GEN)             ## run clang's analyzer and cppcheck over every source
	@tools/deps.sh analyze test
	@CPPFLAGS='$(PREPROCESS)' tools/analyze.sh

##@ Rest
.PHONY: help
help:                                       ## print this list
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: clean
clean:                                      ## remove build/
	rm -rf build
