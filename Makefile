# Every target makes the virtual environment it needs; nothing is installed by hand.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-all fuzz kill browser lint bench bench-quick bench-results bench-comparison docs-tables clean

$(VENV)/.light: pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; say make PYTHON=python3 with a Python 3.11 or newer"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.ready: $(VENV)/.light bench/pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[dev]" -e "bench[dev]"
	@touch $@

demo: $(VENV)/.light
	$(BIN)/hierseed demo

test: $(VENV)/.ready lint
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/.ready lint
	$(BIN)/python -m pytest

# Damaged files in all formats: each is read as before or refused with one of our errors.
fuzz: $(VENV)/.ready
	$(BIN)/python tests/fuzz/fuzz.py --mutations 100000

# Commands killed with -9 at random moments, and run again: nothing lost, same bytes.
kill: $(VENV)/.ready
	$(BIN)/python tests/kill/kill.py --kills 200

# What the tests of the workbench drive: Debian's chromium, and axe-core for accessibility.
browser: $(VENV)/.ready
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }
	@test -f .browser/node_modules/axe-core/axe.min.js || npm install --silent --prefix .browser axe-core@4

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.ready
	for script in bench/scripts/bench_*.py; do $(BIN)/python $$script || exit 1; done

# A small table from nothing, under five minutes.
bench-quick: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench quick

# Every run that is missing, then every table and figure; goes on where it was stopped.
bench-results: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench all --jobs 2

# The same for the eight systems of the paper, which need PyTorch.
bench-comparison: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet -e . -e "bench[neural,hlda]"
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench all --part systems-seeds --part systems-full \
		--part systems-reduced --part systems-checks --jobs 2

# Fill every table of docs/ and README.md from results/; a test checks that they are up to date.
docs-tables: $(VENV)/.ready
	$(BIN)/hierseed bench docs

clean:
	rm -rf $(VENV) dist build
