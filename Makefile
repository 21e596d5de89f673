# Looking Back: the commands of the course. `make help` lists them.
#
# Every target works from a fresh clone: it first makes its own virtual environment from
# requirements.lock. Settings, given as `make book PYTHON=/opt/python3.12/bin/python3`:
#   PYTHON   the Python, 3.11 to 3.15, that the environment is made from
#   TORCH    cpu (without CUDA), default (what pip brings) or auto: cpu where no NVIDIA card is
#   PORT     where `make serve` listens (8000)
#   WORKERS  how many processes run tests (3, since they wait for browsers and sandboxes)
#   PYTEST   further options for pytest, as in `make test PYTEST="-x -k beam"`

.DEFAULT_GOAL := help
.SILENT:
# `make -j2 test` runs lint beside the book, which has one core to itself while Sphinx reads and writes.
ifneq ($(MAKECMDGOALS),test)
.NOTPARALLEL:
endif

PORT ?= 8000
PYTHON ?=
TORCH ?= auto
WORKERS ?= 3
PYTEST ?=

VENV := .venv
SITE := book/_build/html
# The stamp carries a checksum of what decides the environment, so that a changed lock (or a branch
# with another one) installs again, whatever the files' dates say.
KEY := $(shell cat requirements.lock pyproject.toml | cksum | cut -d ' ' -f 1)
STAMP := $(VENV)/.installed-$(KEY)
# Kernels and subprocesses find `python` and `course` of this environment first.
WITH_VENV := PATH="$$PWD/$(VENV)/bin:$$PATH" PYTHONNOUSERSITE=1
# Where several processes work beside each other, each has one thread: threads that wait for each
# other's cores take far longer than one.
ONE_THREAD_EACH := $(WITH_VENV) OMP_NUM_THREADS=1
# A file's tests stay together, since they share what they have set up. The files come in the order
# that tests/conftest.py gives them, not of how many tests they have: the long ones have few.
RUN_TESTS := $(ONE_THREAD_EACH) python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# How long things take on 2 cores without a GPU, said before they start. README.md states the same.
INSTALL_TIME := 2 to 5 minutes
BOOK_TIME := 2 to 4 minutes, seconds when nothing changed
GRADE_TIME := about a minute
TEST_TIME := 15 to 25 minutes, the book included
TEST_ALL_TIME := more than an hour

.PHONY: help book pdf test test-all lint exercises notebooks record grade serve lock clean announce-test announce-test-all

help: ## list the commands
	echo "Looking Back. On a fresh machine the first command also installs ($(INSTALL_TIME))."
	grep -E '^[a-z-]+:.*## ' Makefile \
		| awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

book: $(STAMP) ## execute and render every chapter into book/_build/html/index.html
	echo "make book: executes and renders every chapter, $(BOOK_TIME)."
	$(ONE_THREAD_EACH) jupyter-book build . -n -W --keep-going --path-output book
	echo "make book: done. Open $(SITE)/index.html, or run \`make serve\`."

pdf: book ## the whole book as one PDF: book/_build/looking-back.pdf (needs Chromium)
	echo "make pdf: prints every page, about 2 minutes."
	$(WITH_VENV) PYTHONPATH=book/_ext python -m course_book.edition

test: announce-test lint book ## everything that CI checks: lint, types, the book, quick tests
	$(RUN_TESTS) -m "not slow" $(PYTEST)

test-all: announce-test-all test ## the slow proofs too; writes tests/PROOFS.md
	$(RUN_TESTS) -m slow --proofs tests/PROOFS.md $(PYTEST)

# What pip cannot bring is looked for first, so that nobody waits minutes to be told.
announce-test:
	bash .ci/programs
	echo "make test: lint, types, book and quick tests, $(TEST_TIME)."

announce-test-all:
	bash .ci/programs
	echo "make test-all: make test, then the slow proofs: $(TEST_ALL_TIME)."

lint: $(STAMP) ## ruff (lint, format), mypy and the order of imports
	$(WITH_VENV) ruff check --quiet .
	$(WITH_VENV) ruff format --quiet --check . \
		|| { echo "make lint: unformatted files; run $(VENV)/bin/ruff format ." >&2; exit 1; }
	$(WITH_VENV) mypy
	$(WITH_VENV) lint-imports --no-logo --no-cache

exercises: $(STAMP) ## solutions/ -> exercises/, the notebooks that students get
	$(WITH_VENV) course release

notebooks: $(STAMP) ## chapters and the workshop's pages -> book/notebooks/
	$(WITH_VENV) PYTHONPATH=book/_ext python -m course_book.generate

record: $(STAMP) ## record results anew: make record CHAPTER=08 [PART=maps]; alone it lists them
	$(WITH_VENV) python -m experiments $(CHAPTER) $(PART)

grade: $(STAMP) ## grade a small demonstration class end to end: zip, marks, feedback, report
	echo "make grade: a made-up class hands in, is graded and reported, $(GRADE_TIME)."
	$(WITH_VENV) course grade attention_by_hand --demo

serve: $(STAMP) ## show the built book on this machine only
	[ -f $(SITE)/index.html ] || { echo "make serve: no book yet; run make book." >&2; exit 1; }
	echo "The book: http://127.0.0.1:$(PORT)/ (Ctrl-C stops)"
	$(WITH_VENV) python -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

lock: $(STAMP) ## write requirements.lock anew from pyproject.toml
	$(WITH_VENV) python .ci/lock.py > requirements.lock.new
	mv requirements.lock.new requirements.lock
	git --no-pager diff --stat requirements.lock

clean: ## remove the built book and the tools' caches, keep the environment
	rm -rf book/_build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find book course_lib experiments tests -name __pycache__ -prune -exec rm -rf {} +

$(STAMP):
	INSTALL_TIME="$(INSTALL_TIME)" PYTHON="$(PYTHON)" TORCH="$(TORCH)" bash .ci/environment $(VENV)
	touch $@
