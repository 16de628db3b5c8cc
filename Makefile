# What developers run; CI runs the same commands by .ci/run.
.PHONY: check test format reword
run = uv run --group dev

check:  ## format, lint, types, and the tests that need neither a device nor a compiler, on two processes
	$(run) ruff format --check .
	$(run) ruff check .
	$(run) mypy
	$(run) pytest -q -n 2 tests/pure

test:  ## everything, on every OpenCL driver that works here
	$(run) pytest

format:
	$(run) ruff format .
	$(run) ruff check --fix .

reword:  ## for maintainers: tests/pure on a copy whose comments and docstrings say other words
	folder=$$(mktemp -d) && $(run) python -m tools.reword $$folder && cd $$folder && \
	PYTHONPATH=src:. $(run) --project $(CURDIR) python -m pytest -q -n 2 tests/pure && rm -r $$folder
