"""Makes the course: `python -m tools.course figures` keeps the measured rates that the lessons speak of, `machine-code` what
compilers make of the rungs; `pages` writes docs/course from the lessons and both."""

import sys

from .build import write_course
from .figures import write_figures
from .machine_code import write_machine_code

COMMANDS = {"figures": write_figures, "machine-code": write_machine_code, "pages": write_course}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m tools.course {'|'.join(COMMANDS)}")
    COMMANDS[sys.argv[1]]()
