#!/usr/bin/env python3
"""Contents that many proxies need go along a chain of them: each sends them once. The oracle is what the program knows
of its own bytes, and what the proxies have counted.

Usage: peers_chain.py BUILD
"""

import json
import os
import pathlib
import signal
import subprocess

from peers_job import *  # noqa: F401,F403

PROXIES, MIB = 4, 24
PROGRAM = tests_dir / "one_for_many"


def answers(text):
    return {line.split(": ")[0]: line.split(": ")[1] for line in text.splitlines()}


def test_each_sends_it_once():
    rounds = 2
    for apart in (False, True):
        with proxies(PROXIES, apart) as all:
            outcome, moved = launched(all, PROGRAM, MIB, rounds)
            all_yes(outcome.text, PROXIES * rounds)
            directly(all, moved)
            each = sorted(p.status()["peer_bytes_out_total"] for p in all)
            same(each, [0] + [rounds * MIB << 20] * (PROXIES - 1), "what each proxy sent to others")


def test_small_contents_come_from_who_has_them():
    with proxies(PROXIES) as all:
        outcome, moved = launched(all, PROGRAM, 1, 1)
        all_yes(outcome.text, PROXIES)
        directly(all, moved)


def test_three_proxies_with_two_devices_each():
    with proxies(3, env_devices="pthread pthread") as all:
        outcome, moved = launched(all, PROGRAM, MIB, 2)
        all_yes(outcome.text, 12)
        same(moved["through_us"], {"moves": 0, "bytes": 0}, "moved through the program")


def test_a_link_of_the_chain_dies():
    """The second proxy's worker is killed while contents go through it: the others have them nevertheless."""
    mib, rounds = 48, 6
    with proxies(PROXIES) as all:
        program = subprocess.Popen([str(c) for c in command_of(all, PROGRAM, mib, rounds)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment(all)))
        until(lambda: sum(p.status()["peer_bytes_in_total"] for p in all) > 16 << 20, "contents go between them")
        os.kill(all[1].status()["sessions"][0]["pid"], signal.SIGKILL)
        out, err = program.communicate(timeout=90)
        same(program.returncode, 0, f"exit status: {err}")
        each = answers(out)
        same(len(each), PROXIES * rounds, f"answers: {out}")
        wrong = {who: how for who, how in each.items() if not who.startswith("1 of ") and how != "yes"}
        same(wrong, {}, "devices that are there")
        check(each[f"1 of round {rounds - 1}"].startswith("error"), f"a device that is gone: {out}")


main(dict(globals()))
