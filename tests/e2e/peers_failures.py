#!/usr/bin/env python3
"""Proxies that hand contents to each other: one is killed, the way between them is cut, they never reach each other.

Usage: peers_failures.py BUILD
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

from peers_job import *  # noqa: F401,F403


def test_killed():
    """A proxy's worker dies while contents go from it to the other."""
    for apart in (False, True):
        with proxies(2, apart) as all:
            program = subprocess.Popen([str(c) for c in command_of(all, tests_dir / "spanning", "churn")],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=dict(os.environ, **environment(all)))
            same(program.stdout.readline(), "ready 0\n", "first line")
            three = 3 * (16 << 20)  # of its buffers: counted when they begin to come
            until(lambda: sum(p.status()["peer_bytes_in_total"] for p in all) >= three, "contents go between them")
            os.kill(all[0].status()["sessions"][0]["pid"], signal.SIGKILL)
            out, err = program.communicate(timeout=60)
            same(program.returncode, 0, f"exit status: {err}")
            same(out.splitlines(), ["contents until then: yes", "an error: yes", "new buffer 0", "write 0", "read 0",
                                    "its contents: yes", "finish 0"], "codes")
            moved = json.loads(pathlib.Path("report.json").read_text())["moved"]
            check(moved["directly"]["moves"] > 0, f"nothing moved: {moved}")


NETWORK = """
set -e
ip netns add {0}-a; ip netns add {0}-b; ip netns add {0}-c
for side in a b; do
  n=$([ $side = a ] && echo 1 || echo 2)
  ip link add {0}$side netns {0}-c type veth peer name eth0 netns {0}-$side
  ip -n {0}-c addr add 10.77.$n.1/24 dev {0}$side; ip -n {0}-c link set {0}$side up
  ip -n {0}-$side addr add 10.77.$n.2/24 dev eth0; ip -n {0}-$side link set eth0 up; ip -n {0}-$side link set lo up
  ip -n {0}-$side route add default via 10.77.$n.1
done
ip -n {0}-c link set lo up
ip netns exec {0}-c sh -c "echo {1} > /proc/sys/net/ipv4/ip_forward"
"""


@contextlib.contextmanager
def islands(bridge=0):
    """Three network namespaces: the client's reaches both others, which reach each other only through it, if at all."""
    needs("ip")
    name = f"gt{os.getpid()}"
    try:
        made = run("sh", "-c", NETWORK.format(name, bridge))
        if made.code != 0:
            raise Skip(f"no network namespaces here: {made.err_text.strip()}")
        yield [("ip", "netns", "exec", f"{name}-{side}") for side in "abc"]
    finally:
        for side in "abc":
            run("ip", "netns", "del", f"{name}-{side}")


@contextlib.contextmanager
def on_islands(a, b):
    with contextlib.ExitStack() as stack:
        all = []
        for i, before in enumerate((a, b)):
            os.makedirs(f"run{i}", mode=0o700)
            env = dict(devices(1), XDG_RUNTIME_DIR=os.path.abspath(f"run{i}"))
            all.append(stack.enter_context(serving("--insecure", listen=f"tcp://10.77.{i + 1}.2:0", before=before,
                                                   name=f"proxy{i}", env=env)))
        yield all


def test_cut():
    """The way between the proxies is lost while contents go along it; both are still there for the client."""
    many = (tests_dir / "random_commands", "1", "40")
    here = good(*many, env=devices(2))
    with islands(bridge=1) as (a, b, client), on_islands(a, b) as all:
        program = subprocess.Popen([*client, *(str(c) for c in command_of(all, *many))], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment(all)))
        until(lambda: all[0].status()["peer_bytes_in_total"] > 1_000_000, "contents that go directly")
        good(*client, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
        out, err = program.communicate(timeout=120)
        same(program.returncode, 0, f"exit status: {err}")
        same(out, here.text, "the bytes differ")
        moved = json.loads(pathlib.Path("report.json").read_text())["moved"]
        check(moved["directly"]["moves"] > 0 and moved["through_us"]["moves"] > 0, f"both ways: {moved}")


def test_out_of_reach():
    """Proxies that do not reach each other: contents go through the client, with the same result."""
    here = good(tests_dir / "random_commands", "1", "20", env=devices(2))
    with islands() as (a, b, client), on_islands(a, b) as all:
        there, moved = launched(all, tests_dir / "random_commands", "1", "20", before=client)
        same(there.text, here.text, "the bytes differ")
        same(moved["directly"]["moves"], 0, "moved directly")
        check(moved["through_us"]["moves"] > 0, f"nothing moved: {moved}")
        log = "".join(p.log for p in all)
        check("peer" in log, f"the proxies say nothing: {log}")


main(dict(globals()))
