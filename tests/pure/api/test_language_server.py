"""The language server, spoken to by pygls' client over standard input and output."""

import asyncio
import sys
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


async def talk(folder: Path) -> tuple[list[Any], Any, list[Any], list[Any]]:
    """What an editor sees: diagnostics of an opened file, a hover, diagnostics after a save, and after one with a wrong head."""
    client, told = LanguageClient("editor", "1"), asyncio.Queue[types.PublishDiagnosticsParams]()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(given: types.PublishDiagnosticsParams) -> None:
        told.put_nowait(given)

    path = folder / "spread.cl"
    path.write_text(KERNEL.replace("STRIDE", "8"))
    await client.start_io(sys.executable, "-m", "tilewright", "lsp")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=folder.as_uri()))
    client.initialized(types.InitializedParams())
    document = types.TextDocumentItem(path.as_uri(), types.LanguageKind.C, 1, path.read_text())
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    first = (await told.get()).diagnostics
    name = types.TextDocumentIdentifier(path.as_uri())
    hover = await client.text_document_hover_async(types.HoverParams(name, types.Position(5, 8)))
    later = []
    for text in (KERNEL.replace("STRIDE", "1"), "// tilewright: --locl 3\n" + KERNEL):
        path.write_text(text)
        client.text_document_did_save(types.DidSaveTextDocumentParams(name))
        later.append((await told.get()).diagnostics)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
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
