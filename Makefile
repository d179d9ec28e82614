# make demo   a simulated Raspberry Pi Pico is taught gestures, left alone, and taught again
# make test   linters, type checks and the fast tests, with a real MicroPython; TIER=boards has the tests of
#             a tier, TIER=all those of all tiers (CONTRIBUTING.md)
# make attack all attacks with one seed, and a table of what held; ten to fifteen minutes
# make mutants  one-line changes to the kernels, which their tests have to notice; a quarter of an hour
# make printed  the figures of README, the tutorial and the examples, as their commands print them now
# make ci     make web and make test with all tiers, and with Java, Chromium, Firefox, WebKit, onnx,
#             capymoa, torch and Sphinx for all of them
# make costs  instructions, bytes and accuracies beside those that docs/reference/results/counts.csv has
# make web    the page on which the board's own code learns; needs npm
# make release  what is published, in dist/: it says what is missing, and tries it with several Pythons
# make docs   the site in build/docs; a broken link or a docstring that cannot be read is an error
PYTHON ?= python3
BIN := .venv/bin
# Python compiles a module when it is imported for the first time; most of them never are
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
STUBS := .typings/micropython.pyi

.PHONY: attack ci compiled-packages constants costs debian demo docs machine-code mutants packages optional printed ready release test tests test-lowest test-newest lint types types-elsewhere web clean
.DELETE_ON_ERROR:
# Set, it has each of the many processes that the tests start compile its sources anew
unexport PYTHONDONTWRITEBYTECODE

demo: .venv/run
	$(BIN)/microshrub demo

# The tests to run: fast, boards, commands, peers, page, emulators, long, or all of them
TIER ?= fast
TESTS = $(if $(filter all,$(TIER)),tests,-m $(TIER))
test: .venv/bin/pip
	@$(MAKE) --no-print-directory --jobs 2 lint types tests
	@$(if $(filter all,$(TIER)),,echo "These were the $(TIER) tests; make ci runs those of all tiers.")

tests: ready
	$(BIN)/pytest -n auto --dist worksteal $(TESTS)

# In a fresh clone one process compiles what all workers import, while MicroPython is fetched.
ready: .venv/dev
	@{ [ -d tests/__pycache__ ] || $(BIN)/pytest --collect-only --quiet >/dev/null 2>&1; } & \
		$(BIN)/microshrub micropython && $(BIN)/microshrub micropython --board cortex-m0; \
		found=$$?; wait; exit $$found

# What docs/explanation/reliability.md tells of; SEED=N for another seed
SEED ?= 1
attack: .venv/dev
	$(BIN)/python tests/attack.py --seed $(SEED)

# One-line changes to the kernels; SAMPLE=3 draws so many of them
mutants: .venv/dev
	$(BIN)/python tests/mutants.py --seed $(SEED) $(if $(SAMPLE),--sample $(SAMPLE))

# Figures of the first pages and the examples, which tests hold to what is printed
printed: .venv/dev
	$(BIN)/python tests/reprint.py

# What runs a real MicroPython, on the newest version that Debian has
NEWEST := tests/firmware tests/tools/program tests/tools/link tests/host/boards
test-newest: .venv/dev
	MICROPYTHON="$$($(BIN)/microshrub micropython --newest | sed -n 's/^  command  //p')" \
		$(BIN)/pytest -n auto --dist worksteal $(NEWEST)

# What needs nothing but .venv/dev runs while the rest is installed
ci: .venv/bin/pip
	@$(MAKE) --no-print-directory --jobs 3 debian .venv/dev $(STUBS)
	@$(MAKE) --no-print-directory --jobs 4 optional types types-elsewhere ready
	CI=true $(MAKE) --no-print-directory --jobs 2 lint tests TIER=all

optional: .venv/dev
	.ci/optional $(BIN)/pip

debian:
	@.ci/optional

