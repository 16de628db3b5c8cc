"""Speak with an editor: problems of kernels as diagnostics, measures as hovers (Language Server Protocol)."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  tilewright lsp"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none: editors start it, and speak over standard input and output."""


def execute(options: argparse.Namespace) -> int:
    from ..api.language_server import make_server

    make_server().start_io()
    return 0
