"""Problems for other programs: SARIF 2.1.0 (OASIS standard, 2020), and annotations of GitHub's workflows."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ...core.version import VERSION
from .checked import CheckedKernel, Problem

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "not-explained": "The kernel could not be explained.",
    "not-ended": "The kernel did not end within its steps.",
    "unknown-buffer": "A budget names a buffer that the kernel does not access.",
    "over-budget": "A measure of the kernel is more than its budget.",
    "worse": "A measure of the kernel became worse since the baseline.",
}


def sarif(kernels: Sequence[CheckedKernel]) -> dict[str, Any]:
    """A SARIF log with one run: a result for each problem."""
    problems = [each for kernel in kernels for each in kernel.problems]
    rules = list(dict.fromkeys(each.rule for each in problems))
    driver = {
        "name": "tilewright",
        "version": VERSION,
        "rules": [{"id": each, "shortDescription": {"text": _described(each)}} for each in rules],
    }
    results = [_result(each, rules.index(each.rule)) for each in problems]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _described(rule: str) -> str:
    return next(
        (text for name, text in RULES.items() if rule.startswith(name)), f"{rule.replace('-', ' ')}.".capitalize()
    )


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    """Places are relative to the folder in which the check ran, as code scanning wants them, and escaped as in every URI
    (RFC 3986, 2.1). Bytes of a name that are no text are question marks."""
    region = {"startLine": max(1, problem.line), "startColumn": max(1, problem.column)}
    uri = quote(PurePath(problem.file).as_posix().encode(errors="replace"), safe="/:")
    place = {"artifactLocation": {"uri": uri}, "region": region}
    return {
        "ruleId": problem.rule,
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": problem.message.encode(errors="replace").decode()},
        "locations": [{"physicalLocation": place}],
    }


def github_annotation(problem: Problem) -> str:
    """A workflow command that GitHub shows beside the line. Its escapes are those of GitHub's toolkit."""
    file = _escaped(problem.file).replace(":", "%3A").replace(",", "%2C")
    place = f"file={file},line={problem.line},col={problem.column},title={problem.rule}"
    return f"::error {place}::{_escaped(problem.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
