#!/usr/bin/env python3
"""Contents that go from proxy to proxy: by shared memory, over TCP and TLS; what happens when proxies do not reach each
other, and when one of them is killed. The oracle is the same program in the driver's own context of as many devices.

Usage: peers.py BUILD DOCS [PROGRAMS [SEED]]      PROGRAMS: how many random programs
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from proxy_job import *  # noqa: F401,F403
from proxy_tls import certificate, make_certificates
from virtual_job import native

PROGRAMS = arguments[1] if len(arguments) > 1 else "40"
SEED = arguments[2] if len(arguments) > 2 else "1"


@contextlib.contextmanager
def proxies(count, apart=True, serve=(), **options):
    """`apart`: they do not find each other's sockets, as if they were on different nodes."""
    with contextlib.ExitStack() as stack:
        all = []
        for i in range(count):
            env = dict(native(), POCL_DEVICES="pthread")
            if apart:
                os.makedirs(f"run{i}", mode=0o700, exist_ok=True)
                env["XDG_RUNTIME_DIR"] = os.path.abspath(f"run{i}")
            all.append(stack.enter_context(serving(*serve, name=f"proxy{i}", env=env, **options)))
        yield all


def devices(count):
    return dict(native(), POCL_DEVICES=" ".join(["pthread"] * count))


def command_of(all, *command, options=(), urls=None):
    where = ",".join(urls or [p.url for p in all])
    return (GOPTIMIZE, "run", "--remote", where, "--only", "remote", "--report", "report.json", *options, "--", *command)


def environment(all):
    return {**own_folders(), **devices(1), "GTRACE_TOKEN_FILE": all[0].token}


def launched(all, *command, before=(), **more):
    outcome = run(*before, *command_of(all, *command, **more), env=environment(all), timeout=120)
    same(outcome.code, 0, f"exit status: {outcome.err_text}")
    return outcome, json.loads(pathlib.Path("report.json").read_text())["remote"]["moved"]


def all_yes(text, least):
    same([line for line in text.splitlines() if line.endswith("NO")], [], "what is wrong")
    check(text.count(": yes") >= least, f"little was looked at: {text}")


def totals(all):
    """What came and went by peers; the session's last numbers are told when its process has ended."""
    until(lambda: not any(p.status()["sessions"] for p in all), "the sessions' end")
    each = [p.status() for p in all]
    return [sum(s[f"peer_bytes_{way}_total"] for s in each) for way in ("in", "out")]


def directly(all, moved):
    """Everything went from proxy to proxy, and they have seen it."""
    check(moved["directly"]["moves"] > 0, f"nothing moved: {moved}")
    same(moved["through_us"], {"moves": 0, "bytes": 0}, "moved through the program")
    same(totals(all), [moved["directly"]["bytes"]] * 2, "what the proxies counted")


def test_contents():
    for apart in (False, True):
        with proxies(2, apart) as all:
            outcome, moved = launched(all, tests_dir / "spanning", "moves")
            all_yes(outcome.text, 9)
            directly(all, moved)


def test_random_programs():
    for count in (2, 3):
        here = good(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(count))
        with proxies(count) as all:
            there, moved = launched(all, tests_dir / "random_commands", SEED, PROGRAMS)
            same(there.text, here.text, f"{count} proxies: the bytes differ")
            directly(all, moved)


def test_one_proxy_twice():
    """Two workers of one proxy."""
    here = good(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(2))
    with proxies(1) as all:
        there, moved = launched(all, tests_dir / "random_commands", SEED, PROGRAMS, urls=[all[0].url, all[0].url])
        same(there.text, here.text, "the bytes differ")
        directly(all, moved)


def test_certificates():
    make_certificates()
    serve = ("--cert", "node.crt", "--key", "node.key", "--ca", "ca.crt")
    with proxies(2, serve=serve, listen="tls://127.0.0.1:0") as all:
        outcome, moved = launched(all, tests_dir / "spanning", "moves", options=certificate("ann"))
        all_yes(outcome.text, 9)
        directly(all, moved)


def test_encrypted_and_not():
    """What a client sends encrypted does not go between proxies in clear: it goes through the client."""
    make_certificates()
    serve = ("--cert", "node.crt", "--key", "node.key", "--ca", "ca.crt")
    os.makedirs("run-tls", mode=0o700)
    env = dict(devices(1), XDG_RUNTIME_DIR=os.path.abspath("run-tls"))
    with proxies(1) as all, serving(*serve, listen="tls://127.0.0.1:0", name="encrypted", env=env) as encrypted:
        both = [all[0], encrypted]
        outcome, moved = launched(both, tests_dir / "spanning", "moves", options=certificate("ann"))
        all_yes(outcome.text, 9)
        # The proxy without certificates reaches the other by tls:// no more than the other it by tcp://.
        same(moved["directly"]["moves"], 0, "moved directly")
        check(moved["through_us"]["bytes"] > 0, f"nothing moved: {moved}")


def test_killed():
    """A proxy's worker dies while contents go from it to the other."""
    for apart in (False, True):
        with proxies(2, apart) as all:
            program = subprocess.Popen([str(c) for c in command_of(all, tests_dir / "spanning", "churn")],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=dict(os.environ, **environment(all)))
            same(program.stdout.readline(), "ready 0\n", "first line")
            time.sleep(1)
            os.kill(all[0].status()["sessions"][0]["pid"], signal.SIGKILL)
            out, err = program.communicate(timeout=60)
            same(program.returncode, 0, f"exit status: {err}")
            same(out.splitlines(), ["contents until then: yes", "an error: yes", "new buffer 0", "write 0", "read 0",
                                    "its contents: yes", "finish 0"], "codes")
            moved = json.loads(pathlib.Path("report.json").read_text())["remote"]["moved"]
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
    many = (tests_dir / "random_commands", SEED, "40")
    here = good(*many, env=devices(2))
    with islands(bridge=1) as (a, b, client), on_islands(a, b) as all:
        program = subprocess.Popen([*client, *(str(c) for c in command_of(all, *many))], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment(all)))
        until(lambda: all[0].status()["peer_bytes_in_total"] > 1_000_000, "contents that go directly")
        good(*client, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
        out, err = program.communicate(timeout=120)
        same(program.returncode, 0, f"exit status: {err}")
        same(out, here.text, "the bytes differ")
        moved = json.loads(pathlib.Path("report.json").read_text())["remote"]["moved"]
        check(moved["directly"]["moves"] > 0 and moved["through_us"]["moves"] > 0, f"both ways: {moved}")


def test_out_of_reach():
    """Proxies that do not reach each other: contents go through the client, with the same result."""
    here = good(tests_dir / "random_commands", SEED, "20", env=devices(2))
    with islands() as (a, b, client), on_islands(a, b) as all:
        there, moved = launched(all, tests_dir / "random_commands", SEED, "20", before=client)
        same(there.text, here.text, "the bytes differ")
        same(moved["directly"]["moves"], 0, "moved directly")
        check(moved["through_us"]["moves"] > 0, f"nothing moved: {moved}")
        log = "".join(p.log for p in all)
        check("peer" in log, f"the proxies say nothing: {log}")


main(dict(globals()))
