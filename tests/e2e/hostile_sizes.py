#!/usr/bin/env python3
"""Offsets, regions and pitches that overflow or lie outside, for every function that takes them: a remote device and
staging answer as the driver does, and leave the same bytes. Drivers crash or hang at some of them: a case without an
answer is left out. Drivers let some pass whose sums wrap around: what OpenCL does not allow may be refused. A part of a buffer may be wrong in several ways, each with a code of its own.

Usage: hostile_sizes.py BUILD [CASES]
"""

import os
import subprocess

from virtual_job import *  # noqa: F401,F403

PROGRAM = tests_dir / "hostile_sizes"
CASES = int(arguments[0]) if arguments else 960
AT_A_TIME = 240
SECONDS = 3  # for each of those the driver needs a fraction of one


def answers():
    """The driver's: {case: line}, and the cases that it has none for."""
    env = dict(os.environ, **native())
    found, unanswered, first = {}, [], 0
    while first < CASES:
        command = [str(PROGRAM), str(first), str(min(first + AT_A_TIME, CASES))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        try:
            text, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
        for line in text.splitlines():
            first = int(line.split()[0]) + 1
            found[first - 1] = line
        if process.returncode != 0:
            unanswered.append(first)
            first += 1
    return found, unanswered


FOUND, UNANSWERED = answers()


def parts(line):
    """The case, its answer (two codes), and the line if it is to be the same: what the bytes are after a call that OpenCL
    does not allow depends on the driver's memory."""
    case, rest = line.split(maxsplit=1)
    code, finish, _, allowed = rest.split(": ")[1].split()
    return int(case), (code, finish), line if allowed == "allowed" else None


def is_answered(line):
    case, answer, whole = parts(line)
    _, native_answer, native_line = parts(FOUND[case])
    if whole or native_line:
        return whole == native_line
    refused = answer[0] != "0" and (native_answer[0] == "0" or "part of a buffer" in line)
    return refused or answer == native_answer


def same_answers(way, *around, env, without=()):
    got = good(*around, PROGRAM, 0, CASES, *UNANSWERED, *without, env=env, timeout=120).text.splitlines()
    differ = [f"{line}   natively {FOUND[int(line.split()[0])]}" for line in got if not is_answered(line)]
    same(differ, [], way)
    same(len(got), len(FOUND) - len(without), f"{way}: answers")


def test_the_driver():
    check(len(FOUND) > CASES * 9 // 10, f"the driver answers {len(FOUND)} of {CASES}")
    codes = {line.split(": ")[1].split()[0] for line in FOUND.values()}
    check({"0", "-30"} <= codes, f"its codes: {codes}")
    check(sum(parts(line)[2] is not None for line in FOUND.values()) > CASES // 8, "few cases are allowed")


def test_in_the_process():
    same_answers("in the process", env=virtual())


def test_elsewhere():
    for url in elsewhere():
        with server(url) as (env, _):
            same_answers(url, env=env)


def test_staged():
    """What a driver lets pass although it is wrong overwrites memory of the driver's: here that is the program's."""
    passed = [case for case, (code, _), whole in map(parts, FOUND.values()) if code == "0" and not whole]
    same_answers("staged", GOPTIMIZE, "run", "--stage", "always", "--reuse", "always", "--", env=native(), without=passed)


main(dict(globals()))
