# Two lines a newcomer needs: `make demo` shows tidegate at work, `make test` proves it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check bench clean

demo: $(VENV)/bin/tidegate
	@set -e; home=$$(mktemp -d); trap 'rm -rf "$$home"' EXIT; \
	export XDG_CONFIG_HOME="$$home/config" XDG_STATE_HOME="$$home/state"; \
	for line in "What is my balance?" "save 10 USDC" "swap 2 SUI to USDC" "what are the rates"; do \
	    printf '\n$$ tidegate ask "%s"\n' "$$line"; \
	    $(BIN)/tidegate ask "$$line" --output text; \
	done

$(VENV)/bin/tidegate: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet .
	@touch $@

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet '.[dev]'
	@touch $@

# Types are checked on the installed package, because mypy does not see through an editable install.
test: $(STAMP)
	$(BIN)/pip install --quiet --force-reinstall --no-deps .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cd tests && ../$(BIN)/mypy --config-file ../pyproject.toml -p tidegate.core -p tidegate.cli
	$(BIN)/pytest -n 4 --cov=tidegate --cov-branch --cov-report=
	$(BIN)/coverage report --include='*/tidegate/core/writes/*,*/tidegate/core/policy/*,*/tidegate/core/store/*' \
	    --fail-under=95 --skip-covered

check: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python tests/benchmarks/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info
