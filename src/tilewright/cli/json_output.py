"""`--json [FILE]`: to a file, or to standard output, where nothing else is printed then."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

STDOUT = Path("-")
ENDINGS = (".json", ".json.gz")


def add_json(parser: argparse._ActionsContainer, what: str = "the record") -> None:
    """`--json [FILE]`, with one meaning in all commands."""
    parser.add_argument(
        "--json", nargs="?", type=json_file, const=STDOUT, metavar="FILE",
        help=f"write {what} as JSON to FILE; without FILE, or with -, to standard output, and the text to standard error "
        "(default: text alone)",
    )  # fmt: skip


def json_file(text: str) -> Path:
    """The name of a file for JSON. It ends in .json: a kernel or ladder after `--json` is not taken for a file."""
    path = Path(text)
    special = path.exists() and not path.is_file()  # such as /dev/stderr; a folder gets a better sentence later
    if path != STDOUT and not special and not text.lower().endswith(ENDINGS):
        raise argparse.ArgumentTypeError(
            f"{text}: the name must end in {' or '.join(ENDINGS)}, or be - for standard output"
        )
    return path


@contextmanager
def standard_output_for_json(options: argparse.Namespace) -> Iterator[None]:
    """A context for a command. If its JSON goes to standard output, everything else goes to standard error."""
    if getattr(options, "json", None) != STDOUT:
        yield
        return
    options.stdout, options.documents = sys.stdout, []
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if options.documents:
            print("[\n" + ",\n".join(text.rstrip() for text in options.documents) + "\n]")


def print_json(options: argparse.Namespace, text: str, several: bool = False) -> None:
    """Print a JSON text on standard output; the texts of a command that has several become one list."""
    if several:
        options.documents.append(text)
    else:
        print(text.rstrip(), file=options.stdout)
