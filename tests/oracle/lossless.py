#!/usr/bin/env python3
"""What a trace unfolds to is what an independent log of the same program says, call by call.

Usage: lossless.py BUILD PROGRAM [ARGUMENT...]      (PROGRAM: a file name under bin/apps or tests)
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from job import *  # noqa: E402, F403
from compare import Different, compare  # noqa: E402
from unfolded import agree, log  # noqa: E402

NAME = arguments[0]
PROGRAM = next((p for p in (apps / NAME, tests_dir / NAME) if p.exists()), NAME)
COMMAND = (PROGRAM, *arguments[1:])


def test_lossless():
    run(*COMMAND)  # the driver's kernel cache is warm from here on
    agree(*COMMAND, name=NAME, more_than=20)


def test_a_missing_call_is_noticed():
    _, ours = log(*COMMAND)
    traced(*COMMAND)
    lines = good(GTRACE, "expand", "--json", "trace.db").text.splitlines(keepends=True)
    victim = next(i for i, l in enumerate(lines) if f'"{NAME}+' in l and ('"clSetKernelArg"' in l or '"calloc"' in l))
    pathlib.Path("expanded").write_text("".join(lines[:victim] + lines[victim + 1:]))
    try:
        compare(ours, "expanded", NAME)
    except Different:
        return
    check(False, "the comparison does not see a missing call")


main(globals())
