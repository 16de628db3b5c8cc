"""The caches of the machine's processors, as its operating system describes them."""

from pathlib import Path

SYSTEM = Path("/sys/devices/system/cpu")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
# A driver's "global cache" is of whichever level it likes: Intel's is level 2, others' the last. These are sizes that
# level-2 caches of one core have had.
LEAST_LEVEL2, MOST_LEVEL2 = 128 * 2**10, 4 * 2**20


def level2_bytes(reported: int, system: Path = SYSTEM) -> int:
    """Bytes of a core's level-2 cache: from Linux, else what an OpenCL driver `reported` if it can be that; 0 if unknown.

    Containers may hide Linux's description; Windows and macOS have none. Processors may have cores of several kinds: the
    smallest counts, because a work-group may run on any.
    """
    found = [size for cpu in system.glob("cpu[0-9]*") if (size := data_cache(cpu / "cache", 2))]
    if found:
        return min(found)
    return reported if LEAST_LEVEL2 <= reported <= MOST_LEVEL2 else 0


def data_cache(folder: Path, level: int) -> int:
    """Bytes of a processor's cache for data of that level; 0 if its folder does not describe one."""
    for index in sorted(folder.glob("index[0-9]*")):
        if _text(index / "level") == str(level) and _text(index / "type") in ("Data", "Unified"):
            return _size(_text(index / "size"))
    return 0


def _text(file: Path) -> str:
    """The file's text; "" if it cannot be read, which containers see to."""
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _size(text: str) -> int:
    """The bytes that "2048K" stands for; 0 if it is no size."""
    digits, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1)
    return int(digits) * unit if digits.isdecimal() else 0
