"""A server of the Language Server Protocol: problems that `check` finds as diagnostics, measures of kernels as hovers.

A file is checked when it is opened and saved, and after a pause in typing, with the editor's texts of all open files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import url2pathname

from ..analysis.checks.checked import CheckedKernel, Problem
from ..core.install import install_extra
from ..core.numbers import figure
from ..core.source import read_source, unsaved
from ..core.version import VERSION
from ..errors import InvalidInput, TilewrightError, Unsupported
from .checking import check

if TYPE_CHECKING:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer
    from pygls.workspace import PositionCodec

SUFFIXES = (".cl", ".toml")
PAUSE_S = 0.4  # what is typed is checked after a pause of so many seconds


def make_server() -> LanguageServer:
    """A server that has not begun to listen. Unsupported, with what to install, without pygls."""
    try:
        from lsprotocol import types
        from pygls.lsp.server import LanguageServer
    except ImportError as error:
        raise Unsupported(f"lsp needs pygls: {install_extra('lsp')}") from error
    server = LanguageServer("tilewright", VERSION, types.TextDocumentSyncKind.Incremental)
    editor = Editor(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: types.DidOpenTextDocumentParams) -> None:
        editor.check(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(given: types.DidSaveTextDocumentParams) -> None:
        editor.check(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(given: types.DidChangeTextDocumentParams) -> None:
        await asyncio.sleep(PAUSE_S)  # the workspace has the change already, and takes further ones meanwhile
        document = server.workspace.text_documents.get(given.text_document.uri)
        if document is not None and document.version == given.text_document.version:
            editor.check(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(given: types.DidCloseTextDocumentParams) -> None:
        editor.forget(given.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(given: types.HoverParams) -> types.Hover | None:
        text = editor.hover(given.text_document.uri, given.position.line + 1)
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text)) if text else None

    return server


def path_of(uri: str) -> Path:
    """The file of a `file:` URI, made absolute."""
    return Path(url2pathname(urlparse(uri).path)).resolve()


class Editor:
    """What an editor has open, and what the last check of each file found."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.found: dict[Path, tuple[CheckedKernel, ...]] = {}
        self.told: dict[Path, set[Path]] = {}  # the files with problems that a file's check found

    def texts(self) -> dict[Path, str]:
        """The texts of all open files, saved or not."""
        return {path_of(uri): each.source for uri, each in self.server.workspace.text_documents.items()}

    def check(self, uri: str) -> None:
        """Check a file and tell the editor its problems, those in other files too. What a check does not understand is one.
        A file that was never saved is not checked."""
        path = path_of(uri)
        if path.suffix not in SUFFIXES or not path.is_file():
            return
        with unsaved(self.texts()):
            try:
                self.found[path] = check(path).kernels
                problems = [each for kernel in self.found[path] for each in kernel.problems]
            except TilewrightError as error:
                self.found[path], problems = (), [Problem("not-explained", str(error), str(path), 1)]
            by_file: dict[Path, list[Problem]] = {path: [], **{each: [] for each in self.told.get(path, ())}}
            for each in problems:
                by_file.setdefault(_placed(path, each.file), []).append(each)
            self.told[path] = {file for file, own in by_file.items() if own}
            for file, own in by_file.items():
                self._publish(file, own)

    def forget(self, uri: str) -> None:
        """Take back what was told of a file that was closed."""
        path = path_of(uri)
        self.found.pop(path, None)
        for each in self.told.pop(path, set()):
            self._publish(each, [])

    def hover(self, uri: str, line: int) -> str:
        """The measures that a line decides, by the last check."""
        path = path_of(uri)
        return hover_text(self.found.get(path, ()), path, line)

    def _publish(self, file: Path, problems: Sequence[Problem]) -> None:
        from lsprotocol import types

        try:
            lines = read_source(file).split("\n") if problems else []
        except InvalidInput:  # a problem says so
            lines = []
        codec = self.server.workspace.position_codec
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(file.as_uri(), [_diagnostic(each, lines, codec) for each in problems])
        )


def _placed(path: Path, file: str) -> Path:
    """The file that a problem names: included ones from the folder of the file that was checked."""
    return (path.parent / file).resolve()


def _diagnostic(problem: Problem, lines: Sequence[str], codec: PositionCodec) -> types.Diagnostic:
    """A problem from its column to the end of its line, in the units that the editor counts columns in."""
    from lsprotocol import types

    line, column = max(0, problem.line - 1), max(0, problem.column - 1)
    end = len(lines[line]) if line < len(lines) else column
    where = codec.range_to_client_units(lines, types.Range(types.Position(line, column), types.Position(line, end)))
    return types.Diagnostic(
        where, problem.message, severity=types.DiagnosticSeverity.Error, code=problem.rule, source="tilewright"
    )


def hover_text(kernels: tuple[CheckedKernel, ...], path: Path, line: int) -> str:
    """The measures that a line of a kernel decides, each with its reason; "" if there is none."""
    lines = [
        f"{each.name} {figure(each.value)}: {each.text}"
        for kernel in kernels
        if _placed(path, kernel.file) == path
        for each in kernel.measures
        if each.position.line == line and Path(each.position.file).name in ("", path.name, path.stem) and each.buffer
    ]
    return "\n".join(dict.fromkeys(lines))
