"""The program `tilewright`, and `python -m tilewright`: the command line, which Ctrl-C may end while it is still loaded."""

import sys


def main() -> int:
    """Load the command line and run it; the exit status, 130 if it was interrupted."""
    try:
        from .cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
