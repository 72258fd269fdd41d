# `make run` shows what Reverie does; `make test` runs every gate. Both set up all they need in .venv first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
NATIVE := $(VENV)/.native
RUST   := $(shell find rust -name '*.rs' -o -name 'Cargo.toml' -o -path 'rust/core/data/*' -type f 2>/dev/null)

export CARGO_TERM_PROGRESS_WHEN = never
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: run test lint types rust suite bench coverage soak fuzz clean lock format setup
.DEFAULT_GOAL := test

setup: $(NATIVE)

# The interpreter must be new enough before anything is downloaded.
$(READY): packaging/python.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Reverie needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@command -v cargo >/dev/null || { echo "Reverie needs a Rust toolchain (cargo). See https://rustup.rs"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r packaging/python.lock
	@touch $@

# Both distributions are installed in editable form; the native module is built with the release profile.
$(NATIVE): $(READY) Cargo.toml Cargo.lock pyproject.toml daemon/pyproject.toml $(RUST)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release --locked
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable ./daemon
	@touch $@

run: setup
	$(BIN)/reverie demo $(SESSION) $(ARGS)

# `make test SUITE=coverage` counts the lines that the suite runs, which takes more than half as long again.
SUITE ?= suite
test: setup lint rust $(SUITE)

lint: setup
	$(BIN)/ruff format --check python daemon tests
	$(BIN)/ruff check python daemon tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings

rust: setup
	cargo test --locked --quiet --workspace

# Files go to the workers in their order, integration tests first: sorted by how many tests they have, the few long ones
# of one test would come last, and one worker would wait for the other. Four workers keep two cores busy: a worker waits
# for daemons, clocks and time limits more than a third of the time.
PYTEST := pytest -n 4 --dist loadfile --no-loadscope-reorder

suite: setup
	$(BIN)/$(PYTEST) $(ARGS)

# The suite, with its lines counted in this process and in every process that it starts.
coverage: setup
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m $(PYTEST) $(ARGS)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# All benchmarks, or BENCH='store.reads /tmp'. With BESIDE=TREE, those that can run in another checkout's .venv too, in turns.
bench: setup
	$(BIN)/python tests/bench/run.py $(BENCH) $(if $(BESIDE),--beside $(BESIDE))

soak: setup
	REVERIE_SOAK=1 $(BIN)/pytest --timeout=7200 $(ARGS)

# Every law of the native core under libFuzzer, EACH seconds a law; LAW=name runs one. Findings stay in target/fuzz.
EACH    ?= 600
SANCOV  := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
           -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1
fuzz:
	@SECONDS_EACH=$(EACH) LAW='$(LAW)' RUSTFLAGS="$(SANCOV)" rust/fuzz/run

format: setup
	$(BIN)/ruff format python daemon tests
	$(BIN)/ruff check --fix python daemon tests
	cargo fmt --all

lock: $(READY)
	$(BIN)/uv pip compile packaging/python.in --quiet --generate-hashes --no-annotate --no-header --no-emit-index-url --python-version 3.11 --universal -o packaging/python.lock

clean:
	rm -rf $(VENV) target dist build htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find python daemon tests -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/reverie/_native*.so
