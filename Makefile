# Every target makes the virtual environment it needs; nothing is installed by hand.
# The first of these Pythons that is 3.11 to 3.14 and can make virtual environments; another one
# is named with `make PYTHON=...`, another place for the environment with `make VENV=...`.
FITS   := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
FOUND   = $(shell for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$name -c '$(FITS)' 2>/dev/null && echo $$name && break; done)
PYTHON ?= $(FOUND)
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

# The build of PyTorch for processors, without gigabytes of CUDA. pip takes it where its own
# configuration offers it, else uv does, which knows where PyTorch keeps it; last, whatever
# PyPI has (on macOS, Windows and ARM that is the processor build).
TORCH  ?= 2.13.0

PYTEST  = $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

.PHONY: demo test test-neural test-browser test-doors test-install test-lowest test-all coverage fuzz kill torch \
	browser doors lint bench \
	bench-quick bench-results bench-comparison docs docs-pictures docs-tables clean

$(VENV)/.light: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python from 3.11 to 3.14 that has venv and ensurepip was \
	found (Debian: apt install python3-venv); name one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c '$(FITS)' || { echo "make: $(PYTHON) is not a Python from 3.11 to 3.14 that has \
	venv and ensurepip"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.ready: $(VENV)/.light bench/pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[dev]" -e "bench[dev]"
	@touch $@

demo: $(VENV)/.light
	$(BIN)/hierseed demo

# What needs neither PyTorch nor a browser.
test: $(VENV)/.ready lint
	$(PYTEST) -m "not slow and not browser"

# Every file of tests that names PyTorch or what is built on it: the eight systems of the paper,
# the GPU code on PyTorch's CPU device, transformers.
test-neural: torch
	$(PYTEST) -m "neural and not slow" --stage neural

# The workbench and the report in a real browser.
test-browser: browser
	$(PYTEST) tests/app tests/report -m "browser and not slow" --stage browser

# Tools of others that pin their own versions: Annif, Label Studio's SDK, R.
test-doors: doors
	$(PYTEST) tests/doors --stage doors

# Wheel and sdist in empty environments, with pip and with uv; size and time are on docs/start.md.
test-install: $(VENV)/.ready
	$(BIN)/python -m pytest -m slow tests/test_install.py

# The lowest versions that pyproject.toml allows; other packages warn of old ones, so warnings pass.
test-lowest: $(VENV)/.ready
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct \
		-e ".[all,api,duckdb]" -e bench
	$(BIN)/uv pip install --quiet --python .venv-lowest \
		pytest pytest-xdist hypothesis polars bcubed "hiclass>=5" httpx build uv
	.venv-lowest/bin/python -m pytest -n $(JOBS) --dist loadfile -o filterwarnings=default \
		-m "not slow and not browser"

test-all: $(VENV)/.ready torch browser doors lint
	$(PYTEST) --stage all

# Which lines the tests of `make test` never reach; the least covered files first.
coverage: $(VENV)/.ready
	$(PYTEST) -m "not slow and not browser" --cov --cov-report=
	$(BIN)/python -m coverage report --sort=cover --skip-covered

# Damaged files in all formats: each is read as before or refused with one of our errors.
fuzz: $(VENV)/.ready
	$(BIN)/python tests/fuzz/fuzz.py --mutations 100000 --record fuzz

# Commands killed with -9 at random moments, and run again: nothing lost, same bytes.
kill: $(VENV)/.ready
	$(BIN)/python tests/kill/kill.py --kills 200 --record kills

torch: $(VENV)/.neural

$(VENV)/.neural: $(VENV)/.ready
	$(BIN)/python -c "import torch" 2>/dev/null \
		|| $(BIN)/python -m pip install --quiet "torch==$(TORCH)+cpu" \
		|| { $(BIN)/python -m pip install --quiet uv \
			&& $(BIN)/uv pip install --quiet --python $(BIN)/python --torch-backend cpu torch; } \
		|| $(BIN)/python -m pip install --quiet torch
	$(BIN)/python -m pip install --quiet -e ".[dev,gpu,transformers,sentence-transformers]" \
		-e "bench[dev,neural,hlda,bertopic,setfit]"
	@touch $@

# What the tests of the workbench drive: Debian's chromium, and axe-core for accessibility.
browser: $(VENV)/.ready
	@bash tests/app/get_browser.sh

doors: .doors/.ready

.doors/.ready: $(VENV)/.ready
	$(BIN)/python -m venv .doors/annif && .doors/annif/bin/pip install --quiet annif
	$(BIN)/python -m venv .doors/label-studio && .doors/label-studio/bin/pip install --quiet label-studio-sdk
	@command -v Rscript >/dev/null || { apt-get update -qq && apt-get install -y -qq r-base-core; } \
		|| echo "make: R is not installed, and apt-get needs root here; tests/doors/test_r.py skips"
	@touch $@

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Every measurement that two cores can make; bench_gpu and bench_machine need larger machines.
bench: $(VENV)/.ready
	for script in $(filter-out %_gpu.py %_machine.py,$(wildcard bench/scripts/bench_*.py)); do \
		$(BIN)/python $$script || exit 1; done

# A small table from nothing, under five minutes.
bench-quick: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench quick

# Every run that is missing, then every table and figure; resumes where it was stopped.
bench-results: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench all --jobs 2

# The same for the eight systems of the paper, which need PyTorch.
bench-comparison: torch
	OMP_NUM_THREADS=1 $(BIN)/hierseed bench all --part systems-seeds --part systems-full \
		--part systems-reduced --part systems-checks --jobs 2

# The site, offline, into build/site/html. A warning, a dead link, or a page that loads anything
# from another host fails it.
docs: $(VENV)/.ready
	$(BIN)/python docs/site/build.py

# Draw the pictures of tutorials and examples again.
docs-pictures: $(VENV)/.ready
	HIERSEED_KEEP_PICTURES=1 $(PYTEST) tests/test_docs_python.py tests/test_examples.py

# Fill every table of docs/ and README.md from results/; a test checks that they are up to date.
docs-tables: $(VENV)/.ready
	$(BIN)/hierseed bench docs

clean:
	rm -rf $(VENV) dist build
