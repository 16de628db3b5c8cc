"""The answer as text, page and JSON: for every rung, for wrong kernels, and where nothing is found."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import devices
import pytest
from canned_answers import GUARD, H200, TWO_CORES, answer_by_counts, answer_of, kernel_of
from says import says

from tilewright.advice.answer import Answer, report
from tilewright.advice.ask import why_kernel
from tilewright.advice.page import page
from tilewright.analysis.marked_lines import Mark
from tilewright.core.kernel import Kernel
from tilewright.core.records import Fault, RowStatus, save_record
from tilewright.errors import InvalidInput, RecordError, UnknownName, Unsupported
from tilewright.kernels import LADDERS
from tilewright.reports.plot import load_drawable

FAULT = Fault("race", "two work-items write", "own.cl", 7, 3)
UNIQUE = [kernel for ladder in LADDERS.values() for kernel in ladder.kernels if "sequential" not in kernel.name]


class Tags(HTMLParser):
    """Which tags are open at the end, and what outer resources a page names."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outer: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outer += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_page(answer: Answer) -> str:
    text = page(answer)
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.outer == []
    assert "@import" not in text
    assert "url(http" not in text
    return text


@pytest.mark.parametrize("kernel", UNIQUE, ids=lambda kernel: kernel.name)
def test_every_rung_is_answered(kernel: Kernel) -> None:
    answer = answer_by_counts(kernel, "cpu" if kernel.name.startswith("cpu/") else "h100", (256,))
    text = str(answer)
    assert says(text, kernel.name)
    assert answer.causes or says(text, "limited") or "limited" in text or answer.faults
    assert "machine code" in " ".join(answer.not_seen)
    assert not answer.failed
    check_page(answer)


def test_the_text_has_the_order_of_an_answer() -> None:
    answer = answer_of("tiles/1", 0.05, devices.NVIDIA, H200)
    first, second, *rest = report(answer)
    assert first.mark is Mark.HEADING
    assert says(first.text, "tiles/01_naive", "4096x4096x4096", "right", "50 ms", "GFLOP/s", "peak")
    assert says(second.text, "bound", "loads and stores")
    assert [line.mark for line in rest if line.text.startswith(("1.", "2."))] == [Mark.COST, Mark.COST]
    text = str(answer)
    assert text.index("1. data fetched") < text.index("2. no reuse")
    assert says(text, "sum += A[k * M + row] * B[column * K + k];", "tilewright show tiles/2 --diff", "at most 3x")
    assert "machine code" in text


def test_without_a_device_no_time_is_printed_and_it_is_said() -> None:
    answer = answer_by_counts("tiles/1", "h100")
    assert answer.causes[0].kind == "data fetched many times"
    assert "not measured" in str(answer)
    assert not re.search(r"\d (ms|us|s)\b", str(answer))
    assert says(answer.not_seen[0], "nothing was run")
    assert repr(answer).startswith("<Answer: tiles/01_naive")
    assert {"gain", "cause", "remedy"} <= answer.to_rows()[0].keys()


@pytest.mark.parametrize("status", [RowStatus.WRONG, RowStatus.LAUNCH_FAILED])
def test_of_a_wrong_kernel_causes_and_faults_are_said_and_no_speed(status: RowStatus) -> None:
    explained = "likely cause: C is transposed\nexplain ran it and found 1 fault"
    answer = answer_of(
        "tiles/1", 0.05, devices.NVIDIA, H200, status=status, reason="3,840 of 4,096 elements", faults=(FAULT,),
        explained=explained,
    )  # fmt: skip
    texts = [line.text for line in report(answer)]
    assert says(texts[0], status)
    assert texts[1].startswith("likely cause")
    assert says(texts[2], "own.cl", 7, "race")
    assert not any("at most" in text or "bound" in text for text in texts)
    assert answer.causes == ()
    assert 'class="verdict fault"' in check_page(answer)


