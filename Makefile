# The front door. Each target calls CMake's presets; nothing is built here.
JOBS ?= $(shell nproc)
# A part of a bench program's name: make bench ONLY=step
ONLY ?=
PRESET ?= dev

.PHONY: demo check bench format setup

# One teardown in a simulated site of three machines, from adoption to verified evidence.
demo: setup
	cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS) --target programs
	tools/demo build/release/bin

# Builds and runs every test.
check: setup
	cmake --preset $(PRESET) >/dev/null
	cmake --build --preset $(PRESET) -j $(JOBS)
	ctest --preset $(PRESET) -j $(JOBS)

# A line of JSON per figure on stdout, a table on stderr.
bench: setup
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target programs benches >&2
	@tools/bench build/release/bin "$(ONLY)"

format:
	git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

setup:
	@tools/setup
