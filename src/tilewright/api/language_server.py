"""A server of the Language Server Protocol: problems that `check` finds as diagnostics, measures of kernels as hovers.

Files are read when they are opened and saved, as they lie on the disk.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse
from urllib.request import url2pathname

from ..analysis.checks.checked import CheckedKernel, Problem
from ..core.install import install_extra
from ..core.numbers import figure
from ..errors import TilewrightError, Unsupported
from .checking import check

if TYPE_CHECKING:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

SUFFIXES = (".cl", ".toml")
LINE_END = 1 << 20  # a column behind the end of a line means its end (3.17 of the protocol, Position)


def make_server() -> LanguageServer:
    """A server that has not begun to listen. Unsupported, with what to install, without pygls."""
    try:
        from lsprotocol import types
        from pygls.lsp.server import LanguageServer
    except ImportError as error:
        raise Unsupported(f"lsp needs pygls: {install_extra('lsp')}") from error
    server = LanguageServer("tilewright", version("tilewright"), types.TextDocumentSyncKind.Full)
    found: dict[Path, tuple[CheckedKernel, ...]] = {}

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: types.DidOpenTextDocumentParams) -> None:
        _publish(server, given.text_document.uri, found)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(given: types.DidSaveTextDocumentParams) -> None:
        _publish(server, given.text_document.uri, found)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(given: types.HoverParams) -> types.Hover | None:
        path = path_of(given.text_document.uri)
        text = hover_text(found.get(path, ()), path, given.position.line + 1)
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text)) if text else None

    return server


def path_of(uri: str) -> Path:
    """The file of a `file:` URI, made absolute."""
    return Path(url2pathname(urlparse(uri).path)).resolve()


def _publish(server: LanguageServer, uri: str, found: dict[Path, tuple[CheckedKernel, ...]]) -> None:
    """Check a file and tell the editor its problems, those in other files too. What a check does not understand is one."""
    from lsprotocol import types

    path = path_of(uri)
    if path.suffix not in SUFFIXES:
        return
    try:
        kernels = check(path).kernels
        problems = [each for kernel in kernels for each in kernel.problems]
    except TilewrightError as error:
        kernels, problems = (), [Problem("not-explained", str(error), str(path), 1)]
    before = {Path(each.file) for kernel in found.get(path, ()) for each in kernel.problems}
    found[path] = kernels
    by_file: dict[Path, list[Problem]] = {path: [], **{_placed(path, str(each)): [] for each in before}}
    for each in problems:
        by_file.setdefault(_placed(path, each.file), []).append(each)
    for file, own in by_file.items():
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(file.as_uri(), [_diagnostic(each) for each in own])
        )


def _placed(path: Path, file: str) -> Path:
    """The file that a problem names: included ones from the folder of the file that was checked."""
    return (path.parent / file).resolve()


def _diagnostic(problem: Problem) -> types.Diagnostic:
    from lsprotocol import types

    line, column = max(0, problem.line - 1), max(0, problem.column - 1)
    where = types.Range(types.Position(line, column), types.Position(line, LINE_END))
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
