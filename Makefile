# Every target sets up .venv by itself; nothing is done twice unless pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test lint bench verify clean
.DELETE_ON_ERROR:

demo: $(VENV)/base.stamp  ## explain, sample and refute an example with a planted bug
	@echo 'A sparse vector technique whose noise shrinks as its answers are used up, as a program:'
	@echo
	$(BIN)/dpverdict explain examples/countdown_svt.py:countdown_svt --input 0,1,0
	@echo
	$(BIN)/dpverdict sample examples/countdown_svt.py:countdown_svt --input 0,1,0 --runs 1e6
	@echo
	@echo 'Its claim, for every ε and every pair of neighbours (exit status 1 says that it is refuted):'
	@echo
	$(BIN)/dpverdict prove examples/countdown_svt.py:countdown_svt --domain -1,0,1 --length 5; test $$? -eq 1

test: $(VENV)/test.stamp  ## the tests, without the long checks
	$(BIN)/python -m pytest

lint: $(VENV)/lint.stamp  ## style, format, types and the rooms' imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp  ## every benchmark in turn
	@set -e; for file in benchmarks/bench_*.py; do \
		test -e "$$file" || { echo 'no benchmarks yet'; break; }; \
		echo "--- $$file"; $(BIN)/python "$$file"; \
	done

verify: $(VENV)/test.stamp  ## the long checks; pytest ends with 5 when there are none, which is no failure
	$(BIN)/python -m pytest -m slow || test $$? -eq 5

clean:  ## remove what the other targets made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage

$(VENV)/base.stamp: EXTRAS :=
$(VENV)/test.stamp: EXTRAS := [test]
# mypy reads the types of what the sources import, so lint installs the optional packages too.
$(VENV)/lint.stamp: EXTRAS := [gpu,lint]

$(VENV)/%.stamp: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.$(EXTRAS)'
	@touch $@
