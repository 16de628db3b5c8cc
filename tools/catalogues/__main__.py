"""`python -m tools.catalogues`: brings every catalogue up to date and compiles it; says what is not translated yet."""

import sys

from .files import TRANSLATED, compile_file, missing, po_file, update
from .messages import template


def main() -> int:
    """0 if everything was written; translations that are missing are named, and stay English."""
    messages = template()
    for code in TRANSLATED:
        found = update(code, messages)
        compile_file(code)
        untranslated = missing(found)
        print(f"{po_file(code)}: {len(found)} messages, {len(untranslated)} not translated")
        for each in untranslated:
            print(f"  {each}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
