"""A program's trace, unfolded, beside an independent log of the same program."""

import pathlib

from compare import Different, compare
from job import *  # noqa: F403

LOGGER = tests_dir / "libdumb_logger.so"


def log(*command, env=None):
    """Runs it; the log with the most lines: compilers that the driver starts have theirs, too."""
    outcome = run(*command, env={**(env or {}), "LD_PRELOAD": str(LOGGER), "DUMB_LOG": "dumb"})
    return outcome, max(pathlib.Path(".").glob("dumb.*"), key=lambda p: p.stat().st_size)


def agree(*command, name, more_than, env=None):
    """That both say the same, call by call, of more calls than so many. Gives how the two runs ended."""
    alone, ours = log(*command, env=env)
    recorded = traced(*command, env=env or {})
    pathlib.Path("expanded").write_bytes(good(GTRACE, "expand", "--json", "trace.db").out)
    try:
        count = compare(ours, "expanded", name)
    except Different as e:
        check(False, str(e))
    check(count > more_than, f"only {count} calls were compared")
    print(f"  {name}: {count} calls agree")
    return alone, recorded
