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

reword:  ## for maintainers: tests/pure on a copy whose comments and docstrings say other words
	folder=$$(mktemp -d) && uv run python -m tools.reword $$folder && cd $$folder && \
	PYTHONPATH=src:. uv run --project $(CURDIR) python -m pytest -q -n 2 tests/pure && rm -r $$folder
