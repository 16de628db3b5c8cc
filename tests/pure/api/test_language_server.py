"""The language server, spoken to by pygls' client over standard input and output."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

KERNEL = """// tilewright: --global 64 --local 32
// tilewright: max sectors x 4
__kernel void spread(__global const float *x, __global float *y)
{
    int i = get_global_id(0);
    y[i] = x[STRIDE * i];
}
"""


Told = asyncio.Queue[types.PublishDiagnosticsParams]


@asynccontextmanager
async def editor(folder: Path, encodings: list[Any] | None = None) -> AsyncIterator[tuple[LanguageClient, Told]]:
    """A client that counts columns in the first of these encodings, and what it is told."""
    client, told = LanguageClient("editor", "1"), Told()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(given: types.PublishDiagnosticsParams) -> None:
        told.put_nowait(given)

    able = types.ClientCapabilities(general=types.GeneralClientCapabilities(position_encodings=encodings))
    await client.start_io(sys.executable, "-m", "tilewright", "lsp")
    answer = await client.initialize_async(types.InitializeParams(able, root_uri=folder.as_uri()))
    assert answer.capabilities.position_encoding == (encodings or ["utf-16"])[0]
    client.initialized(types.InitializedParams())
    yield client, told
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]


def opened(client: LanguageClient, path: Path, text: str) -> types.TextDocumentIdentifier:
    """A file that lies on the disk, and is open with this text."""
    document = types.TextDocumentItem(path.as_uri(), types.LanguageKind.C, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    return types.TextDocumentIdentifier(path.as_uri())


def changed(client: LanguageClient, path: Path, number: int, *changes: Any) -> None:
    name = types.VersionedTextDocumentIdentifier(number, path.as_uri())
    client.text_document_did_change(types.DidChangeTextDocumentParams(name, list(changes)))


async def talk(folder: Path) -> tuple[list[Any], Any, list[Any], list[Any]]:
    """What an editor sees: diagnostics of an opened file, a hover, diagnostics after a save, and after one with a wrong head."""
    path = folder / "spread.cl"
    path.write_text(KERNEL.replace("STRIDE", "8"))
    async with editor(folder) as (client, told):
        name = opened(client, path, path.read_text())
        first = (await told.get()).diagnostics
        hover = await client.text_document_hover_async(types.HoverParams(name, types.Position(5, 8)))
        later = []
        for number, text in enumerate((KERNEL.replace("STRIDE", "1"), "// tilewright: --locl 3\n" + KERNEL), 2):
            path.write_text(text)
            changed(client, path, number, types.TextDocumentContentChangeWholeDocument(text))
            client.text_document_did_save(types.DidSaveTextDocumentParams(name))
            later.append((await told.get()).diagnostics)
            await told.get()  # after the pause
    return list(first), hover, list(later[0]), list(later[1])


def test_an_editor_sees_problems_and_measures(tmp_path: Path) -> None:
    first, hover, clean, misread = asyncio.run(asyncio.wait_for(talk(tmp_path), 60))
    (problem,) = first
    assert (problem.code, problem.source, problem.range.start.line) == ("over-budget-sectors", "tilewright", 5)
    assert problem.message.startswith("sectors x is 32, and 4 is allowed")
    sectors_y, sectors_x = sorted(hover.contents.value.splitlines(), key=lambda each: "sectors x" in each)
    assert sectors_x.startswith("sectors x 32: line 6 reads x with a stride")
    assert sectors_y == "sectors y 4: line 6 has no more than the bytes that its stores ask for need"
    assert clean == []
    assert "spread.cl:1: unrecognized arguments: --locl 3" in misread[0].message


async def typed(folder: Path) -> list[list[Any]]:
    """Diagnostics of a file that is edited and never saved: as it lies there, after three keys at once, after the whole text
    changed, with an unsaved header, and after it was closed."""
    path, header = folder / "spread.cl", folder / "stride.h"
    path.write_text(KERNEL.replace("STRIDE", "1"))
    header.write_text("#define STRIDE 1\n")
    seen = []
    async with editor(folder) as (client, told):
        name = opened(client, path, path.read_text())
        seen.append(list((await told.get()).diagnostics))
        for number, key in enumerate("032", 2):  # 1 becomes 10, 103, 1032
            at = types.Position(5, 12 + number)
            part = types.TextDocumentContentChangePartial(types.Range(at, at), key)
            changed(client, path, number, part)
        seen.append(list((await told.get()).diagnostics))
        opened(client, header, "#define STRIDE 8\n")
        whole = KERNEL.replace("__kernel", '#include "stride.h"\n__kernel')
        changed(client, path, 5, types.TextDocumentContentChangeWholeDocument(whole))
        seen.append(list((await told.get()).diagnostics))
        client.text_document_did_close(types.DidCloseTextDocumentParams(name))
        seen.append(list((await told.get()).diagnostics))
        assert told.empty()
    assert path.read_text() == KERNEL.replace("STRIDE", "1")
    return seen


def test_unsaved_text_is_checked_after_a_pause(tmp_path: Path) -> None:
    saved, keys, whole, closed = asyncio.run(asyncio.wait_for(typed(tmp_path), 60))
    assert saved == []
    assert [each.range.start.line for each in keys] == [5]
    assert keys[0].message.startswith("sectors x is 32, and 4 is allowed")
    assert [each.range.start.line for each in whole] == [6]
    assert closed == []


async def columns(folder: Path, encodings: list[Any] | None) -> Any:
    path = folder / "spread.cl"
    text = KERNEL.replace("y[i] = x[STRIDE * i];", "/* 中文 \U0001f600 */ y[i] = x[8 * i];")
    path.write_text(text.replace("8", "1"), encoding="utf-8")
    async with editor(folder, encodings) as (client, told):
        opened(client, path, text)
        (problem,) = (await told.get()).diagnostics
    return problem.range, text.splitlines()[5]


@pytest.mark.parametrize(
    ("encodings", "codec", "unit"),
    [(None, "utf-16-le", 2), (["utf-8"], "utf-8", 1), (["utf-32", "utf-16"], "utf-32-le", 4)],
)
def test_columns_are_counted_as_the_editor_counts_them(
    tmp_path: Path, encodings: list[Any] | None, codec: str, unit: int
) -> None:
    found, line = asyncio.run(asyncio.wait_for(columns(tmp_path, encodings), 60))
    assert found.start.character == len(line[: line.index("[8")].encode(codec)) // unit
    assert found.end.character == len(line.encode(codec)) // unit
