# Every target does its own set-up; Rust (https://rustup.rs) is all that is needed, and Python 3 for `make bench`.

CARGO ?= cargo
BENCH_ARGS ?=
EXPERIMENTS_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test traces lint doc bench bench-exact kernels experiments experiments-quick ci rust

help:
	@echo "make demo     the built-in example from file to report: a table, its certificate, a page"
	@echo "make test     all tests, documentation examples included"
	@echo "make traces   every algorithm's trace on the paper's simulation (n=200, p=3000, SNR 20)"
	@echo "make lint     formatting and lints, warnings as errors"
	@echo "make doc      the library's documentation, into target/doc"
	@echo "make bench    timing against installed peers (BENCH_ARGS=--quick for the small problems)"
	@echo "make bench-exact  branch and bound to proof on the simulation, and against el0ps; about half an hour"
	@echo "make kernels  throughput of the kernels: passes over X, sweeps, exchanges"
	@echo "make experiments  the paper's figures and two more into experiments/; hours, resumes where it was ended"
	@echo "make experiments-quick  three replicates of a few settings with checks, into target/; two minutes"
	@echo "make ci       what a change must pass"

rust:
	@command -v $(CARGO) >/dev/null || { echo "cargo was not found; install Rust from https://rustup.rs" >&2; exit 1; }

demo: rust
	$(CARGO) run --release -p bestset-cli --bin bestset -- demo --directory target/demo

test: rust
	$(CARGO) test --workspace
	@echo "make test: all tests passed"

traces: rust
	$(CARGO) run --release -p bestset-cli --bin bestset -- compare

lint: rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

doc: rust
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

bench: rust
	$(CARGO) build --release -p bestset-cli
	bench/setup.sh
	bench/.venv-peers/bin/python bench/run.py $(BENCH_ARGS)

bench-exact: rust
	$(CARGO) build --release -p bestset-cli
	bench/setup.sh
	bench/.venv-peers/bin/python bench/exact.py

kernels: rust
	$(CARGO) bench -p bestset --bench kernels

# EXPERIMENTS_ARGS=--help lists figures, filters, caps; EXPERIMENTS_ARGS=--report-only makes RESULTS.md anew.
experiments: rust
	$(CARGO) run --release -p bestset-experiments -- $(EXPERIMENTS_ARGS)

experiments-quick: rust
	$(CARGO) run --release -p bestset-experiments -- --out target/experiments-quick --fresh --check --replicates 3 --cap 0.5 \
		--settings snr20-n200,snr5-n300,p2000-n200,snr5-rho0.4-n150,snr5-rho0.9-n150,rho0.35-snr2.07

ci:
	.ci/run