def test_faults_of_a_kernel_that_happened_to_be_right_come_before_its_speed(tmp_path: Path) -> None:
    body = (
        "const int column = get_global_id(0), row = get_global_id(1);\n__local REAL tile[32];\n"
        f"{GUARD}\nREAL sum = 0;\nfor (int k = 0; k < K; k++) {{\ntile[get_local_id(0)] = A[row * K + k];\n"
        "sum += tile[(get_local_id(0) + 1) % 32] * B[k * N + column];\n}\nC[row * N + column] = sum;"
    )
    kernel = kernel_of(tmp_path, body)
    counted = answer_by_counts(kernel, "nvidia", (256,))
    assert counted.failed
    assert counted.causes == ()
    measured = answer_of(kernel, 0.05, devices.NVIDIA, H200)
    assert not measured.failed
    assert measured.faults
    text = str(measured)
    assert text.index("fault: ") < text.index("1. ")


def test_where_nothing_is_found_the_limit_is_named() -> None:
    answer = answer_of("tiles/10", 4.34e-3, devices.NVIDIA, H200)
    assert answer.causes == ()
    assert answer.binding is not None
    assert says(str(answer), answer.binding.name, "latency")
    assert answer.is_far is False
    assert 'class="verdict fine"' in check_page(answer)


def test_a_kernel_far_from_its_bound_is_not_called_fine() -> None:
    answer = answer_of("tiles/10", 0.04, devices.NVIDIA, H200)
    assert (answer.causes, answer.is_far) == ((), True)
    assert says(str(answer), "latency", "bound")
    assert 'class="verdict costly"' in check_page(answer)


def test_a_page_shows_causes_lines_bars_and_the_roofline() -> None:
    text = check_page(answer_of("tiles/1", 0.05, devices.NVIDIA, H200))
    assert 'class="verdict costly"' in text
    assert text.count('class="card"') == 2
    assert "<svg" in text
    assert 'class="bar' in text
    assert "prefers-color-scheme:dark" in text


def test_a_kernels_own_words_cannot_break_the_page(tmp_path: Path) -> None:
    body = f"const int column = get_global_id(0), row = get_global_id(1); // </pre><script>alert(1)</script>\n{GUARD}\n"
    body += "REAL sum = 0;\nfor (int k = 0; k < K; k++)\n    sum += A[row * K + k] * B[k * N + column];\n"
    body += "C[row * N + column] = sum;"
    assert "<script>" not in check_page(answer_of(kernel_of(tmp_path, body), 0.05, devices.NVIDIA, H200))


def test_the_json_is_known_by_its_command(tmp_path: Path) -> None:
    target = tmp_path / "why.json"
    save_record(answer_of("cpu/1", 0.05, devices.CPU, TWO_CORES, (512,)), target)
    assert '"causes"' in target.read_text()
    with pytest.raises(RecordError) as failure:
        load_drawable(target)
    assert says(str(failure.value), "tilewright why")


def test_a_transpose_is_answered_in_gigabytes() -> None:
    answer = answer_of("transpose/4", 0.000128, devices.NVIDIA, H200)
    assert says(str(answer), "GB/s", "strided access")
    check_page(answer)


def test_a_model_beside_a_device_an_unknown_model_and_a_missing_type_are_refused() -> None:
    with pytest.raises(InvalidInput):
        why_kernel("tiles/1", device="0", device_model="h100")
    with pytest.raises(UnknownName):
        why_kernel("tiles/1", device_model="nosuch")
    with pytest.raises(Unsupported):
        why_kernel("cpu/1", device_model="cpu", dtype="float16")


def test_a_device_without_peaks_has_no_bound() -> None:
    none = replace(H200, gflops={}, copy_gbs=0.0, local_gbs=0.0)
    answer = answer_of("tiles/1", 0.05, devices.NVIDIA, none)
    assert answer.limits == ()
    assert str(answer)
    check_page(answer)
