#!/usr/bin/env python3
"""Proxies that reach each other only in part: three hosts and the client's, all joined, but no way between two of them.
Every device has the right bytes, whatever their order; what can go from proxy to proxy does.

Usage: peers_partly.py BUILD
Namespaces need root; without it the tests are skipped.
"""

import contextlib
import itertools
import os
import subprocess

from peers_job import *  # noqa: F401,F403

A, B, C, CLIENT = range(4)
MIB = 12
PROGRAM = tests_dir / "one_for_many"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def address(host):
    return f"10.213.{40 + host}.2"


@contextlib.contextmanager
def hosts(apart):
    """Names of four hosts at one switch, which takes nothing from one of `apart` to the other."""
    if os.geteuid() != 0:
        raise Skip("network namespaces need root")
    needs("ip")
    names = [f"gtrace-partly-{i}-{os.getpid()}" for i in range(CLIENT + 1)]
    switch = f"gtrace-partly-switch-{os.getpid()}"
    made = []
    try:
        for name in (*names, switch):
            try:
                ip("netns", "add", name)
            except subprocess.CalledProcessError as e:
                raise Skip(f"no network namespaces here: {e.stderr.strip()}")
            made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("netns", "exec", switch, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        for i, name in enumerate(names):
            gate = address(i).rpartition(".")[0] + ".1"
            ip("link", "add", f"port{i}", "netns", switch, "type", "veth", "peer", "name", "cable0", "netns", name)
            for where, device, its in ((switch, f"port{i}", gate), (name, "cable0", address(i))):
                ip("-n", where, "address", "add", f"{its}/24", "dev", device)
                ip("-n", where, "link", "set", device, "up")
            ip("-n", name, "route", "add", "default", "via", gate)
        for one, other in itertools.permutations(apart, 2):
            ip("-n", switch, "rule", "add", "from", address(one), "to", address(other), "prohibit")
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@contextlib.contextmanager
def proxies_on(names):
    with contextlib.ExitStack() as stack:
        all = []
        for i in (A, B, C):
            os.makedirs(f"run{i}", mode=0o700, exist_ok=True)
            env = dict(native(), POCL_DEVICES="pthread", XDG_RUNTIME_DIR=os.path.abspath(f"run{i}"))
            all.append(stack.enter_context(serving("--insecure", name=f"proxy{i}", env=env, listen=f"tcp://{address(i)}:0",
                                                   before=["ip", "netns", "exec", names[i]])))
        yield all


def test_two_of_three_do_not_reach_each_other():
    rounds = 3
    with hosts((A, C)) as names, proxies_on(names) as all:
        for order in ((A, B, C), (B, A, C), (A, C, B)):
            urls = [all[i].url for i in order]
            outcome, moved = launched(all, PROGRAM, MIB, rounds, urls=urls, before=["ip", "netns", "exec", names[CLIENT]])
            all_yes(outcome.text, 3 * rounds)
            # The one behind B is next to the other one in the list: it has them from B as soon as it is known that
            # there is no other way. Where B is the last, it is the client that has a link to both.
            most = {0: 1, 1: 0, 2: rounds}[order.index(B)]
            check(moved["through_us"]["moves"] <= most, f"{order}: {moved}")
            check(moved["directly"]["moves"] >= 2 * rounds - most, f"{order}: {moved}")


def test_nobody_reaches_anybody():
    with hosts((A, B, C)) as names, proxies_on(names) as all:
        outcome, moved = launched(all, PROGRAM, MIB, 2, before=["ip", "netns", "exec", names[CLIENT]])
        all_yes(outcome.text, 6)
        same(moved["directly"]["moves"], 0, f"moved by a link that cannot be: {moved}")


main(dict(globals()))
