#!/usr/bin/env python3
"""Programs of others under every mode of our tools, beside their plain runs: output, files, exit status, time.

    tests/bench/suites.py BUILD LIST OUT [--only PATTERN] [--modes LIST] [--plain N] [--timeout S]
                          [--times PATTERN]

BUILD: build/release. LIST: a file of lines `SUITE NAME FOLDER COMMAND...`; each run gets a fresh copy of FOLDER and is
started in it (FOLDER:SUB: in that folder of the copy; -: in an empty folder). OUT: a folder for traces, reports and what
was said, one folder for each program; OUT/results.jsonl has a line for each program, the table goes to stdout.

compared_runs.py says what is compared with the plain runs (N of them). See docs/measurements/programs.md.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time

import compared_runs
from compared_runs import TEXT_LIMIT, Expected, Run
from modes import MODES, REMOTE, launcher, order
from own_proxy import OwnProxy


class Program:
    def __init__(self, line, options, proxy):
        self.suite, self.name, place, *self.command = shlex.split(line)
        self.place, _, self.sub = place.partition(":")
        self.options, self.proxy = options, proxy
        self.out = options.out / self.suite / self.name
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(options.out / "cache"), "XDG_DATA_HOME": str(self.out / "data")}
        if proxy:
            self.env.update(proxy.env)
        self.row = {"suite": self.suite, "name": self.name}

    def fresh_copy(self):
        """It stays until the next run: ganalyze reads the program."""
        copy = self.out / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        if self.place == "-":
            copy.mkdir()
        else:
            shutil.copytree(self.place, copy, symlinks=True)
        return copy, copy / self.sub

    def run(self, mode, *before):
        done = Run([*map(str, before), *self.command], self.fresh_copy(), self.env, self.options.timeout)
        (self.out / f"{mode}.err").write_bytes(done.err)
        (self.out / f"{mode}.out").write_bytes(done.out[:TEXT_LIMIT])
        return done

    def tool(self, name, *arguments):
        started = time.monotonic()
        done = subprocess.run([self.options.build / "bin" / arguments[0], *map(str, arguments[1:])], cwd=self.out,
                              env=self.env, capture_output=True, timeout=self.options.timeout)
        (self.out / f"{name}.txt").write_bytes(done.stdout)
        (self.out / f"{name}.err").write_bytes(done.stderr)
        self.row[f"{name}_s"] = round(time.monotonic() - started, 3)
        if done.returncode != 0:
            self.row.setdefault("problems", []).append(f"{name}: status {done.returncode}")
        return done.stdout

    def analyze(self):
        self.tool("show", "gtrace", "show", "trace.db")
        self.tool("expand", "gtrace", "expand", "--no-memory", "trace.db")
        stats = json.loads(self.tool("stats", "gtrace", "stats", "--json", "trace.db") or "{}")
        page = json.loads(self.tool("analyze", "ganalyze", "trace.db", "--json", "--html", "page.html",
                                    "-o", f"{self.name}.gprofile") or "{}")
        self.tool("report", "ganalyze", "trace.db", "-o", "again.gprofile")
        self.row.update(trace=stats.get("trace"), lost=stats.get("lost"), ratio=page.get("dispatch_ratio"),
                        eligible=page.get("eligible"), findings=[f["rule"] for f in page.get("findings", ())],
                        remote=page.get("remote", {}).get("eligible"), kernels=len(page.get("kernels", ())))

    def all_modes(self):
        plain = [self.run(f"plain{i}") for i in range(self.options.plain)]
        expected = Expected(plain)
        self.row.update(plain_s=round(sorted(r.seconds for r in plain)[len(plain) // 2], 3), modes={},
                        statuses=sorted(map(str, expected.statuses)), stable=expected.out.stable,
                        lines=len(expected.out.lines), loose=expected.loose, own_files=sorted(expected.own_files))
        if "timeout" in expected.statuses:
            return self.row
        for mode in self.options.modes:
            if mode == "profile" and "trace" not in self.row["modes"]:
                continue
            done = self.run(mode, *launcher(mode, self.options.build, self.out, self.proxy))
            self.row["modes"][mode] = {"differs": expected.differs(done, mode in REMOTE),
                                       "s": round(done.seconds, 3)}
            if mode == "trace" and (self.out / "trace.db").exists():
                self.analyze()
        shutil.rmtree(self.out / "copy", ignore_errors=True)
        return self.row


def told(row):
    """A line of the table."""
    cells = []
    for mode in row["modes"].values():
        cells.append(f"{mode['s']:.1f} {'; '.join(mode['differs']) or 'same'}")
    return " | ".join([row["suite"], row["name"], f"{row['plain_s']:.1f}", *cells, *row.get("problems", ())])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("out", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", default="*", help="programs whose SUITE/NAME fits")
    parser.add_argument("--modes", default=",".join(MODES), type=order)
    parser.add_argument("--times", default="$^", help="a pattern: more lines that tell times")
    parser.add_argument("--plain", default=3, type=int)
    parser.add_argument("--timeout", default=60, type=float)
    options = parser.parse_args()
    compared_runs.OF_TIMES = re.compile(f"{compared_runs.OF_TIMES.pattern}|{options.times}", re.I)
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [l for l in options.list.read_text().splitlines() if l.strip() and not l.startswith("#")]
    lines = [l for l in lines if fnmatch.fnmatch("/".join(l.split()[:2]), options.only)]
    proxy = OwnProxy(options.build, options.out) if set(REMOTE) & set(options.modes) else None
    print("suite | program | plain | " + " | ".join(options.modes), flush=True)
    try:
        with open(options.out / "results.jsonl", "a") as results:
            for line in lines:
                row = Program(line, options, proxy).all_modes()
                results.write(json.dumps(row) + "\n")
                results.flush()
                print(told(row), flush=True)
    finally:
        if proxy:
            proxy.stop()


if __name__ == "__main__":
    main()
