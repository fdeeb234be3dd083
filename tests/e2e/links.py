#!/usr/bin/env python3
"""Remote devices over links that are slow, far away, or cut: two network namespaces as two hosts, joined by a pair of
virtual interfaces with a rate (tbf), and a relay that delays on the loopback address.

Usage: links.py BUILD
Namespaces need root; without it their tests are skipped.
"""

import contextlib
import os
import re
import subprocess
import threading
import time

from job import *  # noqa: F403
from remote_failures import BOUNDED, Program, Relay
from remote_job import DEVICE, client, natively, proxy, remotely

QUEUE_MS = 400  # how long a packet may wait in the bottleneck: what a sender that fills it would see
GRACE_S = 6     # a cut link is given up after it


class Hosts:
    """Two hosts and the cable between them."""

    SERVER, CLIENT = "10.213.7.1", "10.213.7.2"

    def __init__(self):
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        needs("ip", "tc")
        self.server, self.client = (f"gtrace-{who}-{os.getpid()}" for who in ("server", "client"))
        try:
            for name in (self.server, self.client):
                self.ip("netns", "add", name)
        except subprocess.CalledProcessError as e:
            self.close()
            raise Skip(f"no network namespaces here: {e.stderr.strip()}")
        self.ip("link", "add", "cable0", "netns", self.server, "type", "veth", "peer", "name", "cable0", "netns", self.client)
        for name, address in ((self.server, self.SERVER), (self.client, self.CLIENT)):
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "address", "add", f"{address}/24", "dev", "cable0")
            self.ip("-n", name, "link", "set", "cable0", "up")

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)

    def at(self, name):
        return ["ip", "netns", "exec", name]

    def rate(self, rate):
        for name in (self.server, self.client):
            subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", "cable0", "root", "tbf", "rate", rate, "burst",
                            "32kb", "latency", f"{QUEUE_MS}ms"], check=True, capture_output=True)

    def check_used(self, MiB):
        """At least so much went through the cable each way."""
        for name in (self.server, self.client):
            told = subprocess.run(["tc", "-s", "-n", name, "qdisc", "show", "dev", "cable0"], check=True, capture_output=True,
                                  text=True).stdout
            sent = int(re.search(r"Sent (\d+) bytes", told)[1])
            check(sent >= MiB << 20, f"only {sent} bytes from {name}")

    def cut(self):
        self.ip("-n", self.server, "link", "set", "cable0", "down")

    def heal(self):
        self.ip("-n", self.server, "link", "set", "cable0", "up")

    def proxy(self):
        return proxy("--insecure", listen=f"tcp://{self.SERVER}:0", before=self.at(self.server))

    def close(self):
        for name in (self.server, self.client):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def hosts():
    return contextlib.closing(Hosts())


def elsewhere(h, p, *command, **more):
    """A program on the other host."""
    launcher = (*h.at(h.client), GOPTIMIZE, "run", "--remote", p.url, "--only", "remote", "--")
    return run(*launcher, *command, env=client(p), timeout=60, **more)


def same_there(h, p, *command):
    expected = natively(*command)
    there = elsewhere(h, p, *command)
    check("remote: 1 devices" in there.err_text, there.err_text)
    same((there.code, there.out), (expected.code, expected.out), " ".join(map(str, command)))


def test_links_keep_their_promises_at_every_rate():
    """The conformance suite, its servers on the other host."""
    with hosts() as h:
        for rate in "100mbit", "1gbit":
            h.rate(rate)
            outcome = run(*h.at(h.client), tests_dir / "link_conformance_test",
                          env={"GT_TEST_FAR_HOST": f"{h.SERVER} {h.server}"}, timeout=300)
            same(outcome.code, 0, f"exit status at {rate}")
        h.check_used(MiB=40)


