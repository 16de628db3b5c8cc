# What developers run; CI runs the same commands by .ci/run.
.PHONY: check test format

check:  ## format, lint, types, and the tests that need no device
	uv run ruff format --check .
	uv run ruff check .
	uv run mypy
	uv run pytest -q tests/pure

test:  ## everything, on every OpenCL driver that works here
	uv run pytest

format:
	uv run ruff format .
	uv run ruff check --fix .
