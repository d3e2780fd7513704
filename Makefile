# `make help` lists what there is to do. Everything sets up what is missing (.venv, from the locks) by itself.

.DEFAULT_GOAL := help
# A rule's output is never a file, and two rules at once would set the same environment up twice.
.PHONY: help setup wheel verifier connector image demo test drills debian citus faults check format bench lock sbom advisories clean
.NOTPARALLEL:

# What was compiled is kept, whatever the machine says: else each of hundreds of processes compiles all of it.
unexport PYTHONDONTWRITEBYTECODE

# ARGS is handed to the command: `make demo ARGS=--exit`, `make test ARGS="tests/ecf -x"`.
ARGS ?=
PYTHON ?=
UV ?= uv
BUILDER ?= podman
BIN := .venv/bin
CITUS_PGBIN ?=
# Each starts a cluster of its own: three servers.
CITUS_WORKERS ?= 2
CITUS_TESTS := tests/store tests/queue tests/operations tests/issuing tests/actors tests/http/contract tests/cli tests/system \
	tests/webhooks tests/mail tests/month tests/metering tests/accounts tests/voidings tests/contingency tests/receiving \
	tests/archiving tests/certification tests/portal tests/faults/test_on_citus.py tests/ops/test_citus_runbook.py
# What an older server could refuse or plan differently: migrations, functions, every statement, plans, roles, pooling.
DEBIAN_TESTS := $(addprefix tests/store/test_,accept*.py claim_together.py functions.py migrate.py new_database.py \
	numbers.py outbox*.py plans*.py plpgsql_check.py roles.py schema.py sql.py transaction_pooling.py) \
	tests/operations tests/cli/test_doctor.py
ENGINE ?= postgres

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## Make .venv from the locks (every other target does so first)
	@PYTHON="$(PYTHON)" .ci/setup

wheel: setup ## Build dist/fe-VERSION-py3-none-any.whl, with the locked build tools
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

verifier: setup ## Build dist/fe-verify-archive.pyz, the program that checks archives with Python alone
	@$(BIN)/python -m fe.archive.program dist

connector: setup ## Build dist/fe-ecf-woocommerce.zip, the plugin for WooCommerce
	@$(BIN)/python -m connectors.build dist

# '+' separates release and commit in a version, and is not allowed in a tag.
image: setup ## Build the image fe:VERSION; BUILDER=docker
	@version=$$($(BIN)/python setup.py -q --version) && \
	$(BUILDER) build $(if $(filter podman,$(BUILDER)),--format docker) -f Containerfile \
		--build-arg BUILD_VERSION="$$version" --tag "fe:$$(echo "$$version" | tr + -)" .

demo: setup ## Show the whole road with a simulated authority; ARGS=--exit ends at once
	@$(BIN)/fe demo $(ARGS)

test: setup ## Run the tests, three more at once than there are cores; ARGS goes to pytest
	@$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

drills: setup ## Run what is too long for `make test`: generators, installations, newcomers, failovers; ARGS goes to pytest
	@$(BIN)/pytest -m drill -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

debian: setup ## Run what hangs on the server's version on Debian's Postgres too, where it is installed
	@if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
		FE_TEST_POSTGRES=debian $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder $(DEBIAN_TESTS) $(ARGS); \
	else \
		echo "SKIPPED: no Postgres of Debian's packages here (apt-get install postgresql); only the embedded one was tried." >&2; \
	fi

citus: setup ## Run what needs a database on Citus; CITUS_PGBIN: programs of a Postgres that has it, or FE_TEST_CITUS_URL
	@if [ -x "$(CITUS_PGBIN)/initdb" ]; then \
		FE_TEST_CITUS="$(CITUS_PGBIN)" $(BIN)/pytest -rx -n $(CITUS_WORKERS) --dist loadfile --no-loadscope-reorder $(CITUS_TESTS) $(ARGS); \
	elif [ -n "$$FE_TEST_CITUS_URL" ]; then \
		$(BIN)/pytest -rx $(CITUS_TESTS) $(ARGS); \
	else \
		echo "SKIPPED: CITUS_PGBIN names no folder with the programs of a Postgres that has Citus installed." >&2; \
	fi

faults: setup ## Run the fault suite; FAULTS_SEED, FAULTS_SECONDS and FAULTS_CALLS choose which and how long; ENGINE=citus
	@if [ "$(ENGINE)" != citus ]; then \
		$(BIN)/python -m tests.faults $(ARGS) && $(BIN)/python -m tests.http.storm; \
	elif [ -x "$(CITUS_PGBIN)/initdb" ]; then \
		FE_TEST_CITUS="$(CITUS_PGBIN)" $(BIN)/python -m tests.faults --no-mutants $(ARGS); \
	else \
		echo "SKIPPED: CITUS_PGBIN names no folder with the programs of a Postgres that has Citus installed." >&2; \
	fi

check: setup ## Formatting, lint, types, imports, SQL, plain words in changed files
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --disable-progress-bar sql/migrations sql/functions fe/store/citus
	$(BIN)/python -m tests.plain_words

format: setup ## Format the Python code and repair what lint can repair
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: setup ## Run every benchmark, in under 15 minutes; ARGS="--peers FOLDER" compares with others' programs too
	$(BIN)/python -m bench $(ARGS)

lock: ## Compute requirements/*.lock anew from pyproject.toml (needs uv)
	$(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header requirements/build.in -o requirements/build.lock
	$(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements/run.lock
	$(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header --extra pkcs11 --extra s3 --extra tracing pyproject.toml -o requirements/extras.lock
	$(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header requirements/audit.in -o requirements/audit.lock
	$(UV) pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header --extra dev pyproject.toml -o requirements/dev.lock

sbom: ## List what a server runs, with hashes and licences as far as told (CycloneDX), in build/fe.cdx.json
	@.ci/audit-tools
	@mkdir -p build
	.audit/bin/cyclonedx-py requirements --output-reproducible --of JSON --sv 1.6 --pyproject pyproject.toml -o build/fe.cdx.json requirements/run.lock

advisories: ## Ask the public advisories about all that is locked (needs the network)
	@.ci/audit-tools
	.audit/bin/pip-audit --require-hashes --disable-pip -r requirements/run.lock
	.audit/bin/pip-audit --require-hashes --disable-pip -r requirements/dev.lock

clean: ## Remove what tools left behind (.venv and .fe stay)
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build fe.egg-info
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
