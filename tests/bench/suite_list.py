"""Lists of programs: a line `SUITE NAME FOLDER COMMAND...` for each, quoted as for a shell.

NAME may end with @small or @large: sizes of one program. FOLDER: each run gets a fresh copy of it and is started there
(FOLDER:SUB: in that folder of the copy; -: in an empty one). $ROOT is where the suite is. A line that begins with # is none.
"""
import dataclasses
import fnmatch
import pathlib
import re
import shlex

FORM = "a line is: SUITE NAME FOLDER COMMAND..."
NAME = re.compile(r"[\w.+-]+(@[\w.+-]+)?", re.A)


class BadList(Exception):
    """One line that says what is wrong, and where."""


@dataclasses.dataclass(frozen=True)
class Entry:
    suite: str
    name: str
    folder: pathlib.Path | None  # none: an empty one
    sub: str
    command: tuple

    @property
    def path(self):
        return f"{self.suite}/{self.name}"

    @property
    def missing(self):
        """What has to be fetched or built first; none: nothing."""
        if not self.folder:
            return None
        start, program = self.folder / self.sub, self.command[0]
        if not start.is_dir():
            return f"no folder {start}"
        if "/" in program and not (start / program).exists():
            return f"no program {start / program}"
        return None


def entry_of(line, root):
    try:
        words = shlex.split(line)
    except ValueError as e:
        raise BadList(f"{e}: {FORM}") from None
    if len(words) < 4:
        raise BadList(FORM)
    suite, name, place, *command = words
    for word in (suite, name):
        if not NAME.fullmatch(word) or not word.strip("."):
            raise BadList(f"{word!r} is no name for a folder of results: {FORM}")
    if "$ROOT" in line and root is None:
        raise BadList("$ROOT is in this line: say where the suite is, with --root FOLDER")
    place, *command = (word.replace("$ROOT", str(root)) for word in (place, *command))
    folder, _, sub = place.partition(":")
    return Entry(suite, name, None if folder == "-" else pathlib.Path(folder), sub, tuple(command))


def read_list(path, root=None, only="*"):
    """The entries whose SUITE/NAME fits `only`. Every line is looked at."""
    entries, seen = [], {}
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeError) as e:
        raise BadList(f"{path}: {getattr(e, 'strerror', None) or 'not a text'}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            entry = entry_of(line, root)
            if entry.path in seen:
                raise BadList(f"{entry.path} is in line {seen[entry.path]}, too")
        except BadList as e:
            raise BadList(f"{path}:{number}: {e}") from None
        seen[entry.path] = number
        entries.append(entry)
    entries = [e for e in entries if fnmatch.fnmatchcase(e.path, only)]
    if not entries:
        raise BadList(f"{path}: no program in it" + ("" if only == "*" else f" fits {only}"))
    return entries


def add_list_arguments(parser):
    """What every command takes that runs the programs of a list."""

    def whole(path):
        return pathlib.Path(path).resolve()

    parser.add_argument("build", type=whole)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("out", type=whole)
    parser.add_argument("--root", type=whole, help="what $ROOT is in the list")
    parser.add_argument("--only", default="*", help="programs whose SUITE/NAME fits, as '*@small'")
