#!/usr/bin/env python3
"""goptimize run --remote: the list of devices, whose contexts are whose, what happens without a proxy.

Usage: remote.py BUILD
"""

import json
import os
import pathlib
import re

from job import *  # noqa: F403
from remote_job import client, natively, only_driver, proxy, remotely, ways

NOBODY = "tcp://127.0.0.1:1"


def memories(out):
    """Of the devices in a program's list, in GiB, rounded: 4 is the proxy's."""
    sizes = re.findall(r"^\[\w+/\d+\]\s+CL_DEVICE_GLOBAL_MEM_SIZE\s+(\d+)", out, re.M)
    return [round(int(s) / (1 << 30)) for s in sizes]


def listed(p, *options, url=None, **more):
    return memories(remotely(p, "clinfo", "--raw", url=url, options=options, **more).text)


def test_one_list():
    needs("clinfo")
    with proxy() as p:
        here = round(int(re.search(r"CL_DEVICE_GLOBAL_MEM_SIZE\s+(\d+)", good("clinfo", "--raw").text)[1]) / (1 << 30))
        if here == 4:
            raise Skip("this machine's device looks like the proxy's")
        same(listed(p), [here, 4], "local devices first")
        same(listed(p, "--order", "remote-first"), [4, here], "remote devices first")
        same(listed(p, url=",".join(ways(p))), [here, 4, 4], "two proxies")
        same(listed(p, "--only", "remote"), [4], "remote devices")
        same(listed(p, "--only", "local"), [here], "local devices")
        same(listed(p, "--only", "1"), [4], "by number")
        same(listed(p, "--only", "0,1"), [here, 4], "by numbers")
        same(listed(p, "--only", "pthread*"), [here, 4], "by pattern")
        same(listed(p, "--only", "no such device"), [here], "none is left: the program gets what it would have got")
        same(listed(p, env={"GTRACE_ORDER": "remote-first"}), [4, here], "GTRACE_ORDER")
        same(listed(p, "--order", "local-first", env={"GTRACE_ORDER": "remote-first"}), [here, 4], "an option wins")
        same(listed(p, env={"GTRACE_ONLY": "remote"}), [here, 4], "GTRACE_ONLY is no longer read")
        variables = {**client(p), "GTRACE_REMOTE": p.url}
        same(memories(run(GOPTIMIZE, "run", "--", "clinfo", "--raw", env=variables).text), [here, 4], "GTRACE_REMOTE")


def platform_of(outcome):
    lines = re.findall(r"^  (CL_PLATFORM_\w+)\s+(.*)$", outcome.text, re.M)
    same([name for name, _ in lines].count("CL_PLATFORM_NAME"), 1, "platforms")
    return dict(lines)


def test_platforms_name():
    needs("clinfo")
    with proxy() as p:
        native = platform_of(good("clinfo", "--raw", env=client(p)))
        extensions = native.pop("CL_PLATFORM_EXTENSIONS").split()
        native.pop("CL_PLATFORM_EXTENSIONS_WITH_VERSION", None)
        for options in (("--only", "remote"), (), ("--platform-name", "native"), ("--platform-name", "auto")):
            shown = platform_of(remotely(p, "clinfo", "--raw", options=options))
            some = shown.pop("CL_PLATFORM_EXTENSIONS").split()
            shown.pop("CL_PLATFORM_EXTENSIONS_WITH_VERSION", None)
            same(shown, native, f"{options}: the native platform's")
            check("cl_khr_icd" in some and not set(some) - set(extensions), f"{options}: {some}")
        for options, env in ((("--platform-name", "gtrace"), {}), ((), {"GTRACE_PLATFORM_NAME": "gtrace"})):
            same(platform_of(remotely(p, "clinfo", "--raw", options=options, env=env))["CL_PLATFORM_NAME"], "gtrace", options)
        outcome = remotely(p, "clinfo", options=("--platform-name", "Fancy CL"))
        one_line(outcome, USAGE, "--platform-name", "Fancy CL")


def test_devices_command():
    with proxy() as p:
        lines = good(GOPTIMIZE, "devices", "--remote", p.url, env=client(p)).text.splitlines()
        check(len(lines) == 2 and lines[1].startswith("1: ") and "gtrace" in lines[1], lines)
        data = good(GOPTIMIZE, "devices", "--json", "--remote", p.url, env=client(p)).json
        same((data["format"], data["version"]), ("gtrace-devices", 1), "format")
        same([(d["number"], d["remote"]) for d in data["devices"]], [(0, False), (1, True)], "devices")
        for line, d in zip(lines, data["devices"]):
            memory = f"{d['memory_bytes'] / 2**30:.1f} GiB"
            same(line, f"{d['number']}: {d['name']} ({d['platform']}, driver {d['driver']}, {memory})", "the same device")
        refused = run(GOPTIMIZE, "devices", "--remote", NOBODY, env=client(p))
        same(refused.code, ENVIRONMENT, "exit status without a proxy")
        check(NOBODY in refused.err_text, refused.err_text)


