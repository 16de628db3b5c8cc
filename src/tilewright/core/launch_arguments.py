"""The options that say how a user's kernel is launched: its entry, arguments, contents of buffers, folders of includes."""

import argparse
from collections.abc import Sequence

from ..errors import InvalidInput
from .argument_words import LaunchWords, bound_names, name_and_word
from .sizes import sides

LISTS = (("arg", "--arg"), ("bind", "--bind"), ("init", "--init"), ("expect", "--expect"), ("include", "-I"))


def add_launch(parser: argparse._ActionsContainer) -> None:
    """The options beside the sizes. All may stand in the head of a kernel's file."""
    parser.add_argument("--entry", metavar="NAME", help="the kernel, if the file holds several (default: the only one)")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE",
        help="what a parameter gets: f32[1024], n*4, data.npy, data.bin:f32, local:4096, @other+256, (1,2,3,4), {x=1,y=2}, "
        "null; may be repeated (default: guessed, and printed)",
    )  # fmt: skip
    parser.add_argument(
        "--bind", action="append", default=[], metavar="NAME=OPERAND,...",
        help="which operand or size of the problem a parameter is, such as in1=A,rows=M (default: that of its name)",
    )  # fmt: skip
    parser.add_argument(
        "--init", action="append", default=[], metavar="NAME=VALUE",
        help="what a buffer holds before the launch: a number, unset, random, index or a file (default: random; an output of "
        "a gemm, transpose or copy is unset)",
    )  # fmt: skip
    parser.add_argument(
        "--expect", action="append", default=[], metavar="NAME=FILE",
        help="the right contents of a buffer after the launch, as .npy or .bin (default: explain's interpreter checks)",
    )  # fmt: skip
    parser.add_argument(
        "-I", dest="include", action="append", default=[], metavar="FOLDER",
        help="a folder of included files; may be repeated (default: the file's own)",
    )  # fmt: skip
    parser.add_argument(
        "--ragged", action="store_true", default=None,
        help="smaller work-groups at the edges, as OpenCL 2 allows (default: the global size is rounded up)",
    )  # fmt: skip
    parser.add_argument("--global-offset", metavar="X,Y", help="the offset of global ids (default: 0)")


def words_of(options: argparse.Namespace) -> LaunchWords:
    """The options as one record. Of two places the later wins: options of the command line stand after a head's."""
    pairs = {
        name: tuple(dict(name_and_word(each, option) for each in getattr(options, name)).items())
        for name, option in (("arg", "--arg"), ("init", "--init"), ("expect", "--expect"))
    }
    return LaunchWords(
        entry=options.entry,
        arguments=pairs["arg"],
        bind=bound_names(tuple(options.bind)),
        init=pairs["init"],
        expect=pairs["expect"],
        include=tuple(options.include),
        ragged=bool(options.ragged),
        global_offset=sides(options.global_offset or ()),
        problem_given=options.problem is not None,
    )


def refuse_two_values(given: Sequence[argparse.Namespace], place: str = "") -> None:
    """InvalidInput if options of one place give a name two different values. `place` is "a file: ", or "" for a command line."""
    for name, option in LISTS[:-1]:
        words: dict[str, str] = {}
        for text in (each for options in given for each in getattr(options, name, ())):
            pairs = bound_names((text,)) if name == "bind" else (name_and_word(text, option),)
            for own, word in pairs:
                if (first := words.setdefault(own, word)) != word:
                    raise InvalidInput(
                        f"{place}{option} {own}={first[:80]} and {option} {own}={word[:80]}: give {own} one value"
                    )


def given_options(options: argparse.Namespace) -> list[str]:
    """The options that were given, as words."""
    words = [f"{option} {value}" for name, option in LISTS for value in getattr(options, name)]
    named = (("entry", "--entry"), ("global_offset", "--global-offset"))
    words += [f"{option} {getattr(options, name)}" for name, option in named if getattr(options, name) is not None]
    return words + (["--ragged"] if options.ragged else [])
