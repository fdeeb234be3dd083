#!/usr/bin/env python3
"""gmicrobench apps: the table, JSON and page of a few programs; programs that fail; what it refuses.

Usage: apps_command.py BUILD
"""

import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import time

from job import *  # noqa: F403
from remote_job import client, only_driver, proxy

GMICROBENCH = str(bin_dir / "gmicrobench")
POLICIES = ["default", "goptimize", "goptimize-noprofile", "hand-pinned"]


def suite(*options, **more):
    return run(GMICROBENCH, "apps", "--repeat", 1, "--iterations", 2, *options, **more)


def folder_of_programs(**broken):
    """The programs as links; those that are named get a script's text instead."""
    folder = pathlib.Path("programs").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for program in apps.iterdir():
        (folder / program.name).symlink_to(program)
    for name, script in broken.items():
        path = folder / f"app_{name}"
        path.unlink()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def wait_for(condition, text):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    check(False, text)


def number(value):
    return isinstance(value, (int, float)) and value > 0


def test_json():
    outcome = suite("--size", "small", "--only", "transpose,nn", "--json", "--html", "page.html")
    result = outcome.json
    keys(result, "format", "version", "device", "size", "repeat", "policies", "programs", "slower", "summary")
    same((result["format"], result["version"], result["size"], result["repeat"]), ("gtrace-apps", 1, "small", 1), "head")
    same(result["policies"], POLICIES, "policies")
    same([p["name"] for p in result["programs"]], ["nn", "transpose"], "programs, in the catalogue's order")
    for p in result["programs"]:
        keys(p, "name", "shape", "dispatch_ratio", "eligible", "runs", "failures")
        same((p["failures"], number(p["dispatch_ratio"])), ([], True), "no failure, a ratio")
        same(p["eligible"], p["dispatch_ratio"] >= 0.1, "eligible at 0.1")
        same([r["policy"] for r in p["runs"]], POLICIES, "a run for each policy")
        for r in p["runs"]:
            keys(r, "policy", "time_s", "spread", "times_s", "speedup", "speedup_interval", "of_hand_pinned")
            same(r["speedup_interval"], [r["speedup"]] * 2, "the interval of one round")
            same((len(r["times_s"]), r["times_s"][0], r["spread"]), (1, r["time_s"], 0), "one time")
            check(number(r["time_s"]) and number(r["speedup"]) and number(r["of_hand_pinned"]), f"numbers: {r}")
            same("optimizer" in r, "goptimize" in r["policy"], "what the optimizer did")
        same(p["runs"][0]["speedup"], 1, "the default's speedup")
        keys(p["runs"][1]["optimizer"], "decision", "sites", "staged", "pinned", "fallbacks")
        keys(p["runs"][1]["optimizer"]["staged"], "transfers", "bytes", "suspensions", "left")
    check(result["summary"], "no summary")
    for s in result["summary"]:
        keys(s, "policy", "eligible", "speedup", "of_hand_pinned")
    page = pathlib.Path("page.html").read_text()
    for word in ("<svg", "prefers-color-scheme: dark", "transpose", "hand-pinned", "</html>"):
        check(word in page, f"no {word} in the page")
    check("://" not in page and "src=" not in page, "the page needs something from elsewhere")


def test_remote_devices():
    only_driver()
    remote = ["default", "remote", "remote-shm"]
    pathlib.Path("tmp").mkdir()
    outcome = suite("--size", "small", "--only", "sgemm", "--policy", ",".join(remote), "--json",
                    env={"TMPDIR": os.path.abspath("tmp")})
    for p in outcome.json["programs"]:
        same((p["failures"], [r["policy"] for r in p["runs"]]), ([], remote), "runs")
        check(all(number(r["time_s"]) for r in p["runs"]), f"times: {p['runs']}")
    same(list(pathlib.Path("tmp").iterdir()), [], "left in TMPDIR")
    with proxy() as p:
        text = suite("--size", "small", "--only", "sgemm", "--policy", "default,remote", "--remote", p.url, "--token-file",
                     p.token, env=client(p)).text
        check("overhead" in text and re.search(r"[+-]\d+\.\d %", text), "the table's overhead")
        check(p.status()["sessions_total"] >= 1, "nobody used the proxy")
    nobody = suite("--only", "sgemm", "--policy", "remote", "--remote", "tcp://127.0.0.1:1")
    same(nobody.code, 1, "exit status without a proxy")
    check("sgemm failed under remote" in nobody.err_text, nobody.err_text)


