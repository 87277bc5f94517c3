# The commands of the README. Each does its own set-up on a fresh Debian machine with Rust.

BUILD ?= build
CC ?= cc
CFLAGS ?= -O2 -g -std=c11 -Wall -Wextra -Wpedantic -Werror
CXX ?= c++
CXXFLAGS ?= -O2 -g -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror
CARGO ?= cargo
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
# Of the C library.
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' ffi/Cargo.toml)

# Where `make install` puts things; DESTDIR goes before all of them.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
INSTALL := PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' BINDIR='$(BINDIR)' \
    DESTDIR='$(DESTDIR)' ffi/package/install.sh

# What a static Rust library needs besides itself.
LINK := $(BUILD)/lib/libplimsoll.a -lpthread -ldl -lm

.PHONY: help setup lib lib-debug load-driver install uninstall tool proxy runners demo envoy-module demo-envoy differential docs test \
    soak fuzz bench bench-envoy bench-instructions abi-check clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

setup: ## Install what is missing (compiler, Python) on Debian
	@.ci/setup

lib: setup ## Build the C library: build/lib/libplimsoll.a and .so, headers in include/
	$(CARGO) rustc --release --locked -p plimsoll-ffi --lib --crate-type staticlib
	CC='$(CC)' ffi/package/link.sh $(TARGET)/release/libplimsoll_ffi.a $(VERSION) $(BUILD)/lib

lib-debug: setup ## Build the C library with checks for misuse: build/debug/
	$(CARGO) rustc --locked -p plimsoll-ffi --lib --crate-type staticlib
	CC='$(CC)' ffi/package/link.sh $(TARGET)/debug/libplimsoll_ffi.a $(VERSION) $(BUILD)/debug

install: ## Install the C library (and the tool, if it is built): PREFIX=/usr/local, DESTDIR=
	@# Not through a dependency, so that what one user has built another one may install.
	@[ -e $(BUILD)/lib/libplimsoll.so.$(VERSION) ] || $(MAKE) --no-print-directory lib
	@$(INSTALL) install $(BUILD) $(VERSION)

uninstall: ## Remove what `make install` put there
	@$(INSTALL) uninstall $(BUILD) $(VERSION)

tool: setup ## Build the plimsoll tool: build/bin/plimsoll
	$(CARGO) build --release --locked -p plimsoll-cli
	@mkdir -p $(BUILD)/bin
	cp $(TARGET)/release/plimsoll $(BUILD)/bin/plimsoll

PROXY_SOURCES := ffi/examples/proxy.c $(wildcard ffi/examples/proxy/*.c)

proxy: lib load-driver ## Build the example proxy, its origin and its load driver into build/bin
	@mkdir -p $(BUILD)/bin
	$(CC) $(CFLAGS) -I include -I ffi/examples -o $(BUILD)/bin/proxy $(PROXY_SOURCES) $(LINK)

runners: lib ## Build the replay runners in C and C++ into build/bin
	@.ci/setup pkg-config yajl nlohmann-json
	@mkdir -p $(BUILD)/bin
	$(CC) $(CFLAGS) -D_POSIX_C_SOURCE=200809L -I include -o $(BUILD)/bin/replay-c ffi/runners/c/*.c \
	    $(LINK) $$(pkg-config --cflags --libs yajl)
	@# In one unit: the JSON header takes most of the compiler's time.
	printf '#include "%s"\n' $(CURDIR)/ffi/runners/cpp/*.cpp | $(CXX) $(CXXFLAGS) -I include \
	    -x c++ - -x none -o $(BUILD)/bin/replay-cpp $(LINK)

demo: proxy tool ## A proxy; hosts fail, recover, report load, keep sessions, get hot: the split beside the expected one
	examples/demo.sh $(BUILD)/bin

envoy-module: setup ## Build the module for Envoy: build/envoy/libplimsoll_envoy.so (docs/envoy.md)
	$(CARGO) build --release --locked -p plimsoll-envoy
	@mkdir -p $(BUILD)/envoy
	cp --remove-destination $(TARGET)/release/libplimsoll_envoy.so $(BUILD)/envoy/

# Without what else the example proxy needs.
load-driver: setup
	@mkdir -p $(BUILD)/bin
	$(CC) $(CFLAGS) -o $(BUILD)/bin/origin ffi/examples/origin.c
	$(CC) $(CFLAGS) -o $(BUILD)/bin/load ffi/examples/load.c

demo-envoy: envoy-module load-driver ## The module in a real Envoy: a busy zone, and where traffic goes, beside stock Envoy
	python3 examples/envoy/demo.py "$$(adapters/envoy/fetch)" $(BUILD)/envoy $(BUILD)/bin

differential: envoy-module tool ## Envoy, the module and replays side by side: docs/fidelity.md (SCENARIOS="word …" for some)
	python3 adapters/envoy/differential/compare.py --envoy "$$(adapters/envoy/fetch)" \
	    --module $(BUILD)/envoy --tool $(BUILD)/bin/plimsoll --doc docs/fidelity.md $(SCENARIOS)

docs: ## Build the references of C and C++: build/docs/c/html and build/docs/cpp/html
	@.ci/docs

test: setup ## Everything that must be green before a change lands (under 40 minutes on 2 cores)
	.ci/format
	.ci/lint
	.ci/unit
	.ci/loom
	.ci/proxy
	.ci/package
	.ci/runners
	.ci/go
	.ci/docs
	.ci/envoy

soak: setup ## What takes longer: deeper models, more random cases, Envoy under churn, fuzzing
	.ci/soak

fuzz: setup ## Fuzz each parser for a minute
	fuzz/run.sh 60

bench: setup ## Paired timings against peers (docs/performance.md)
	benches/run.sh

bench-envoy: setup ## The module in a real Envoy against Envoy's own policies (docs/performance.md)
	adapters/envoy/bench/run.sh

bench-instructions: ## Instruction counts under callgrind, checked against their budgets
	@.ci/setup valgrind
	benches/instructions.sh

abi-check: ## Compare the C interface with its baseline, ffi/abi/plimsoll.abi (docs/abi.md)
	@.ci/setup abidw
	ffi/package/abi.py check

clean: ## Remove everything that was built
	rm -rf $(BUILD)
	$(CARGO) clean
