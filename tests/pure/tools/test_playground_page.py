"""The playground in headless Chromium: it explains, marks errors and races, grades exercises, carries its state in links."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.kernel_page.live import Asked, explained
from tilewright.errors import Unsupported
from tilewright.learning.exercises.file import hints_of
from tilewright.learning.exercises.grade import task_goals
from tilewright.learning.exercises.task import Task, find_task
from tools.browser import chromium, missing
from tools.playground.build import build
from tools.playground.examples import KNOWN_BAD, RUNGS, Example, source
from tools.playground.exercises import source as exercise_source
from tools.playground.measure import answers, serving, wait_for_answer

TIME_LIMIT_S = 60.0
RUNG = next(each for each in RUNGS if each.name == "transpose/05_tiled")
RACE = next(each for each in KNOWN_BAD if each.name == "known_bad/02_tile_race")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a playground that was built for this module."""
    if reason := missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("playground")
    try:
        build(folder)
    except Unsupported as reason:
        pytest.skip(f"the playground cannot be built here: {str(reason).splitlines()[0]}")
    with serving(folder) as address:
        yield address


@pytest.fixture(scope="module")
def page(site: str) -> Iterator[Any]:
    """A browser that shows the page and has explained its first kernel. Tests share it, because Python takes seconds."""
    with chromium() as driver:
        driver.get(site)
        wait_for_answer(driver, 1)
        yield driver


def after(driver: Any, act: Callable[[], object]) -> None:
    """Do something, and wait for the answer to it."""
    before = answers(driver)
    act()
    wait_for_answer(driver, before + 1)


def choose(driver: Any, name: str, field: str = "example") -> None:
    """Choose an entry of a list, and wait until it is explained."""
    code = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))"
    after(driver, lambda: driver.execute_script(code, driver.find_element("id", field), name))


def type_at_end(driver: Any, text: str) -> None:
    editor = driver.find_element("css selector", ".cm-content")
    editor.click()
    after(driver, lambda: editor.send_keys("\ue009\ue010\ue000" + text))  # Ctrl and End


def shown(driver: Any) -> dict[str, list[str]]:
    """The table of sums: requests, cost and least by memory."""
    rows = driver.execute_script(
        "return [...document.querySelectorAll('#sums tr[data-memory]')].map(row => "
        "[row.dataset.memory, ...[...row.cells].slice(1, 4).map(cell => cell.textContent)])"
    )
    return {name: values for name, *values in rows}


def text_of(driver: Any, place: str) -> str:
    return str(driver.execute_script("return document.querySelector(arguments[0])?.innerText || ''", place))


def eventually(said: Callable[[], bool]) -> bool:
    """Whether it becomes true in time."""
    end = time.monotonic() + TIME_LIMIT_S
    while time.monotonic() < end:
        if said():
            return True
        time.sleep(0.05)
    return False


def here(folder: Path, example: Example, **fields: str) -> Explanation:
    """The same kernel explained by this Python."""
    path = folder / "kernel.cl"
    path.write_text(source(example), encoding="utf-8")
    return explained(Asked(path, size=example.size, **fields))


def expected(found: Explanation) -> dict[str, list[str]]:
    """The sums of this Python as the table shows them."""
    scale = found.group_count / len(found.groups)
    rows = {}
    for space in ("global", "local"):
        mine = [each for each in found.accesses if each.space == space]
        if mine:
            sums = (sum(getattr(each, what) for each in mine) for what in ("requests", "cost", "ideal"))
            rows[space] = [f"{round(scale * each):,}" for each in sums]
    if conflicts := totals(found).conflicts:
        rows["conflicts"] = ["", f"{conflicts:,}", "0"]
    return rows


@pytest.mark.parametrize("example", [RUNG, *RUNGS[3:6]], ids=lambda each: each.name)
def test_a_rung_has_the_counts_of_cpython(page: Any, example: Example, tmp_path: Path) -> None:
    choose(page, example.name)
    assert shown(page) == expected(here(tmp_path, example))


def test_a_device_model_has_its_own_counts(page: Any, tmp_path: Path) -> None:
    choose(page, RUNG.name)
    usual = shown(page)
    choose(page, "amd64", "model")
    other = shown(page)
    choose(page, "", "model")
    assert other == expected(here(tmp_path, RUNG, model="amd64"))
    assert other != usual == shown(page)


