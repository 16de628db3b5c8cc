"""What starting loads: each command what it needs and no more, counted by modules rather than by time."""

import argparse
import subprocess
import sys

import pytest

from tilewright.cli.main import COMMANDS, make_parser

DRIVERS = ("pyopencl", "cuda", "tilewright.runtime.opencl.device", "tilewright.runtime.cuda.device")
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
"""


def python(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(*arguments: str) -> set[str]:
    """The modules that the command line has loaded at its end."""
    code = """
import sys
from tilewright.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("\\n" + " ".join(sys.modules))
"""
    return set(python(code, *arguments).splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["list"], ["show", "tiles/2"]], ids=" ".join)
def test_what_only_prints_loads_neither_numpy_nor_a_driver(arguments: list[str]) -> None:
    assert not {"numpy", "rich", *DRIVERS} & loaded_by(*arguments)


def test_explain_loads_no_driver() -> None:
    assert not {
        "rich",
        "matplotlib",
        "tilewright.measurement.ladders",
        "tilewright.measurement.baselines",
        *DRIVERS,
    } & loaded_by("explain", "rows/1", "--size", "16")


def test_explain_needs_numpy_alone() -> None:
    code = f"{BLOCKED}\nimport tilewright\nprint(tilewright.explain('transpose/05', 64))"
    assert "05_tiled" in python(code, "pyopencl,cuda,rich,matplotlib,ml_dtypes,pocl,intel_opencl_rt")


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, tilewright; print(*(name for name in sys.modules if name.startswith(('tilewright.', 'numpy'))))"
    assert python(code).strip() == ""


def test_the_version_is_the_installed_ones() -> None:
    code = "import tilewright; from importlib.metadata import version; print(tilewright.__version__ == version('tilewright'))"
    assert python(code).strip() == "True"


def test_no_command_loads_numpy_a_driver_or_kernels_to_declare_its_arguments() -> None:
    code = """
import sys
from tilewright.cli.main import make_parser
for name, parser in make_parser().commands.choices.items():
    parser.load()
    print(name, *sys.modules)
"""
    lines = python(code).splitlines()
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    heavy = {"numpy", "rich", "tilewright.kernels", "tilewright.core.kernel", *DRIVERS}
    assert [(line.split()[0], heavy & set(line.split()[1:])) for line in lines if heavy & set(line.split()[1:])] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_its_arguments_and_its_handler(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args([name, "--help"])
    assert ended.value.code == 0
    assert f"tilewright {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help_with_its_default(name: str) -> None:
    """A default is named, and a time says its unit; an option that a kernel of one's own needs has no default."""
    parser = argparse.ArgumentParser()
    COMMANDS[name].add_arguments(parser)
    for action in parser._actions[1:]:
        words = (action.help or "") % vars(action)
        assert words, action.option_strings
        if action.option_strings and action.dest not in ("global_size", "local_size"):
            assert "(default: " in words, action.option_strings
        if "seconds" in action.dest or action.metavar == "SECONDS":
            assert "in s " in words or "SECONDS" in words, action.option_strings


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_are_accepted(name: str) -> None:
    lines = COMMANDS[name].EXAMPLES.splitlines()
    assert lines
    for line in lines:
        program, *arguments = line.split()
        assert (program, arguments[0]) == ("tilewright", name)
        make_parser().parse_args(arguments)
