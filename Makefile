# What developers run; CI runs the same commands by .ci/run.
.PHONY: check test lowest format reword docs playground
run = uv run --group dev

check:  ## format, lint, types, and the tests that need neither a device nor a compiler, on two processes
	$(run) ruff format --check .
	$(run) ruff check .
	$(run) mypy
	$(run) pytest -q -n 2 tests/pure

test:  ## everything, on every OpenCL driver that works here
	$(run) pytest

lowest:  ## some tests with the lowest versions that pyproject.toml states, two minutes
	.ci/lowest

format:
	$(run) ruff format .
	$(run) ruff check --fix .

docs:  ## the documentation's site, in build/site; broken links are errors
	$(run) --group docs python -m mkdocs build --strict

playground:  ## the playground, in build/site/playground; it needs Node.js
	$(run) python -m tools.playground build build/site/playground

# `make reword TESTS=tests/device/cli` for other tests: those on devices one after the other.
TESTS ?= -n 2 tests/pure

reword:  ## for maintainers: tests on a copy whose comments and docstrings say other words
	folder=$$(mktemp -d) && $(run) python -m tools.reword $$folder && cd $$folder && \
	PYTHONPATH=$$folder/src:$$folder $(run) --project $(CURDIR) python -m pytest -q $(TESTS) && rm -r $$folder
