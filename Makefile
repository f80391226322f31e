# `make demo` and `make test` set up everything they need in .venv/ and end by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)

.PHONY: help demo test test-all test-rest test-hostile test-recovery test-pythons check lint types mutants bench bench-sandbox bench-check bench-versions bench-dashboard \
	pictures audits check-audits bench-sql bench-scaling calibrate agreement docs dashboard lab notebooks reproduce starter-results clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

# uv installs ten times faster than pip; where it cannot be had, pip does the same from the same locked versions.
$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip -q
	if $(BIN)/python -m pip install -q uv 2>/dev/null && \
	   $(BIN)/python -m uv pip install -q --compile-bytecode --python $(BIN)/python -r requirements.lock; then \
	  $(BIN)/python -m uv pip install -q --no-deps --python $(BIN)/python -e .; \
	else \
	  $(BIN)/python -m pip install -q -r requirements.lock && $(BIN)/python -m pip install -q --no-deps -e .; \
	fi
	rm -f $(VENV)/.ready-*
	touch $@

demo: $(READY)  ## Simulated coders on the starter benchmark, in a minute
	$(BIN)/difftrust demo

# Three processes, as on two processors a third of the tests' time is waiting: for a page, a server, an attack's end;
# whichever is done takes tests from the others. Byte code is kept: hundreds of processes load the same modules.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 3 --dist worksteal --durations 10
# The slow ones wait more: three processes left a third of two processors idle.
PYTEST_SLOW := $(PYTEST) -n 4

test: $(READY)  ## Every package, command and page once, a real browser included; four minutes
	$(PYTEST) -m "not slow"

test-all: $(READY)  ## All tests: those of `make test` and the slow rest; half an hour
	$(PYTEST)

test-rest: $(READY)  ## What `make test` leaves out, and what needs bubblewrap or Chromium; 28 minutes
	$(PYTEST_SLOW) -m "slow or full_machine"

test-hostile: $(READY)  ## The hostile suite 20 times, as root also for an ordinary user; a million texts for the reader
	DIFFTRUST_HOSTILE_ROUNDS=20 DIFFTRUST_TEXTS=1000000 $(PYTEST) --timeout 7200 tests/hostile tests/base/test_literals.py

test-recovery: $(READY)  ## 25 kills that land of each command that writes, full disks, second writers; the same bytes then
	DIFFTRUST_KILLS=25 DIFFTRUST_SANDBOX_KILLS=200 $(PYTEST) tests/recovery

# Each in an environment of its own, .venv-3.12 and so on. A shim of pyenv may stand on the PATH and start nothing.
PYTHONS ?= 3.12 3.13
test-pythons:  ## `make test` on Python 3.12 and 3.13, or PYTHONS="3.12"; one that is not found is named
	@failed=; for version in $(PYTHONS); do found=; \
	  for each in "$$(command -v python$$version)" $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python; do \
	    if [ -z "$$found" ] && "$$each" -c "" 2>/dev/null; then found=$$each; fi; \
	  done; \
	  if [ -z "$$found" ]; then echo "== Python $$version is neither on the PATH nor in pyenv: not tested"; continue; fi; \
	  echo "== Python $$version: $$found"; \
	  $(MAKE) --no-print-directory test PYTHON=$$found VENV=.venv-$$version || failed="$$failed $$version"; \
	done; if [ -n "$$failed" ]; then echo "== failed on Python$$failed"; exit 1; fi

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: lint types  ## Lint, format and types

bench: $(READY)  ## Everything that docs/performance.md says, in one run; half an hour
	$(BIN)/python -m tests.bench.performance

bench-sandbox: $(READY)  ## What the sandbox costs over a bare loop, on the same programs and inputs
	$(BIN)/python -m tests.bench.sandbox

mutants: $(READY)  ## 200 small mutations of what computes or keeps results: which tests notice; half an hour
	$(BIN)/python -m tests.bench.mutants

bench-sql: $(READY)  ## How well fuzzed databases tell wrong queries from right ones, on 200 Spider questions
	$(BIN)/python -m tests.bench.sql

bench-check: $(READY)  ## How often `difftrust check` is right, by class; PEERS=1 beside two peers, PLANTED=1 on planted faults
	$(BIN)/python -m tests.bench.check $(if $(PEERS),--peers) $(if $(PLANTED),--planted)

bench-versions: $(READY)  ## What `difftrust diff` says of recorded programs whose behaviour is known; writes data/versions; half an hour
	$(BIN)/python -m tests.bench.versions

agreement: $(READY)  ## Write the tables of docs/agreement.md anew; INPUTS="reference domain tests" a section for each; two minutes
	$(BIN)/python -m tests.support.agreement $(if $(INPUTS),--inputs $(INPUTS))

docs: $(READY)  ## Write the tables and figures that README.md and docs/ quote of the shipped results anew; 3 minutes
	$(BIN)/python -m tests.support.documents
	$(BIN)/python -m tests.support.agreement --inputs reference domain tests

audits: $(READY)  ## Write the data set in data/audits anew; INPUTS=1 seeks its inputs again (needs the benchmarks; 15 minutes)
	$(BIN)/python -m difftrust.audit_package $(if $(INPUTS),inputs,build)

check-audits: $(READY)  ## Check audits that somebody proposes: FILE=rows.csv, docs/audits.md
	$(BIN)/python -m difftrust.audit_package check $(FILE)

pictures: $(READY)  ## The pictures of the dashboard in docs/: each page light, dark and on a phone
	$(BIN)/python -m tests.bench.pictures docs

bench-dashboard: $(READY)  ## What the dashboard takes, on the shipped results or STORE=DIR
	$(BIN)/python -m tests.bench.dashboard $(if $(STORE),--store $(STORE))

bench-scaling: $(READY)  ## How commands grow with the tasks of a store, 250 to 4,000; takes ten minutes
	$(BIN)/python -m tests.bench.scaling

calibrate: $(READY)  ## Write docs/calibration.md anew, recorded coders from the shipped results or STORE=DIR
	$(BIN)/python -m tests.support.calibrate $(if $(STORE),--store $(STORE))

dashboard: $(READY)  ## The dashboard in the browser, on the shipped results or STORE=DIR
	$(BIN)/difftrust dashboard $(if $(STORE),--store $(STORE))

lab: $(READY)  ## JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks

notebooks: $(READY)  ## Execute the notebooks in place; the same bytes unless data or code changed
	$(BIN)/python -m tests.notebooks

# Everything recorded (565,676 candidates, see data/README.md) on n = 1,000 inputs, GPT-4o at t = 0.6 on n = 10,000.
# Needs the recorded candidates: `difftrust fetch`, or DIFFTRUST_DATA. Stop it whenever you like; it resumes.
reproduce: $(READY)  ## Execute everything recorded, write data/results
	$(BIN)/difftrust reproduce --store stores/paper --out data/results

starter-results: $(READY)  ## Execute the simulated coders on the starter tasks, write data/starter-results; 3 minutes
	$(BIN)/difftrust reproduce --benchmark starter --store stores/starter --out data/starter-results

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis
