# Two commands matter: `make demo` and `make test`. Everything lives in .venv in this folder.
# A second run installs nothing: each installation leaves a stamp.

PYTHON ?= python3
PYTEST_JOBS ?= 2
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
LOCK := $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url
SOURCES := src tests benchmarks

.PHONY: help demo test quick lint types contracts bench lock format clean
.DELETE_ON_ERROR:

help:  ## Say what can be done here
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: .venv/.runtime  ## Run the main job end to end on the bundled receipts
	@mkdir -p out
	$(BIN)/sureline demo --report out/demo.html $(DEMO_ARGS)

test: .venv/.dev .venv/.browser lint types contracts  ## Lint, types, contracts and all tests
	$(BIN)/pytest -n $(PYTEST_JOBS)

quick: .venv/.dev lint types contracts  ## The same without the slow tests
	$(BIN)/pytest -n $(PYTEST_JOBS) -m "not slow"

lint: .venv/.dev
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)

types: .venv/.dev
	$(BIN)/mypy

contracts: .venv/.dev
	$(BIN)/lint-imports

format: .venv/.dev  ## Format the code
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: .venv/.dev  ## Print the ratios of the performance targets, in their quick form
	@for file in benchmarks/p[0-9]_*.py benchmarks/threshold.py; do \
	  echo "== $$file"; quick=; ! grep -q -e --quick $$file || quick=--quick; \
	  $(BIN)/python $$file $$quick || exit 1; \
	done

lock: .venv/.dev  ## Lock what pyproject.toml asks for: names, versions and hashes, no address
	$(LOCK) --all-extras pyproject.toml -o requirements/runtime.txt
	$(LOCK) --all-extras --group dev pyproject.toml -o requirements/dev.txt
	$(LOCK) --group build -o requirements/build.txt

clean:  ## Remove the environment and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sureline needs Python 3.11 or later; say which with: make demo PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

# The project is installed without building in isolation, so that its build tools are locked too.
.venv/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml | .venv/.made
	$(PIP) install --require-hashes -r requirements/build.txt
	$(PIP) install --require-hashes -r requirements/runtime.txt
	$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.runtime
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# The report's pictures are taken with Debian's Chromium; without it those tests say that they
# were skipped.
.venv/.browser: | .venv/.made
	@if command -v chromium >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else echo "chromium is not installed; the screenshot tests will be skipped"; fi
	@touch $@
