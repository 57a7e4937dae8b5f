# From an empty machine: Python 3.11 or newer and make are enough. `make conformance` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.installed

.PHONY: help install conformance older engines-large races matrix matrix-large relay writers test reword scenarios proofs bench scale trace trace-check lint types docs site publish catalogs format lock release check-install clean

help:           ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

install: $(READY)    ## make the environment in .venv, from the lock file

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

# An engine that is slow on a busy machine has not crashed.
TIMEOUT = --timeout 120

# Makes targets that use one processor for most of their time; the make of macOS cannot keep their outputs together.
TWO_AT_A_TIME = $(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

# Engines whose folders say that installing them takes much, in all versions; and the words by which pytest finds their tests.
LARGE = $(shell $(BIN)/python -c "from conformance.engine_setup.catalog import catalog; print(*sorted(one.label for one in catalog().engines if one.by_name))")
LARGE_NEWEST = $(shell $(BIN)/python -c "from conformance.engine_setup.catalog import catalog; print(*sorted({one.name for one in catalog().engines if one.by_name}))")
PRODUCERS = $(shell $(BIN)/python -c "from conformance.cli.matrix import members; print(*members('producer'), 'golden')")
CONSUMERS = $(shell $(BIN)/python -c "from conformance.cli.matrix import members; print(*members('consumer'))")
LARGE_TESTS = $(shell $(BIN)/python -c "from conformance.engine_setup.catalog import catalog; print(*sorted({one.name for one in catalog().engines if one.by_name}), sep=' or ')")

# Tests and engines start hundreds of processes, each of which would compile the modules that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Requirements in reports lead to their pages where `make docs` has built them, else to the spec.
export ICEBERG_CONFORMANCE_SITE ?= $(if $(wildcard site/index.html),../site)

conformance: $(READY)    ## replay every vector against the reference and the real engines, with known deviations
	-$(BIN)/iceberg-conformance engines install --all
	@echo "$(words $(STEPS)) steps, two at a time, which takes about ten minutes; each prints its results when it ends"
	+$(TWO_AT_A_TIME) $(STEPS)

STEPS = conformance-readers conformance-plain conformance-writers conformance-properties conformance-races conformance-matrix
.PHONY: $(STEPS)

conformance-readers: $(READY)
	$(BIN)/iceberg-conformance run --all-engines --latest --jobs 2 -k "not table.write and not table.change" --expect known-deviations --results results/conformance.jsonl --report json:results/conformance.json --report html:results/conformance.html --report junit:results/conformance.xml $(TIMEOUT)

conformance-plain: $(READY)
	$(BIN)/iceberg-conformance run --adapter reference:plain --expect known-deviations $(TIMEOUT)

conformance-writers: $(READY)
	$(BIN)/iceberg-conformance run --adapter reference --adapter pyiceberg --jobs 2 -k "table.write or table.change" --expect known-deviations --results results/conformance-writers.jsonl $(TIMEOUT)

conformance-properties: $(READY)
	$(BIN)/iceberg-conformance filter-pushdown --adapter reference --seed 0 --examples 300
	$(BIN)/iceberg-conformance filter-pushdown --adapter iceberg-java --seed 0 --examples 60 --exclude null --exclude nan --exclude zero --exclude uuid $(TIMEOUT)
	$(BIN)/iceberg-conformance metamorphic --adapter reference --seed 0 --examples 15

conformance-races: $(READY)
	$(BIN)/iceberg-conformance race explore --faults 1

conformance-matrix: conformance-readers
	$(BIN)/iceberg-conformance matrix --quick --producer reference --producer spark-reference --producer iceberg-java --producer pyiceberg --producer golden --golden-results results/conformance.jsonl --results results/matrix.jsonl --report html:results/matrix.html $(TIMEOUT)

older: $(READY)    ## replay every vector against the older versions of engines too: ten minutes
	-$(BIN)/iceberg-conformance engines install --all
	$(BIN)/iceberg-conformance run --all-engines --jobs 2 -k "not table.write and not table.change" --expect known-deviations --results results/older.jsonl --report html:results/older.html $(TIMEOUT)

engines-large: $(READY)    ## install the engines that take minutes and much disk, and replay every vector: an hour
	$(BIN)/iceberg-conformance engines install --large
	$(BIN)/iceberg-conformance run $(LARGE:%=--adapter %) --expect known-deviations --results results/engines-large.jsonl --report html:results/engines-large.html $(TIMEOUT)
	$(BIN)/python -m pytest tests/engines tests/validate/test_reading_facts.py -k "$(LARGE_TESTS)"

races: $(READY)    ## explore every race of commits on every kind of table: twenty minutes of one quiet processor
	$(BIN)/iceberg-conformance race explore --faults 1 --thorough

matrix: $(READY)    ## run every script of the matrix with every producer and consumer but the large engines: a quarter of an hour
	$(BIN)/iceberg-conformance matrix --results results/matrix.jsonl --report html:results/matrix.html --report markdown:results/matrix.md $(TIMEOUT)

matrix-large: $(READY)    ## run the matrix with the large engines that are installed too: half an hour
	$(BIN)/iceberg-conformance matrix $(addprefix --producer ,$(PRODUCERS) $(LARGE_NEWEST)) $(addprefix --consumer ,$(CONSUMERS) $(LARGE_NEWEST)) --results results/matrix.jsonl --report html:results/matrix.html --report markdown:results/matrix.md $(TIMEOUT)

relay: $(READY)    ## let the reference, Iceberg-Java and PyIceberg change tables in turn: 100 scripts, a quarter of an hour
	$(BIN)/iceberg-conformance relay --adapter reference --adapter iceberg-java --adapter pyiceberg --seed 0 --examples 100 --max-failures 5 $(TIMEOUT) --expect known-deviations --report html:results/relay.html

writers: $(READY)    ## run every script of table.write and table.change with every engine that writes, and read the tables with PyIceberg too: an hour
	$(BIN)/iceberg-conformance run --all-engines --jobs 2 -k "table.write or table.change" --second-reader pyiceberg --expect known-deviations --results results/writers.jsonl --report html:results/writers.html $(TIMEOUT)

test: $(READY)    ## lint, check the types and pass every test, including those with real engines
	+$(TWO_AT_A_TIME) lint types
	tools/system_packages.sh
	$(BIN)/iceberg-conformance engines install --all
	-$(BIN)/iceberg-conformance engines install moto iceberg-rest hive-metastore
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --durations 30 --hypothesis-profile repeatable -p tools.trace_recorder --trace-out results/trace.json
	$(BIN)/python -m tools.trace --check --run results/trace.json
	$(BIN)/python -m tools.bench --quick --rounds 1

reword: $(READY)    ## run every test with randomly reworded messages, which shows that nothing depends on a text: as long as the tests
	$(BIN)/iceberg-conformance engines install --all
	nice -n 15 $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --hypothesis-profile repeatable --reword

EXAMPLES ?= 1000
SEED ?= 0
scenarios: $(READY)    ## follow EXAMPLES random scripts of 8 to 12 operations from SEED on, and compare the table with a model after every operation
	nice -n 15 $(BIN)/iceberg-conformance scenarios --adapter reference --seed $(SEED) --examples $(EXAMPLES) --min-operations 8 $(if $(PASSED),--passed $(PASSED))

mutants: $(READY)    ## run every mutant of the reference against the vectors and checks (half an hour of one core)
	nice -n 15 $(BIN)/python -m tools.mutants run
	nice -n 15 $(BIN)/python -m tools.mutants.sequences

proofs: $(READY)    ## prove theorems about the code of spec_ref with a solver (minutes of all cores)
	nice -n 15 $(BIN)/python -m tools.proofs

# Coverage-guided fuzzing: Linux on x86-64 with Python 3.11 to 3.13.
ATHERIS := $(VENV)/atheris/.installed

$(ATHERIS): $(READY) tools/fuzz/requirements.lock
	rm -rf $(VENV)/atheris
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-deps --target $(VENV)/atheris -r tools/fuzz/requirements.lock
	@touch $@

SECONDS ?= 600
fuzz: $(READY) $(ATHERIS)    ## break inputs of every reader for twice SECONDS of processor time, then ask engines random questions
	nice -n 15 $(BIN)/python -m tools.fuzz --seconds $(SECONDS) --guided $(SECONDS)
	$(BIN)/iceberg-conformance engines install iceberg-java pyiceberg
	nice -n 15 $(BIN)/python -m tools.fuzz.differential --examples 200

bench: $(READY)    ## measure every claim about speed against its peers (twenty minutes of a quiet machine)
	$(BIN)/iceberg-conformance engines install --all
	$(BIN)/python -m tools.bench --write

scale: $(READY)    ## measure tables of millions of files and 200 million rows against limits of memory and growth (half an hour)
	$(BIN)/iceberg-conformance engines install spark-reference
	nice -n 15 $(BIN)/python -m tools.scale --write

trace: $(READY)    ## write SPEC_TRACE.md
	$(BIN)/python -m tools.trace

trace-check: $(READY)    ## check that SPEC_TRACE.md is up to date, and that each requirement has a proof or a reason
	$(BIN)/python -m tools.trace --check

lint: $(READY) trace-check docs    ## ruff, the linter of the vectors, their derivations, known deviations, the trace, the index, the words, and the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m conformance.vectors.lint
	$(BIN)/python -m tools.check_deviations
	$(BIN)/python -m tools.index --check
	$(BIN)/python -m tools.mutants check
	$(BIN)/python -m tools.docstrings
	$(BIN)/python -m tools.words
	$(BIN)/codespell README.md SECURITY.md CHANGELOG.md docs conformance spec_ref tools tests vectors/README.md vectors/CHANGELOG.md
	$(BIN)/python -m tools.derive.build --check
	$(BIN)/python -m tools.schemas --check

docs: $(READY)    ## build the documentation in site/; a warning is an error
	$(BIN)/python -m tools.docs.protocol --check
	$(BIN)/python -m tools.docs.engines --check
	$(BIN)/python -m tools.docs.versions --check
	$(BIN)/python -m tools.docs.site

site: docs      ## build the site in site/, with the results of engines in docs/results

# `make conformance`, `make older` and `make matrix` write results files, too. Two clients, and the servers that have one of them.
STRESS = $(BIN)/iceberg-conformance race stress --processes 4 --seconds 40 --seed 7 --format json
catalogs: $(READY)    ## stress every installed catalog with each client: ten minutes
	mkdir -p results
	-for server in sqlite postgresql iceberg-rest nessie; do $(STRESS) --server $$server --client reference --server-kills 1 > results/stress-$$server-reference.json; done
	-for server in sqlite postgresql iceberg-rest nessie hive-metastore glue glue-unchecked; do $(STRESS) --server $$server --client pyiceberg > results/stress-$$server-pyiceberg.json; done

publish: $(READY)    ## make docs/results, which the site shows, from the results files in results/
	$(BIN)/python -m tools.docs.results results

types: $(READY)    ## mypy, strict: all but the tests themselves
	$(BIN)/mypy

format: $(READY)    ## let ruff rewrite what it can
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate

lock:           ## rewrite the lock files from pyproject.toml (needs uv), for development and for running only
	$(LOCK) --group dev --output-file requirements.lock
	$(LOCK) --constraint requirements.lock --output-file requirements-run.lock
	$(subst pyproject.toml,--group fuzz,$(LOCK)) --output-file tools/fuzz/requirements.lock

release: $(READY)    ## build the wheel, the sdist, the archive of vectors and SHA256SUMS in dist/; the same commit gives the same bytes
	rm -rf dist
	$(BIN)/python -m tools.release dist

check-install: release    ## install the wheel on the oldest and the newest Python of this machine, and use it as a new user
	$(BIN)/python -m tools.check_install dist

clean:          ## remove everything that these commands made
	rm -rf $(VENV) results site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