def test_a_race_is_shown_with_its_lines(page: Any, tmp_path: Path) -> None:
    choose(page, RACE.name)
    found = next(each for each in here(tmp_path, RACE).findings if each.is_race)
    assert found.other is not None
    assert str(found.position.line) in text_of(page, "#verdict")
    assert str(found.other.line) in text_of(page, "#verdict")
    assert "fault" in page.find_element("id", "verdict").get_attribute("class")
    assert page.find_elements("css selector", ".cm-lint-marker-error")


def test_an_error_is_a_sentence_with_its_line_and_goes_when_it_is_mended(page: Any) -> None:
    choose(page, RUNG.name)
    lines = len(source(RUNG).splitlines())
    type_at_end(page, "int x = = 3;")
    assert f"Line {lines + 1}:" in text_of(page, "#verdict")
    assert page.find_elements("css selector", ".cm-lint-marker-error")
    assert not page.find_element("id", "sums").is_displayed()
    type_at_end(page, "\ue003" * len("int x = = 3;"))
    assert page.find_element("id", "sums").is_displayed()
    assert not page.find_elements("css selector", ".cm-lint-marker-error")


def test_pictures_follow_the_cursor(page: Any) -> None:
    choose(page, RUNG.name)
    line = next(n for n, text in enumerate(source(RUNG).splitlines(), 1) if "output[" in text)
    page.find_elements("css selector", ".cm-line")[line - 1].click()
    assert eventually(lambda: f"Line {line}" in text_of(page, "#line"))
    assert len(page.find_elements("css selector", "#line figure svg")) == 2


def test_a_line_tells_its_counts_on_hover(page: Any) -> None:
    choose(page, RUNG.name)
    from selenium.webdriver import ActionChains

    line = next(n for n, text in enumerate(source(RUNG).splitlines(), 1) if "output[" in text)
    there = page.find_elements("css selector", ".cm-line")[line - 1]
    # From elsewhere, as a pointer that is there already does not move; and onto the words, which end before the middle.
    mouse = ActionChains(page).move_to_element(page.find_element("tag name", "h1"))
    mouse.move_to_element_with_offset(there, -150, 0).perform()
    assert eventually(lambda: "wavefronts" in text_of(page, ".told"))


def test_a_newer_text_wins_over_a_run_that_takes_long(page: Any) -> None:
    """A kernel that would run into its time limit is left when the text changes."""
    endless = "__kernel void f(__global int* a) { for (int i = 0; i >= 0; i = i % 7 + 1) a[get_global_id(0)] += i; }"
    before = answers(page)
    page.find_element("css selector", ".cm-content").send_keys("\ue009a\ue000")  # Ctrl and A
    page.execute_script("document.execCommand('insertText', false, arguments[0])", endless)
    assert eventually(lambda: "busy" in page.find_element("tag name", "body").get_attribute("class"))
    begin = time.monotonic()
    choose(page, RUNG.name)
    assert answers(page) == before + 1
    assert shown(page)
    assert time.monotonic() - begin < TIME_LIMIT_S


def test_a_link_restores_the_kernel_and_its_fields(page: Any, site: str) -> None:
    choose(page, RUNG.name)
    type_at_end(page, "// mine: é ✓")
    choose(page, "intel16", "model")
    after(page, lambda: page.find_element("id", "size").send_keys("64x96"))
    page.find_element("id", "share").click()
    assert eventually(lambda: "#k=" in page.current_url)
    link, sums, heading = page.current_url, shown(page), text_of(page, "#notes p")
    assert "64x96" not in link
    with chromium() as other:
        other.get(link)
        wait_for_answer(other, 1)
        fields = [other.find_element("id", name).get_attribute("value") for name in ("model", "size", "options")]
        assert fields == ["intel16", "64x96", ""]
        assert "// mine: é ✓" in text_of(other, ".cm-content")
        assert (shown(other), text_of(other, "#notes p")) == (sums, heading)
        other.get("about:blank")
        other.get(f"{site}#k=notalink")
        assert eventually(lambda: "damaged" in text_of(other, "#status") or answers(other) == 1)
        wait_for_answer(other, 1)
    page.find_element("id", "size").clear()
    choose(page, "", "model")


def graded_after(driver: Any, act: Callable[[], object]) -> None:
    """Do something, and wait until the answer to it is graded."""
    before = answers(driver)
    act()
    assert eventually(lambda: driver.execute_script("return Number(document.body.dataset.graded || 0)") > before)


