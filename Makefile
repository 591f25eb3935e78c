# Works with any POSIX shell. Variables to set on the command line or in the environment:
#   PYTHON        interpreter that makes .venv (3.11 to 3.13)
#   PIP_FLAGS     further arguments of pip, such as another package index
#   PYTEST_FLAGS  arguments of pytest; "-n auto" runs the slow tests too, '-n auto -m slow' those alone
#   BENCH_FLAGS, SOAK_FLAGS, TABLES_FLAGS, STANDINGS_FLAGS  arguments of the commands of those targets, such as "--jobs 2"
PYTHON ?= python3
PIP_FLAGS ?=
# Workers take whole stretches of tests, so that few make the same fixtures, and help each other out at the end.
PYTEST_FLAGS ?= -n auto --dist worksteal -m "not slow"

VENV = .venv
BIN = $(VENV)/bin
# setuptools warns at length whenever an editable install maps folders; that is what we ask for.
PIP = PYTHONWARNINGS=ignore::UserWarning $(BIN)/python -m pip install --disable-pip-version-check --quiet

# .venv is brought up to date when these files change in content, whatever their dates say.
KEY := $(shell cat pyproject.toml constraints.txt | cksum | tr ' ' '-')
MADE = $(VENV)/.made
USE = $(VENV)/.use-$(KEY)
DEV = $(VENV)/.dev-$(KEY)

# mypy cannot see a mapped editable install, so it checks an installed copy.
TYPES = build/types

.PHONY: help quickstart install bots test coverage lint types docs bench soak tables standings clean

help:
	@echo "make quickstart  install into $(VENV), train an agent, measure it, export it"
	@echo "make install     install into $(VENV) with everything for development"
	@echo "make bots        fetch what the tests of the examples in JavaScript and C# need (npm), into tests/bots"
	@echo "make test        run the tests"
	@echo "make coverage    the same, with coverage of envs and agents measured"
	@echo "make lint        check style and formatting (ruff)"
	@echo "make types       check types (mypy)"
	@echo "make docs        make what docs/ takes from the code, and build the site into build/docs"
	@echo "make bench       measure how fast things are"
	@echo "make soak        play a million random rounds of every rule set with invariants checked"
	@echo "make tables      make the tables of percentile anew, those that are not there already"
	@echo "make standings   play all built-in agents under every rule set, into docs/strength.md"
	@echo "make clean       remove builds and caches, but not $(VENV)"

quickstart: $(USE)
	$(BIN)/prial quickstart

install: $(DEV)

bots: tests/bots/javascript/node_modules/.made tests/bots/csharp/node_modules/.made

tests/bots/%/node_modules/.made: tests/bots/%/package-lock.json
	cd $(dir $(@D)) && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

test: $(DEV)
	$(BIN)/pytest $(PYTEST_FLAGS)

coverage: $(DEV)
	$(BIN)/pytest $(PYTEST_FLAGS) --cov --cov-report=term-missing:skip-covered

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	rm -rf build prial.egg-info
	@$(PIP) --no-deps --no-build-isolation --target $(TYPES) .
	MYPYPATH=$(TYPES) $(BIN)/mypy -p prial.envs -p prial.agents -p prial.training

docs: $(DEV)
	$(BIN)/python tests/docs/made_blocks.py
	$(BIN)/mkdocs build --strict --quiet

bench: $(USE)
	$(BIN)/prial bench $(BENCH_FLAGS)

soak: $(USE)
	$(BIN)/prial soak $(SOAK_FLAGS)

tables: $(USE)
	$(BIN)/prial tables percentile --all --out agents/data/percentile $(TABLES_FLAGS)

standings: $(USE)
	$(BIN)/prial standings --out docs/strength.md $(STANDINGS_FLAGS)

clean:
	rm -rf build dist prial.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
	find envs agents training configs tests -type d -name __pycache__ -prune -exec rm -rf {} +

# A venv that was made by hand will do; half a one, from an interrupted run, is made again.
$(MADE):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; \
	  sys.exit(0 if (3, 11) <= v <= (3, 13) else "prial needs Python 3.11 to 3.13, but $(PYTHON) is %d.%d: name another, as in make PYTHON=python3.12" % v)'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(USE): $(MADE)
	@echo "Installing prial into $(VENV) (a minute or two the first time)"
	@$(PIP) --constraint constraints.txt $(PIP_FLAGS) --editable ".[train,export]"
	@rm -f $(VENV)/.use-* && touch $@

$(DEV): $(USE)
	@echo "Installing what development needs into $(VENV)"
	@$(PIP) --constraint constraints.txt $(PIP_FLAGS) --editable ".[dev]"
	@rm -f $(VENV)/.dev-* && touch $@