def test_local_devices_stay_native():
    """What is done for local devices is done beside remote ones; nothing of it is done to remote ones."""
    with proxy() as p:
        for device, staged in (("0", True), ("1", False)):
            job = (app("sgemm"), "--size", 256, "--device", device)
            outcome = remotely(p, *job, options=("--stage", "always", "--reuse", "never", "--report", "report.json"))
            same(outcome.out, natively(*job[:3]).out, "stdout")
            report = json.loads(pathlib.Path("report.json").read_text())
            same(report["staged"]["transfers"] > 0, staged, f"device {device} is staged")
            same(report["fallbacks"], {}, "fallbacks")
            nothing = {"moves": 0, "bytes": 0}
            same(report["moved"], dict.fromkeys(("directly", "through_us", "here", "by_devices"), nothing), "moves")
            used = device == "1"
            same(report["remote"], {"urls": p.url, "devices": 1, "contexts": used,
                                    "dedup": {"chunks": 0, "bytes_not_sent": 0, "bytes_missed": 0},
                                    "compress": dict.fromkeys(("chunks_sent", "bytes_not_sent", "chunks_read",
                                                               "bytes_not_read"), 0),
                                    "zero_copy": {"transfers": 0, "bytes": 0}}, "the report")
            same("none of them used" in outcome.err_text, not used, f"it is said that remote devices were not used: {outcome.err_text}")
            check(used or "(--order remote-first, or --only remote)" in outcome.err_text, outcome.err_text)


def test_contexts_that_span():
    """Every program uses all devices of the list in one context: local, over TCP, by shared memory."""
    with proxy() as p:
        job = (tests_dir / "random_commands", 1, 30)
        expected = natively(*job)
        for options in ((), ("--order", "remote-first")):
            outcome = remotely(p, *job, url=",".join(ways(p)), options=options)
            same((outcome.code, outcome.out), (expected.code, expected.out), f"random programs, {options}")
            check("remote: 2 devices" in outcome.err_text, outcome.err_text)


def no_devices(outcome, url, *words):
    lines = [l for l in outcome.err_text.splitlines() if l.startswith("gtrace:")]
    same(len(lines), 1, "lines of ours")
    for word in (f"no devices from {re.escape(url)}: ", *words):
        check(re.search(word, lines[0]), f"no '{word}' in {lines[0]}")


def test_without_a_proxy_the_program_has_its_own():
    only_driver()
    expected = good(app("vadd")).out
    for url in (NOBODY, "shm:nobody"):
        outcome = good(GOPTIMIZE, "run", "--remote", url, "--", app("vadd"), env={"XDG_RUNTIME_DIR": os.getcwd(),
                                                                                "GTRACE_TOKEN_FILE": ""})
        same(outcome.out, expected, "stdout")
        no_devices(outcome, url)
    no_devices(good(GOPTIMIZE, "run", "--remote", "x://y", "--", app("vadd")), "x://y", "scheme")


def test_a_forgotten_url():
    one_line(run(GOPTIMIZE, "run", "--remote", "--", app("vadd")), USAGE, "--remote", "value is missing")


def test_who_is_not_let_in():
    with proxy() as p:
        other = pathlib.Path("other.token")
        other.write_text("ab" * 32 + "\n")
        other.chmod(0o600)
        outcome = remotely(p, app("vadd"), options=("--token-file", other))
        same(outcome.code, 0, "exit status")
        no_devices(outcome, p.url, "token")
        one_line(remotely(p, app("vadd"), options=("--token-file", "missing")), INPUT, "missing")
        outcome = remotely(p, app("vadd"), url=f"{NOBODY},{p.url}")
        no_devices(outcome, NOBODY)
        check("1 devices of" in outcome.err_text, outcome.err_text)


def test_exit_statuses():
    with proxy() as p:
        for command, code in ((("sh", "-c", "exit 7"), 7), (("sh", "-c", "kill -9 $$"), 137), ((app("vadd"), "--kill-at", "2", "--abort"), 134),
                              ((app("vadd"), "--kill-at", "2", "--exit"), 3)):
            same(remotely(p, *command).code, code, f"exit status of {command[-1]}")
        same(remotely(p, "no_such_program").code, run(GOPTIMIZE, "run", "--", "no_such_program").code, "no program")
        p.sessions(0)


def test_sync_errors():
    with proxy() as p:
        for url in ways(p):
            outcome = remotely(p, app("vadd"), url=url, options=("--only", "remote", "--sync-errors"))
            same(outcome.out, natively(app("vadd")).out, "stdout")


main(globals())