def put(driver: Any, text: str) -> None:
    """Type a whole file over the one that is there."""
    driver.find_element("css selector", ".cm-content").send_keys("\ue009a\ue000")  # Ctrl and A
    driver.execute_script("document.execCommand('insertText', false, arguments[0])", text)


def solved(task: Task, old: str = "", new: str = "") -> str:
    """The exercise's file with its solution, in which something may be replaced."""
    assert old in task.solution
    return exercise_source(task).removesuffix(task.start) + task.solution.replace(old, new)


def rows(driver: Any, kind: str = "") -> list[str]:
    found = driver.find_elements("css selector", f"#graded li{kind}")
    return [each.text for each in found]


@pytest.mark.parametrize("name", ["tiles/02", "cases/03", "cases/06"])
def test_an_exercise_passes_by_its_solution(page: Any, name: str) -> None:
    task = find_task(name)
    graded_after(page, lambda: choose(page, name))
    assert "Not passed" in text_of(page, "#passed")
    assert rows(page, ".missed")
    graded_after(page, lambda: put(page, solved(task)))
    assert rows(page) == rows(page, ".reached")
    assert len(rows(page)) == 1 + len(task_goals(task))
    for row, goal in zip(rows(page)[1:], task_goals(task), strict=True):
        assert row == f"{goal.sentence}: here {goal.limit:,}"
    assert text_of(page, "#passed").startswith("Passed")
    assert "fine" in page.find_element("id", "goals").get_attribute("class")
    choose(page, RUNG.name)
    assert not page.find_element("id", "goals").is_displayed()


def test_constant_results_do_not_pass(page: Any) -> None:
    task = find_task("tiles/02")
    graded_after(page, lambda: choose(page, task.name))
    graded_after(page, lambda: put(page, solved(task, "C[column * M + row] = sum;", "C[column * M + row] = 0;")))
    assert "wrong at" in rows(page, ".missed")[0]
    assert "Not passed" in text_of(page, "#passed")


def test_a_right_but_costly_kernel_reaches_some_goals(page: Any) -> None:
    task = find_task("cases/03")
    graded_after(page, lambda: choose(page, task.name))
    assert "right, without faults" in rows(page, ".reached")[0]
    assert any("wavefronts" in row for row in rows(page, ".missed"))


def test_hints_come_one_by_one_and_never_the_solution(page: Any) -> None:
    task = find_task("tiles/03")
    graded_after(page, lambda: choose(page, task.name))
    button = page.find_element("id", "hint")
    for count in (1, 2, 3):
        assert button.text == f"Hint {count} of 3"
        button.click()
        assert len(page.find_elements("css selector", "#hints li")) == count
    assert not button.is_displayed()
    told = [each.text for each in page.find_elements("css selector", "#hints li")]
    assert told == [" ".join(each.replace("`", "").split()) for each in hints_of(task, "en")]
    choose(page, "tiles/02")
    assert not page.find_elements("css selector", "#hints li")
    assert button.text == "Hint 1 of 3"


WATCH_GRADES = """
window.grades = [];
const list = document.getElementById("graded");
new MutationObserver(() => window.grades.push(list.innerText)).observe(list, { childList: true });
"""


def test_a_newer_text_ends_a_grading(page: Any) -> None:
    """A kernel that does not end at the sizes of the grader alone is left, and its grade is never shown."""
    task = find_task("tiles/02")
    graded_after(page, lambda: choose(page, task.name))
    page.execute_script(WATCH_GRADES)
    unending = "    REAL sum = 0;\n    for (volatile int i = 0; M != 64 && i < 1; ) { }"
    after(page, lambda: put(page, solved(task, "    REAL sum = 0;", unending)))
    assert "waiting" in page.find_element("id", "goals").get_attribute("class")
    graded_after(page, lambda: put(page, solved(task)))
    assert text_of(page, "#passed").startswith("Passed")
    grades = page.execute_script("return window.grades")
    assert grades
    assert not [each for each in grades if "did not end" in each]


def test_an_exercise_that_does_not_exist_is_a_sentence(page: Any) -> None:
    graded_after(page, lambda: choose(page, "tiles/02"))
    text = exercise_source(find_task("tiles/02")).replace("exercise: tiles/02", "exercise: tiles/99", 1)
    graded_after(page, lambda: put(page, text))
    assert "tiles/99" in text_of(page, "#passed")
    assert not page.find_element("id", "hint").is_displayed()


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_window(site: str, width: int) -> None:
    with chromium((width, 900)) as driver:
        driver.get(site)
        wait_for_answer(driver, 1)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        assert not [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