def test_outputs_are_native_at_every_rate():
    with hosts() as h, h.proxy() as p:
        for rate, seeds in (("100mbit", 1), ("1gbit", 3)):
            h.rate(rate)
            same_there(h, p, tests_dir / "random_commands", 1, seeds)
            same_there(h, p, app("transpose"), "--small", "--iterations", 1)


def test_outputs_are_native_at_every_delay():
    with proxy() as p, contextlib.closing(Relay(p.port)) as relay:
        for delay_us, seeds in ((0, 3), (50, 3), (200, 3), (10000, 1)):
            relay.say(f"delay {delay_us}")
            job = (tests_dir / "random_commands", 11, seeds)
            there = remotely(p, *job, url=relay.url)
            check("remote: 1 devices" in there.err_text, there.err_text)
            same((there.code, there.out), (0, natively(*job).out), f"{delay_us} us")


def numbers(outcome):
    same(outcome.code, 0, f"exit status: {outcome.err_text}")
    return {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", outcome.text, re.M)}


def test_small_commands_stay_fast_under_bulk():
    """A sender that fills the bottleneck's queue would see QUEUE_MS; a command behind a transfer of 16 MiB 1.3 s."""
    with hosts() as h, h.proxy() as p:
        h.rate("100mbit")
        n = numbers(elsewhere(h, p, tests_dir / "link_job", "bulk", 8))
        print(f"  a launch and its end: {n['idle_us'] / 1000:.1f} ms, under bulk {n['loaded_us'] / 1000:.1f} ms (median of"
              f" {n['samples']}, {n['moved_kib']} KiB moved meanwhile)", flush=True)
        check(n["samples"] >= 10 and n["moved_kib"] >= 4096, f"the load was one: {n}")
        check(n["loaded_us"] < QUEUE_MS * 1000 / 4 + 4 * n["idle_us"], f"small commands wait behind bulk: {n}")


def begun(h, p, *command):
    """A program on the other host that has begun its work."""
    process = subprocess.Popen([*h.at(h.client), GOPTIMIZE, "run", "--remote", p.url, "--", *map(str, command)],
                               env={**os.environ, **client(p)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if line != "begins 0\n":
        process.kill()
        check(False, f"{line!r} {process.communicate()}")
    return process


def test_a_short_cut_is_bridged():
    """What was launched before, during and after runs once each."""
    with hosts() as h, h.proxy() as p:
        process = begun(h, p, tests_dir / "link_job", "count", 7)
        time.sleep(1)
        h.cut()
        time.sleep(4.5)
        h.heal()
        out, err = process.communicate(timeout=60)
        same(process.returncode, 0, f"exit status: {out} {err}")
        n = {name: int(value) for name, value in re.findall(r"^(\w+) (\d+)$", out, re.M)}
        print(f"  {n['launched']} launches; the longest wait {n['longest_ms']} ms", flush=True)
        check(n["launched"] > 20, out)
        same(n["counted"], n["launched"], "executed, launched")
        check(n["longest_ms"] >= 1000, f"nothing waited for the link: {out}")


def test_a_long_cut_is_an_error():
    """Only of the device behind it, and within the grace and a little."""
    with hosts() as h, h.proxy() as p, contextlib.ExitStack() as stack:
        programs = {phase: begun(h, p, tests_dir / "phases", phase) for phase in ("launch", "write", "read", "map")}
        for process in programs.values():
            stack.callback(process.kill)
        h.cut()
        since = time.monotonic()
        healing = threading.Timer(8, h.heal)
        healing.start()
        for phase, process in programs.items():
            out, err = process.communicate(timeout=60)
            took = time.monotonic() - since
            same(out.splitlines(), ["lost -2", "available 0", "here 0"], f"{phase}: {err}")
            check(GRACE_S - 2 < took < BOUNDED, f"{phase}: {took:.1f} s")
        print(f"  all knew after {took:.1f} s", flush=True)
        healing.join()
        check("PASS" in elsewhere(h, p, app("vadd")).text, "the next program")


main(globals())
