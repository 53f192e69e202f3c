# Thin: every target sets up first, which is quick when there is nothing to do.
#
#   make demo       the main job on real data, and a fit to censored ones
#   make quick      format, lint, types and the nearest NumPy tests of what
#                   changed against origin/main, or BASE=commit; within 90 s
#   make check      the same with all tests of what changed, on all substrates
#   make test       all but the slow tests; closes with `N passed, N failed, N skipped`
#   make test-slow  all cases of sweeps that `make test` runs a part of
#   make test-all   both
#   make test-versions   the wheel with the oldest and the newest JAX,
#                   TensorFlow and NumPy, on each Python that is found
#   make test-wheels     each wheel of dist/ as it is shipped: suites and a sample of
#                   accuracy, under emulation for aarch64
#   make fuzz       judged calls drawn at random, for SECONDS=600, SEED=1; see
#                   tests/campaign/README.md
#   make test-pymc  the PyMC recipe of docs/guide.md
#   make test-msprime    exact values of genealogies against simulations of
#                   msprime; some minutes
#   make references figures of regressions and multi-state models by R, lifelines
#                   and mpmath, in tests/oracle; a minute
#   make mutants    COUNT=200 changed lines of math/ and distributions/, drawn with
#                   SEED=1, of which the NumPy tests must find all that matter;
#                   about an hour, see tests/mutants/README.md
#   make bench      speed against other ways to compute the same; about 6 min
#   make bench-page the same, and writes docs/benchmarks.md from it
#   make bench-cost what calls cost as models and q t grow; writes
#                   docs/benchmarks_cost.md
#   make bench-peers     speed against the libraries that users would take
#                   instead; writes docs/benchmarks_peers.md
#   make bench-panel     multi-state models against R's msm, which must be
#                   installed; writes docs/benchmarks_panel.md
#   make bench-slow which methods of hard models of 31 to 600 phases take over 2 s
#   make docs       the site, in .build/site: all pages, all cells executed
#   make docs-quick the same without running pages that are marked slow
#   make linkcheck  links to other sites; needs a network
#   make sanitize        native tests under sanitizers, and the fuzzer
#   make sanitize-quick  its first part, as CI runs it
#   make sdist      dist/phasic_substrates-*.tar.gz, which builds without Bazel
#   make test-sdist builds wheels from it, as pip does, and runs the suites of
#                   `make test-versions` on them; CC and CXX choose the compiler
#   make wheel      dist/phasic_substrates-*.whl
#   make wheel-any  the wheel without native code, for any system
#   make wheels     wheels of a release: glibc 2.28 and later, on x86-64 and
#                   aarch64, for each Python that headers are found of
#   make reproducible    builds the wheel again in another folder, compiling all of
#                   it, and compares the bytes; a quarter of an hour or more
#   make format     formats Python and C++, and writes the tables of rooms
#   make lint       formatter, linters; on generated code too
#   make typecheck  mypy on source and generated code
#   make golden     rewrites the rewriter's golden files, and that of public names
#   make lock       resolves requirements/*.in again (needs uv)
#   make clean      removes what was built in this clone
#   make clean-cache     empties the caches that all clones share

PY := .venv/bin/python

.PHONY: setup demo quick check test test-slow test-all test-versions test-sdist test-wheels test-pymc fuzz \
  test-msprime references mutants sanitize sanitize-quick bench bench-page bench-cost bench-peers bench-panel bench-slow \
  docs docs-quick linkcheck sdist wheel wheel-any wheels reproducible format lint typecheck golden lock clean \
  clean-cache

setup:
	@./setup.sh

demo: setup
	@tools/run_installed.sh examples/strikes_demo.py
	@tools/run_installed.sh examples/survival.py --output=examples/survival.png

quick: setup
	@$(PY) -m tools.loops.loop quick

check: setup
	@$(PY) -m tools.loops.loop check

test: setup
	@tools/run_tests.sh

test-slow: setup
	@tools/run_tests.sh slow

test-all: setup
	@tools/run_tests.sh all

test-versions: setup
	@tools/test_versions.sh

test-wheels: setup
	@tools/test_wheels.sh

fuzz: setup
	@tools/run_installed.sh -m tests.campaign.campaign $(or $(SECONDS),600) $(or $(SEED),1)

test-sdist: setup
	@tools/test_versions.sh sdist

test-pymc: setup
	@tools/test_beside.sh pymc tests/pymc/recipe_test.py

test-msprime: setup
	@tools/test_beside.sh msprime tests/msprime/ancestry_test.py

references: setup
	@tools/references.sh

mutants: setup
	@tools/test_beside.sh mutants tests/mutants/mutants.py $(or $(COUNT),200) $(or $(SEED),1)

sanitize: setup
	@tools/sanitize.sh

sanitize-quick: setup
	@tools/sanitize.sh quick

bench: setup
	@bazel run --ui_event_filters=-info --noshow_progress //benchmarks:run

bench-page: setup
	@bazel run --ui_event_filters=-info --noshow_progress //benchmarks:run -- --page

bench-slow: setup
	@bazel run --ui_event_filters=-info --noshow_progress //benchmarks:slow_calls

bench-cost: setup
	@bazel run --ui_event_filters=-info --noshow_progress //benchmarks:cost -- --page

bench-peers: setup
	@tools/bench_peers.sh --page

bench-panel: setup
	@bazel run --ui_event_filters=-info --noshow_progress //benchmarks/peers:run -- --panel --page

docs: setup
	@tools/docs.sh

docs-quick: setup
	@tools/docs.sh quick

linkcheck: setup
	@tools/docs.sh linkcheck

wheel: setup
	@./pip_pkg.sh

sdist: setup
	@tools/sdist.sh dist

wheel-any: setup
	@tools/build_any_wheel.sh dist

wheels: setup
	@tools/wheels.sh

reproducible: setup
	@tools/reproducible.sh

format: setup
	@tools/format.sh

lint: setup
	@tools/lint.sh

typecheck: setup
	@tools/typecheck.sh

golden: setup
	@$(PY) substrates/meta/update_goldens.py
	@PHASIC_REQUIRE_KERNEL=0 $(PY) -m tools.update_public_names

lock:
	@tools/lock.sh

clean:
	rm -rf dist .build .bazel
	bazel clean

clean-cache:
	@tools/clean_cache.sh