# The tests of what uses other packages most, on the oldest versions that pyproject.toml allows
LOWEST := $(addprefix tests/host/,api/adapters base cli evaluation/tuning library models/export \
	programs reports simulation streams) tests/tools/link
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check 'uv>=0.4'
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python \
		--resolution lowest-direct --editable '.[dev]'
	.venv-lowest/bin/python -m pytest -n auto --dist worksteal $(LOWEST)

docs: .venv/docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs
	@echo "The site is in build/docs/index.html"

# Wheel, sdist, packages of mip and site in dist/, and the wheel tried with several Pythons
PYTHONS ?= 3.10 3.11 3.12 3.13
release: web docs packages machine-code compiled-packages .venv/dev
	.ci/release $(BIN) $(PYTHONS)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m microshrub_host.library.shared_constants --check
	$(BIN)/python -m microshrub_tools.web.page_constants --check

# The page of `microshrub web`: first what Python knows, then the program
PAGE := tools/microshrub_tools/web/site
web: .venv/more tools/web/node_modules
	@echo "1 of 2: what the page knows of boards and learners; a minute or two"
	rm -rf $(PAGE)
	$(BIN)/python -m microshrub_tools.web.page_data $(PAGE)
	@echo "2 of 2: the page's program"
	cd tools/web && npm run --silent types && npm run --silent bundle -- $(abspath $(PAGE))

tools/web/node_modules: tools/web/package-lock.json
	@echo "npm fetches what the page is built with"
	cd tools/web && npm ci --silent --no-audit --no-fund
	@touch $@

# Instructions, bytes and accuracies beside those of before; red if one got worse without a word
costs: .venv/more
	$(BIN)/microshrub costs --history docs/reference/results/counts.csv

# Constants that several files of firmware/ share, written into those that use them
constants: .venv/run
	$(BIN)/python -m microshrub_host.library.shared_constants
	$(BIN)/python -m microshrub_tools.web.page_constants

types: .venv/dev $(STUBS)
	$(BIN)/mypy
	$(BIN)/mypy --config-file firmware/mypy.ini

types-elsewhere: .venv/dev $(STUBS)
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

# The kernels' machine code for each processor, and what it takes on each board, which the wheel
# brings; compilers come from Debian
machine-code: .venv/run
	$(BIN)/python -m microshrub_host.programs.native_files
	$(BIN)/python -c 'from microshrub_host.boards import board_files, typical_programs; \
		typical_programs.write_table(board_files.names())'

# What `mpremote mip install` copies to a board: firmware/package.json and its like
packages: .venv/run
	$(BIN)/python -c 'from microshrub_tools.board import package_list; package_list.write_packages()'

# The same, compiled for each processor; a release has them
compiled-packages: machine-code
	rm -rf build/mip
	$(BIN)/python -c 'from pathlib import Path; from microshrub_tools.board import package_list; \
		package_list.write_compiled(Path("build/mip"))'

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "microshrub needs Python 3.10 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: pyproject.toml | .venv/bin/pip
	$(INSTALL) --editable .
	@touch $@

# Also generated streams, and what is fast where there is no C compiler
.venv/more: pyproject.toml | .venv/bin/pip
	$(INSTALL) --editable '.[river,speed]'
	@touch .venv/run $@

# What both have, and more: one installation serves all
.venv/dev: pyproject.toml | .venv/bin/pip
	$(INSTALL) --editable '.[dev]'
	@touch .venv/run .venv/more $@

.venv/docs: .venv/run
	$(INSTALL) --editable '.[docs]'
	@touch $@

$(STUBS): pyproject.toml | .venv/bin/pip
	$(INSTALL) --upgrade --target .typings \
		'micropython-rp2-stubs>=1.24'
	@touch $@

clean:
	rm -rf $(PAGE) host/microshrub_host/programs/machine_code tools/web/node_modules build/docs .venv .venv-lowest .typings .mypy_cache .ruff_cache .pytest_cache demo.svg
