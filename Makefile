# Every command of the project. `make` alone lists them. All can be run again at any time.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.NOTPARALLEL:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# One set of features for clippy, tests and the window, so that dependencies are compiled once for each.
TESTED := --workspace --features pilot-cli/faults,pocketpilot/e2e,pocketpilot/custom-protocol
RUN_DIR := target/run
say = @printf '\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help
help: ## this list
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | sort | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: deps
deps: ## install what building and running needs, only what is missing
	$(call say,what building needs)
	@scripts/deps.sh build

.PHONY: deps-test
deps-test: ## besides, what the window and browser tests need
	$(call say,what the tests need)
	@scripts/deps.sh test

# ---- run ------------------------------------------------------------------------------------------------------------

.PHONY: ui
ui: deps ## build the window's page
	$(call say,build the page)
	@npm --prefix ui run build --silent

.PHONY: run
run: ui ## build the app and open it on a copy of the demo folder
	$(call say,build the app)
	@cargo build -p pocketpilot -p pilot-cli --features pocketpilot/custom-protocol
	mkdir -p $(RUN_DIR)
	[ -d $(RUN_DIR)/demo-workspace ] || cp -r demo-workspace $(RUN_DIR)/demo-workspace
	printf '\033[1m== %s\033[0m\n' "open it on $(RUN_DIR)/demo-workspace (app data in $(RUN_DIR)/data)"
	export POCKETPILOT_DATA_DIR=$(abspath $(RUN_DIR))/data
	target/debug/pilot workspaces add $(RUN_DIR)/demo-workspace >/dev/null
	exec target/debug/pocketpilot

.PHONY: demo
demo: ## write demo-workspace/ and evals/demo-truth.json anew
	$(call say,write the demo folder)
	@cargo run -q -p pilot-evals --bin make-demo -- .

.PHONY: bindings
bindings: ## write the page's TypeScript types anew from the Rust types
	$(call say,types of the page)
	@POCKETPILOT_UPDATE=1 cargo nextest run -p pilot-service bindings

# ---- checks ---------------------------------------------------------------------------------------------------------

.PHONY: fmt
fmt: ## format the Rust code
	@cargo fmt --all

.PHONY: check
check: ## the quick round: format, clippy, core tests, page tests
	$(call say,format)
	@cargo fmt --all --check
	$(call say,clippy)
	@cargo clippy $(TESTED) --all-targets --quiet -- -D warnings
	$(call say,core tests)
	@cargo nextest run $(TESTED) --profile quick
	$(call say,page tests)
	@npm --prefix ui test --silent

.PHONY: test
test: deps-test test-docs test-ui test-rust test-browser e2e ## everything that must be green
	$(call say,all green)

.PHONY: test-docs
test-docs: ## documents, licences and sources of dependencies
	$(call say,documents)
	@python3 scripts/check_docs.py
	$(call say,licences and sources of dependencies)
	@python3 scripts/check_deps.py

.PHONY: test-ui
test-ui: ## types, lint, tests and build of the page
	$(call say,page: types)
	@npm --prefix ui run check --silent
	$(call say,page: lint)
	@npm --prefix ui run lint --silent
	$(call say,page: tests)
	@npm --prefix ui test --silent
	$(call say,page: build)
	@npm --prefix ui run build --silent

.PHONY: test-rust
test-rust: ## format, clippy and all core tests with fault points
	$(call say,format)
	@cargo fmt --all --check
	$(call say,clippy)
	@cargo clippy $(TESTED) --all-targets --quiet -- -D warnings
	$(call say,core tests)
	@cargo nextest run $(TESTED)

.PHONY: test-browser
test-browser: ## the page in Chromium with recorded data, and accessibility
	$(call say,page in a browser)
	@npm --prefix ui run e2e --silent

.PHONY: e2e
e2e: ## the real window, driven through WebKitWebDriver
	$(call say,the real window)
	@# With the tests, so that the features of dependencies are those of the core tests and nothing is compiled twice.
	cargo build $(TESTED) --bin pocketpilot --tests
	tests/window/run

.PHONY: deny
deny: ## cargo-deny with its advisory database (installs it; needs the network)
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check

# ---- longer runs ----------------------------------------------------------------------------------------------------

.PHONY: soak
soak: ## the counts of docs/figures.md, ten times those of make test; up to an hour
	$(call say,soak)
	@POCKETPILOT_SOAK=1 cargo nextest run $(TESTED) --profile soak --run-ignored all

.PHONY: race
race: ## the guard against a swapper, a million tries, beside a naive guard that does escape
	$(call say,race)
	@cargo nextest run -p pilot-guard --profile soak --no-capture --run-ignored only long_race

.PHONY: bench
bench: ## the figures of docs/figures.md: criterion benches, then the programs as wholes
	$(call say,benches)
	@scripts/bench.sh

.PHONY: test-llm
test-llm: ## the main job with a real model: POCKETPILOT_BASE_URL and POCKETPILOT_MODEL, or a local one where it is there
	$(call say,the main job with a real model)
	@cargo build $(TESTED) --bin pilot --tests
	scripts/test-llm.sh
