"""What the tests of links between proxies share: proxies, alone or apart, and programs in one context of all of them."""

import contextlib
import json
import os
import pathlib

from proxy_job import *  # noqa: F401,F403
from virtual_job import native


@contextlib.contextmanager
def proxies(count, apart=True, serve=(), env_devices="pthread", **options):
    """`apart`: they do not find each other's sockets, as if they were on different nodes."""
    with contextlib.ExitStack() as stack:
        all = []
        for i in range(count):
            env = dict(native(), POCL_DEVICES=env_devices)
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
    return outcome, json.loads(pathlib.Path("report.json").read_text())["moved"]


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
