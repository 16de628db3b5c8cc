"""Macro definitions and their expansion, after the C99 standard's rules (6.10.3) and Prosser's hide sets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .lexer import Position, Token, spelled, tokens_of_text

MOST_TOKENS, LONGEST_TOKEN = 100_000, 4096
TOKENS_FOR_EACH = 10  # that macros may make for each token of the source, beyond MOST_TOKENS


@dataclass(frozen=True)
class Macro:
    """`parameters` is None for an object-like macro. The last one takes all that is left if the macro is `variadic`."""

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    variadic: bool = False

    @cached_property
    def pastes(self) -> bool:
        """Whether its body has # or ##."""
        return any(token.text in ("#", "##") for token in self.body)

    @cached_property
    def unbalanced(self) -> bool:
        """Whether a use of it may open or close a brace."""
        braces = [token.text for token in self.body if token.text in ("{", "}")]
        return braces.count("{") != braces.count("}")


@dataclass
class Budget:
    """How many tokens macros may still make in one program; a long token counts for several."""

    left: int = MOST_TOKENS

    def read(self, tokens: list[Token]) -> None:
        """The source has these tokens: a long source may use more macros."""
        self.left += TOKENS_FOR_EACH * len(tokens)

    def spend(self, tokens: list[Token], use: Token) -> list[Token]:
        self.left -= 1 + sum(1 + len(token.text) // 64 for token in tokens)
        if self.left < 0:
            raise use.position.error(f"macros make more than {MOST_TOKENS:,} tokens, with {use.text} used here")
        return tokens


def read_macro(tokens: list[Token], position: Position) -> Macro:
    """The definition whose tokens follow `#define`."""
    if not tokens or tokens[0].kind != "name":
        raise position.error("#define needs a name")
    name = tokens[0]
    if len(tokens) < 2 or tokens[1].text != "(" or tokens[1].spaced:
        return Macro(name.text, None, tuple(tokens[1:]))
    closing = next((i for i, token in enumerate(tokens) if token.text == ")"), None)
    if closing is None:
        raise name.position.error(f"the parameters of macro {name.text} have no closing parenthesis")
    names = [token.text for token in tokens[2:closing] if token.text != ","]
    variadic = bool(names) and names[-1] == "..."
    if variadic:
        names.pop()
        if tokens[closing - 2].kind != "name":  # `args...` has a name of its own
            names.append("__VA_ARGS__")
    return Macro(name.text, tuple(names), tuple(tokens[closing + 1 :]), variadic)


def expand(tokens: Iterable[Token], macros: Mapping[str, Macro], budget: Budget) -> list[Token]:
    """`tokens` with every macro replaced, as long as there is `budget`. Tokens of a macro's body take the place where the
    macro was used; tokens of its arguments keep their own."""
    work = list(tokens)[::-1]
    out: list[Token] = []
    while work:
        token = work.pop()
        macro = macros.get(token.text) if token.kind == "name" else None
        if macro is None or token.text in token.hidden:
            out.append(_special(token) if token.text.startswith("__") else token)
            continue
        if macro.parameters is None:
            body = budget.spend(_substitute(macro, {}, {}, token), token)
            hidden = token.hidden | {macro.name}
            work.extend([_hide(each, hidden) for each in reversed(body)])
            continue
        if not work or work[-1].text != "(":
            out.append(token)
            continue
        arguments, closing = _arguments(work, token)
        raw = _bind(macro, arguments, token)
        expanded = {key: expand(value, macros, budget) for key, value in raw.items()}
        hidden = (token.hidden & closing.hidden) | {macro.name}
        body = budget.spend(_substitute(macro, raw, expanded, token), token)
        work.extend([_hide(each, hidden) for each in reversed(body)])
    return out


def _special(token: Token) -> Token:
    if token.text == "__LINE__" and token.kind == "name":
        return token._replace(kind="number", text=str(token.position.line))
    if token.text == "__FILE__" and token.kind == "name":
        return token._replace(kind="string", text=f'"{token.position.file}"')
    return token


def _hide(token: Token, names: frozenset[str]) -> Token:
    if token.kind != "name":
        return token
    return token._replace(hidden=token.hidden | names if token.hidden else names)


def _arguments(work: list[Token], use: Token) -> tuple[list[list[Token]], Token]:
    """Takes `( ... )` off the end of `work` (which is reversed): the arguments and the closing parenthesis."""
    work.pop()
    arguments: list[list[Token]] = [[]]
    depth = 1
    while work:
        token = work.pop()
        depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "operator" else 0
        if depth == 0:
            return arguments, token
        if token.text == "," and depth == 1:
            arguments.append([])
        else:
            arguments[-1].append(token)
    raise use.position.error(f"the call of macro {use.text} has no closing parenthesis")


def _bind(macro: Macro, arguments: list[list[Token]], use: Token) -> dict[str, list[Token]]:
    parameters = macro.parameters or ()
    if not parameters and arguments == [[]]:
        return {}
    if macro.variadic:
        fixed = len(parameters) - 1
        rest: list[Token] = []
        for index, each in enumerate(arguments[fixed:]):
            rest += ([_made("operator", ",", use)] if index else []) + each
        arguments = [*arguments[:fixed], rest]
    if len(arguments) != len(parameters):
        raise use.position.error(f"macro {use.text} takes {len(parameters)} arguments, {len(arguments)} given")
    return dict(zip(parameters, arguments, strict=True))


def _substitute(
    macro: Macro, raw: Mapping[str, list[Token]], expanded: Mapping[str, list[Token]], use: Token
) -> list[Token]:
    """The macro's body with its arguments put in, `#x` made text and `##` pasted."""
    out: list[Token] = []
    body = macro.body
    if not macro.pastes:
        for token in body:
            if token.text in expanded:
                out += expanded[token.text]
            else:
                out.append(token._replace(origin=use.origin, at=use.at))
        return out
    index = 0
    while index < len(body):
        token = body[index]
        following = body[index + 1] if index + 1 < len(body) else None
        if token.text == "#" and following is not None and following.text in raw:
            out.append(_text_of(raw[following.text], use))
            index += 2
        elif token.text == "##" and following is not None:
            _paste(out, list(raw.get(following.text, [_moved(following, use)])), use)
            index += 2
        elif following is not None and following.text == "##":
            out.extend(raw.get(token.text, [_moved(token, use)]) or [_placemarker(use)])
            index += 1
        else:
            out.extend(expanded.get(token.text, [_moved(token, use)]))
            index += 1
    return [token for token in out if token.kind != "placemarker"]


def _placemarker(use: Token) -> Token:
    return _made("placemarker", "", use)


def _made(kind: str, text: str, use: Token) -> Token:
    """A token that stands where the macro is used."""
    return Token(kind, text, use.origin, use.at)


def _moved(token: Token, use: Token) -> Token:
    return token._replace(origin=use.origin, at=use.at)


def _paste(out: list[Token], right: list[Token], use: Token) -> None:
    left = out.pop() if out else _placemarker(use)
    if left.text == "," and not right:
        return  # GNU's `, ## __VA_ARGS__`: the comma goes when there is nothing after it
    first = right[0] if right else _placemarker(use)
    if len(left.text) + len(first.text) > LONGEST_TOKEN:
        raise use.position.error(
            f"pasting makes a token of more than {LONGEST_TOKEN:,} characters, with {use.text} used here"
        )
    pasted = tokens_of_text(left.text + first.text, use.origin.name)
    if left.text == "," and len(pasted) > 1:
        out.extend([left, *right])
        return
    if len(pasted) > 1:
        raise use.position.error(f"pasting {left.text!r} and {first.text!r} does not make one token")
    out.extend(each._replace(origin=use.origin, at=use.at, spaced=left.spaced) for each in pasted)
    out.extend(right[1:])


def _text_of(tokens: list[Token], use: Token) -> Token:
    text = "".join((" " if token.spaced and index else "") + spelled(token) for index, token in enumerate(tokens))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return _made("string", f'"{escaped}"', use)