def test_the_profile_is_used_and_nothing_is_left_behind():
    pathlib.Path("tmp").mkdir()
    outcome = suite("--only", "nn", "--policy", "goptimize,goptimize-noprofile", "--json",
                    env={"TMPDIR": os.path.abspath("tmp")})
    with_profile, without = (r["optimizer"] for r in outcome.json["programs"][0]["runs"])
    check("no profile" not in with_profile["decision"], f"with: {with_profile}")
    same(without["sites"], {}, "sites without a profile")
    same(list(pathlib.Path("tmp").iterdir()), [], "left in TMPDIR")
    same(list(pathlib.Path(".data").rglob("*.gprofile")), [], "profiles kept")


def test_table():
    outcome = suite("--only", "sgemm", "--policy", "hand-pinned,default")
    same(outcome.code, 0, "exit status")
    for word in ("sgemm", "hand-pinned", "speedup", "geometric mean", "minimum", "maximum"):
        check(word in outcome.text, f"no {word}")
    check("no profile" not in outcome.text, "a policy that was not asked for")


def test_programs_that_fail():
    """Named with their exit status; the other rows stay; the exit status says it."""
    real = app("spmv")
    folder = folder_of_programs(
        nn="echo 'no luck' >&2; exit 7", bfs="kill -SEGV $$",
        spmv=f'case "$*" in *hand-pinned*) echo "spmv: checksum=0 PASS"; echo time_s=1 >&2 ;; *) exec {real} "$@" ;; esac',
        sad="echo sad: PASS")
    outcome = suite("--only", "nn,bfs,spmv,transpose,sad", "--policy", "default,hand-pinned", "--programs", folder, "--json")
    same(outcome.code, 1, "exit status")
    result = {p["name"]: p for p in json.loads(outcome.out)["programs"]}
    failed = {n: {f["where"]: f["exit_status"] for f in p["failures"]} for n, p in result.items()}
    same(failed["nn"], {"gtrace": 7, "default": 7, "hand-pinned": 7}, "a program that ends with 7")
    same(failed["bfs"], {"gtrace": 139, "default": 139, "hand-pinned": 139}, "a program that crashes")
    same(failed["spmv"], {"hand-pinned": 0}, "another output under one policy")
    check("differs" in result["spmv"]["failures"][0]["what"], "what differs")
    same(set(failed["sad"]), {"default", "hand-pinned"}, "a program that says no time")
    same(failed["transpose"], {}, "the good one")
    check(number(result["transpose"]["runs"][1]["time_s"]) and number(result["spmv"]["runs"][0]["time_s"]), "good times")
    same(result["spmv"]["runs"][1]["time_s"], None, "no time for the wrong output")
    for word in ("nn failed under default, exit status 7: no luck", "bfs failed under hand-pinned, exit status 139"):
        check(word in outcome.err_text, f"not on stderr: {word}")


def test_signals():
    """End it and its program, and leave nothing behind."""
    pathlib.Path("tmp").mkdir()
    folder = folder_of_programs(nn="echo $$ > $TMPDIR/../running; exec sleep 100")
    for number in (signal.SIGINT, signal.SIGTERM):
        command = subprocess.Popen([GMICROBENCH, "apps", "--only", "nn", "--programs", folder], stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, TMPDIR=os.path.abspath("tmp")))
        running = pathlib.Path("running")
        wait_for(lambda: running.exists() and running.read_text().strip(), "the program does not start")
        command.send_signal(number)
        same(command.wait(30), -number, "how it ended")
        wait_for(lambda: not pathlib.Path(f"/proc/{running.read_text().strip()}").exists(), "its program runs on")
        same(list(pathlib.Path("tmp").iterdir()), [], "left in TMPDIR")
        running.unlink()


def test_list():
    listed = good(GMICROBENCH, "apps", "--list").text
    names = [l.split()[0] for l in listed.splitlines()]
    check(len(names) >= 15, f"{len(names)} programs")
    for n in names:
        check(os.access(app(n), os.X_OK), f"{n} is listed and not there")


def test_refusals():
    one_line(suite("--only", "nix"), USAGE, "nix", "spmv")
    one_line(suite("--policy", "fast"), USAGE, "fast", "hand-pinned")
    one_line(suite("--size", "huge"), USAGE, "huge")
    one_line(run(GMICROBENCH, "apps", "--repeat", 0), USAGE, "repeat")
    one_line(suite("--device", 99), USAGE, "device 99")
    one_line(suite("--only", "nn", env={"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""}), ENVIRONMENT, "driver")
    alone = pathlib.Path("alone")
    alone.mkdir()
    shutil.copy(GMICROBENCH, alone)
    one_line(run(alone / "gmicrobench", "apps"), ENVIRONMENT, "not installed")
    one_line(run(alone / "gmicrobench", "apps", "--programs", apps), ENVIRONMENT, "gtrace is not in")


main(globals())
