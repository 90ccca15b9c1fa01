# Every target builds what it needs, from nothing but Python 3.11 to 3.13 and a network that reaches PyPI.
#   make PYTHON=/path/to/python ...   another Python for .venv (after `make clean`)
#   make JOBS=8 test                  more test processes

PYTHONS := python3.11 python3.12 python3.13 python3
JOBS ?= 2
VENV := .venv
READY := $(VENV)/.installed
RUN := $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help train test test-long speed bench lint clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

train: $(READY) ## train the quickstart agent, then show its table, plot and saved run
	@echo "==> train: configs/quickstart.yaml"
	$(RUN) scripts/train.py --config configs/quickstart.yaml

# One torch thread a process: the test processes share the cores.
test: lint ## lint, then the tests
	@echo "==> test: pytest, $(JOBS) processes"
	OMP_NUM_THREADS=1 $(RUN) -m pytest -n $(JOBS)

test-long: $(READY) ## the tests too slow for every run, then the wheel and sdist in empty environments
	@echo "==> test-long: pytest -m long, $(JOBS) processes"
	OMP_NUM_THREADS=1 $(RUN) -m pytest -m long -n $(JOBS)
	@echo "==> test-long: package"
	.ci/package

speed: $(READY) ## fail if the engine has become much slower, beside a fixed loop measured in the same run
	@echo "==> speed: scripts/check_speed.py"
	OMP_NUM_THREADS=1 $(RUN) scripts/check_speed.py

bench: $(READY) ## measure speed beside OpenSpiel, RLCard and the limit of memory; all figures go to runs/benchmark.json
	@echo "==> bench: the peers (extra bench), then scripts/benchmark.py"
	$(RUN) -m pip install --disable-pip-version-check -q -c constraints.txt -e '.[bench]'
	@mkdir -p runs
	$(RUN) scripts/benchmark.py --json runs/benchmark.json

lint: $(READY) ## ruff (rules and format) and mypy --strict
	@echo "==> lint: ruff, mypy"
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

clean: ## remove .venv, builds and caches; runs/ stays
	@echo "==> clean: .venv, dist, caches"
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is made last, so an interrupted install is done again.
$(READY): pyproject.toml constraints.txt
	@echo "==> $(VENV): the package in place, with the train and test extras, versions from constraints.txt"
	@if ! test -x $(VENV)/bin/pip; then \
		for python in $(or $(PYTHON),$(PYTHONS)); do \
			if "$$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
			then found="$$python"; break; fi; \
		done; \
		if test -z "$$found"; then \
			echo "no Python 3.11 to 3.13 with venv and pip found among: $(or $(PYTHON),$(PYTHONS))" >&2; exit 1; \
		fi; \
		echo "$$found -m venv $(VENV)"; \
		"$$found" -m venv --clear $(VENV); \
	fi
	$(RUN) -m pip install --disable-pip-version-check -c constraints.txt -e '.[train,test]'
	@touch $@
