#!/usr/bin/env python3
"""Programs of others under every mode of our tools, beside their plain runs: output, files, exit status, time.

    tests/bench/suites.py BUILD LIST OUT [--only PATTERN] [--modes LIST] [--plain N] [--timeout S]
                          [--times PATTERN]

BUILD: build/release. LIST: a file of lines `SUITE NAME FOLDER COMMAND...`; each run gets a fresh copy of FOLDER and is
started in it (FOLDER:SUB: in that folder of the copy; -: in an empty folder). OUT: a folder for traces, reports and what
was said, one folder for each program; OUT/results.jsonl has a line for each program, the table goes to stdout.

What differs among the plain runs (N of them) is the program's own and not compared: of lines that differ in numbers only,
these numbers; else the whole output. Nor are numbers in lines that speak of times, nor, on remote devices, lines that
speak of platforms and devices. See docs/measurements/programs.md.
"""
import argparse
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time

from own_proxy import OwnProxy

NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
OF_TIMES = re.compile(r"time|sec|\bm?s\b|/s\b|flop|bandwidth|rate|speed|elapsed|throughput|took", re.I)
COMMANDS = {"trace": ("gtrace", "run", "-o", "trace.db"),
            "full": ("gtrace", "run", "-o", "full.db", "--capture", "hash", "--timeline", "--timing", "all"),
            "run": ("goptimize", "run"), "profile": ("goptimize", "run"),
            "always": ("goptimize", "run", "--stage", "always", "--reuse", "always"),
            "forced": ("goptimize", "run", "--force-policy", "pin", "--stage", "always", "--reuse", "always"),
            "shm": ("goptimize", "run", "--only", "remote"), "tcp": ("goptimize", "run", "--only", "remote")}
OF_DEVICES = re.compile(r"platform|device|driver|vendor|version|extension|OpenCL|portable|pthread|CL_", re.I)
TEXT_LIMIT = 64 << 20
MODES = ("run", "always", "trace", "full", "profile", "forced", "shm", "tcp")  # without a profile first


class Run:
    def __init__(self, command, folder, env, timeout):
        before = stamps(folder)
        started = time.monotonic()
        try:
            done = subprocess.run(command, cwd=folder[1], env=env, capture_output=True, timeout=timeout,
                                  stdin=subprocess.DEVNULL)
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            if self.status < 0:
                self.status = 128 - self.status  # as a launcher passes it on
        except subprocess.TimeoutExpired as e:
            self.status, self.out, self.err = "timeout", e.stdout or b"", e.stderr or b""
        self.seconds = time.monotonic() - started
        after = stamps(folder)
        self.files = {name: digest(folder[0] / name) for name in after if before.get(name) != after[name]}
        self.lines = self.out[:TEXT_LIMIT].decode(errors="replace").splitlines()


def stamps(folder):
    found = {}
    for path in folder[0].rglob("*"):
        if path.is_file():
            stat = path.stat()
            found[str(path.relative_to(folder[0]))] = (stat.st_mtime_ns, stat.st_size)
    return found


def digest(path):
    return hashlib.sha1(path.read_bytes()).hexdigest()


def words(line):
    return " ".join(NUMBER.sub("#", line).split())


def line_form(texts):
    """A line that is always the same; or its words, and its numbers with None for those that vary."""
    if len(set(texts)) == 1 and not OF_TIMES.search(texts[0]):
        return texts[0]
    columns = zip(*(NUMBER.findall(t) for t in texts))
    timing = bool(OF_TIMES.search(texts[0]))
    return words(texts[0]), [None if timing or len(set(c)) > 1 else c[0] for c in columns]


def fits(form, line):
    if isinstance(form, str):
        return line == form
    return words(line) == form[0] and all(v in (None, s) for v, s in zip(form[1], NUMBER.findall(line)))


class Expected:
    """What the plain runs agree on."""

    def __init__(self, runs):
        self.statuses = {r.status for r in runs}
        texts = [r.lines for r in runs]
        self.stable_lines = len({len(t) for t in texts}) == 1
        self.stable_lines &= all(len(set(t)) == 1 or len(set(map(words, t))) == 1 for t in zip(*texts))
        self.files = {n: d for n, d in runs[0].files.items() if all(r.files.get(n) == d for r in runs)}
        self.own_files = {n for r in runs for n in r.files} - set(self.files)
        self.lines = [line_form(t) for t in zip(*texts)] if self.stable_lines else []
        self.loose = sum(not isinstance(l, str) for l in self.lines)

    def differs(self, run, remote):
        """What a run does otherwise, in a few words; none: nothing."""
        found = []
        if run.status not in self.statuses:
            found.append(f"status {run.status}")
        for name, value in self.files.items():
            if run.files.get(name) != value:
                found.append(f"file {name}")
        found += [f"new file {n}" for n in run.files if n not in self.files and n not in self.own_files]
        if self.stable_lines:
            found += self.different_lines(run, remote)
        return found

    def different_lines(self, run, remote):
        if len(run.lines) != len(self.lines):
            return [f"{len(run.lines)} lines, not {len(self.lines)}"]
        found = []
        for number, (form, line) in enumerate(zip(self.lines, run.lines), 1):
            if not fits(form, line) and not (remote and OF_DEVICES.search(line)):
                found.append(f"line {number}: {line[:100]}")
        return found[:3]


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

    def launcher(self, mode):
        tool, *arguments = COMMANDS[mode]
        if tool == "gtrace":
            arguments[2] = self.out / arguments[2]
        else:
            arguments += ["--report", self.out / f"{mode}.json"]
        if mode in ("shm", "tcp"):
            if not self.proxy.alive():
                self.proxy.start()
            arguments += ["--remote", self.proxy.tcp if mode == "tcp" else self.proxy.shm]
        return [self.options.build / "bin" / tool, *arguments, "--"]

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
                        statuses=sorted(map(str, expected.statuses)), stable=expected.stable_lines,
                        lines=len(expected.lines), loose=expected.loose, own_files=sorted(expected.own_files))
        if "timeout" in expected.statuses:
            return self.row
        for mode in self.options.modes:
            if mode == "profile" and "trace" not in self.row["modes"]:
                continue
            done = self.run(mode, *self.launcher(mode))
            self.row["modes"][mode] = {"differs": expected.differs(done, mode in ("shm", "tcp")),
                                       "s": round(done.seconds, 3)}
            if mode == "trace" and (self.out / "trace.db").exists():
                self.analyze()
        shutil.rmtree(self.out / "copy", ignore_errors=True)
        return self.row


def order(modes):
    return sorted(modes.split(","), key=MODES.index)


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
    global OF_TIMES
    OF_TIMES = re.compile(f"{OF_TIMES.pattern}|{options.times}", re.I)
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [l for l in options.list.read_text().splitlines() if l.strip() and not l.startswith("#")]
    lines = [l for l in lines if fnmatch.fnmatch("/".join(l.split()[:2]), options.only)]
    proxy = OwnProxy(options.build, options.out) if {"shm", "tcp"} & set(options.modes) else None
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
