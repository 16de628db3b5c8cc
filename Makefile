# What developers run; CI runs the same commands by .ci/run.
.PHONY: check test format reword

check:  ## format, lint, types, and the tests that need neither a device nor a compiler, on two processes
	uv run ruff format --check .
	uv run ruff check .
	uv run mypy
	uv run pytest -q -n 2 tests/pure

test:  ## everything, on every OpenCL driver that works here
	uv run pytest

format:
	uv run ruff format .
	uv run ruff check --fix .

# `make reword TESTS=tests/device/cli` for other tests: those on devices one after the other.
TESTS ?= -n 2 tests/pure

reword:  ## for maintainers: tests on a copy whose comments and docstrings say other words
	folder=$$(mktemp -d) && uv run python -m tools.reword $$folder && cd $$folder && \
	PYTHONPATH=$$folder/src:$$folder uv run --project $(CURDIR) python -m pytest -q $(TESTS) && rm -r $$folder
