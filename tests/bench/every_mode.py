#!/usr/bin/env python3
"""Runs any command natively and under every mode of our tools, and says what it does otherwise: to report a bug.

    tests/bench/every_mode.py BUILD [OPTIONS] -- COMMAND ARGS...

BUILD: build/release. Each run gets a fresh copy of the folder (--folder; by default an empty one) and is started in it; a
COMMAND that is a file is found from where you are. Compared are exit status, standard output, standard error (without what
our tools say) and files, with what some plain runs agree on (compared_runs.py). A line for each mode goes to stdout. With
--out everything that was said, traces, reports and, with gdb installed, the stacks of what never ended stay in that folder.
Exit status: 0 every mode is the same, 1 one is not, 2 there is nothing to compare with.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

from compared_runs import TEXT_LIMIT, Expected, Run
from modes import MODES, REMOTE, launcher, order
from own_proxy import OwnProxy

WITHOUT_PROFILE = tuple(m for m in MODES if m not in ("profile", "forced"))
LARGEST_FOLDER = 1 << 30


def folder_bytes(folder):
    return sum(p.lstat().st_size for p in folder.rglob("*"))


def absolute(command):
    """A program that is named from here is still the same in another folder."""
    if os.sep in command[0] and os.path.exists(command[0]):
        return [os.path.abspath(command[0]), *command[1:]]
    return command


class AnyCommand:
    def __init__(self, options, out, proxy):
        self.options, self.out, self.proxy = options, out, proxy
        self.command = absolute(options.command)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(out / "cache"), "XDG_DATA_HOME": str(out / "data")}
        if proxy:
            self.env.update(proxy.env)

    def fresh_copy(self):
        copy = self.out / "folder"
        shutil.rmtree(copy, ignore_errors=True)
        if self.options.folder:
            shutil.copytree(self.options.folder, copy, symlinks=True)
        else:
            copy.mkdir()
        return copy, copy

    def run(self, name, *before):
        done = Run([*map(str, before), *self.command], self.fresh_copy(), self.env, self.options.timeout,
                   self.options.stdin, self.out / f"{name}.stacks")
        (self.out / f"{name}.out").write_bytes(done.out[:TEXT_LIMIT])
        (self.out / f"{name}.err").write_bytes(done.err[:TEXT_LIMIT])
        return done

    def expected(self):
        return Expected([self.run(f"plain{i}") for i in range(self.options.plain)])

    def in_mode(self, mode, expected):
        """What it does otherwise there, and how long it took."""
        done = self.run(mode, *launcher(mode, self.options.build, self.out, self.proxy))
        return expected.differs(done, mode in REMOTE), round(done.seconds, 3)


@contextlib.contextmanager
def place(out):
    """A folder for all that is written: the user's, or one for the time being."""
    if out:
        out.mkdir(parents=True, exist_ok=True)
        yield out
    else:
        with tempfile.TemporaryDirectory(prefix="gtrace-modes-") as folder:
            yield pathlib.Path(folder)


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--modes", default=",".join(WITHOUT_PROFILE), type=order, help="of " + ", ".join(WITHOUT_PROFILE))
    parser.add_argument("--folder", type=pathlib.Path, help="what the command finds around it")
    parser.add_argument("--stdin", type=pathlib.Path, help="a file: what it reads")
    parser.add_argument("--out", type=lambda p: pathlib.Path(p).resolve(), help="keeps everything there")
    parser.add_argument("--plain", default=3, type=int, help="plain runs (3)")
    parser.add_argument("--timeout", default=60, type=float, help="seconds for each run (60)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(words)
    if options.folder and folder_bytes(options.folder) > LARGEST_FOLDER:
        parser.error(f"{options.folder} is larger than 1 GiB, and each run gets a copy: name a smaller --folder")
    return options


def tell(options, mode, differs, seconds):
    if options.json:
        print(json.dumps({"mode": mode, "differs": differs, "s": seconds}), flush=True)
    else:
        print(f"{mode:8} {seconds:8.2f} s  {'; '.join(differs) or 'same'}", flush=True)


def main():
    options = arguments(sys.argv[1:])
    remote = set(REMOTE) & set(options.modes)
    with place(options.out) as out, OwnProxy(options.build, out) if remote else contextlib.nullcontext() as proxy:
        program = AnyCommand(options, out, proxy)
        expected = program.expected()
        if "timeout" in expected.statuses:
            print(f"a plain run did not end within {options.timeout:g} s: give it a longer --timeout", file=sys.stderr)
            return 2
        if not (expected.out.stable or expected.errors.stable or expected.files) and len(expected.statuses) > 1:
            print("plain runs have nothing in common that could be compared", file=sys.stderr)
            return 2
        same = True
        if "run" in options.modes:
            program.run("measuring", *launcher("run", options.build, out, proxy))  # the machine, once
        for mode in options.modes:
            differs, seconds = program.in_mode(mode, expected)
            same &= not differs
            tell(options, mode, differs, seconds)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
