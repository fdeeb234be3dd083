#!/usr/bin/env python3
"""Programs of others, recorded with their data and replayed: the same results?

    tests/bench/replay_suites.py BUILD LIST OUT [--root FOLDER] [--only PATTERN] [--ranges N] [--remote]
                                 [--driver 'NAME TOLERANCE VARIABLE=VALUE...']... [--timeout S]

BUILD: build/release. LIST: suite_list.py says how its lines look. OUT: a folder for traces and what was said, one folder
for each program. Each is recorded once by `gtrace run --capture full` and replayed whole, in N ranges of calls (0), with
--remote on a proxy's device over TCP (by `goptimize run --remote`), and on other drivers, to which variables lead
(OCL_ICD_VENDORS=FOLDER), within a tolerance as `gtrace replay --compare` takes it.
OUT/results.jsonl has a line for each program, the table goes to stdout. Exit status: 0; 3 a list that cannot be read.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from own_proxy import OwnProxy
from suite_list import BadList, add_list_arguments, read_list


class Recorded:
    """A program's recording, and its replays."""

    def __init__(self, entry, options, proxy):
        self.entry, self.options, self.proxy = entry, options, proxy
        self.out = options.out / entry.suite / entry.name
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(options.out / "cache"), "XDG_DATA_HOME": str(self.out / "data")}
        self.row = {"suite": entry.suite, "name": entry.name, "replays": {}}

    def run(self, name, *command, folder=None, **env):
        """Its exit status, standard output and the seconds that it took."""
        started = time.monotonic()
        with open(self.out / f"{name}.out", "wb") as out, open(self.out / f"{name}.err", "wb") as err:
            try:
                status = subprocess.run([str(c) for c in command], cwd=folder or self.out, env={**self.env, **env},
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=self.options.timeout).returncode
            except subprocess.TimeoutExpired:
                status = "timeout"
        return status, (self.out / f"{name}.out").read_bytes(), round(time.monotonic() - started, 2)

    def record(self):
        copy = self.out / "copy"
        shutil.copytree(self.entry.folder, copy, symlinks=True) if self.entry.folder else copy.mkdir()
        gtrace = self.options.build / "bin" / "gtrace"
        status, _, seconds = self.run("record", gtrace, "run", "--capture", "full", "-o", self.out / "trace.db", "--",
                                      *self.entry.command, folder=copy / self.entry.sub)
        shutil.rmtree(copy, ignore_errors=True)
        self.row.update(status=status, record_s=seconds)

    def replay(self, name, *options, before=(), **env):
        gtrace = self.options.build / "bin" / "gtrace"
        status, text, seconds = self.run(name, *before, gtrace, "replay", "--json", *options, "trace.db", **env)
        told = {"status": status, "s": seconds}
        if text.startswith(b"{"):
            j = json.loads(text)
            told.update({k: j[k] for k in ("calls", "compared", "not_made", "ended_otherwise")})
        self.row["replays"][name] = told
        return told

    def replays(self):
        whole = self.replay("whole")
        calls = whole.get("calls", 0)
        for i in range(self.options.ranges if calls else 0):
            first, last = calls * i // self.options.ranges + 1, calls * (i + 1) // self.options.ranges
            self.replay(f"range{i}", "--calls", f"{first}..{last}")
        if self.proxy:
            self.replay("remote", before=(self.options.build / "bin" / "goptimize", "run", "--remote", self.proxy.tcp,
                                          "--only", "remote", "--"), **self.proxy.env)
        for driver in self.options.driver:
            name, tolerance, *variables = driver.split()
            self.replay(name, "--compare", tolerance, **dict(v.split("=", 1) for v in variables))


def told(replay):
    if "compared" not in replay:
        return f"status {replay['status']}"
    c = replay["compared"]
    text = f"{c['differing']} of {c['results']} differ" if c["differing"] else f"{c['results']} same"
    text += "" if replay["status"] in (0, 1) else f", status {replay['status']}"
    text += f", {sum(replay['not_made'].values())} not made" if replay["not_made"] else ""
    return text + (f", {sum(replay['ended_otherwise'].values())} otherwise" if replay["ended_otherwise"] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_list_arguments(parser)
    parser.add_argument("--ranges", default=0, type=int, help="replay in so many ranges, too")
    parser.add_argument("--remote", action="store_true", help="replay on a proxy's device, too")
    parser.add_argument("--driver", action="append", default=[], help="replay there, too")
    parser.add_argument("--timeout", default=120, type=float, help="seconds for each run (120)")
    options = parser.parse_args()
    try:
        entries = read_list(options.list, options.root, options.only)
    except BadList as e:
        print(f"replay_suites.py: {e}", file=sys.stderr)
        return 3
    options.out.mkdir(parents=True, exist_ok=True)
    proxy = OwnProxy(options.build, options.out) if options.remote else None
    try:
        with open(options.out / "results.jsonl", "a") as results:
            for entry in entries:
                if entry.missing:
                    print(f"{entry.path} | {entry.missing}", flush=True)
                    continue
                recorded = Recorded(entry, options, proxy)
                recorded.record()
                recorded.replays()
                row = recorded.row
                results.write(json.dumps(row) + "\n")
                results.flush()
                calls = row["replays"]["whole"].get("calls", 0)
                print(" | ".join([entry.path, f"status {row['status']}", f"{calls} calls",
                                  *(f"{n}: {told(r)}" for n, r in row["replays"].items())]), flush=True)
    finally:
        if proxy:
            proxy.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
