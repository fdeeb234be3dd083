#!/usr/bin/env python3
"""The two looks of lint.sh: clang's thread-safety analysis of every file, clang-tidy's names in every header.

Usage: lint.py BUILD [FILE...], in the root of the tree. Of files that are named: these only, with all of .clang-tidy.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

FOLDERS = ("traces", "transport", "tracer", "analyzer", "optimizer-rt", "microbench")
FINDS = (": warning: ", ": error: ")
NAMES = "-*,readability-identifier-naming"


def commands(build):
    """By path: (folder, words) of its compilation, without what it writes. Tests have mutexes of the C++ library."""
    root = pathlib.Path.cwd()
    ours = [root / folder for folder in FOLDERS]
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        at = words.index("-o")
        path = pathlib.Path(entry["file"])
        if path.suffix == ".cc" and any(path.is_relative_to(folder) for folder in ours):
            found[path.relative_to(root).as_posix()] = (entry["directory"], words[:at] + words[at + 2:])
    return found


def findings(done):
    """The lines of what a tool said; that it gave up is one, too."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if any(kind in line for kind in FINDS)]
    return lines or ([done.stderr.strip().splitlines()[0]] if done.returncode and done.stderr.strip() else [])


def analyse(command):
    folder, words = command
    options = ["-Wno-everything", "-Wthread-safety", "-fsyntax-only", "-O0", "-ferror-limit=0"]
    return findings(subprocess.run(words + options, cwd=folder, capture_output=True, text=True, check=False))


def tidy(build, path, checks):
    command = ["clang-tidy", "-p", build, "--quiet", *checks, path]
    return findings(subprocess.run(command, capture_output=True, text=True, check=False))


def write_header_files(build, known):
    """A file for each folder of ours that includes all of its headers, for clang-tidy; with the options of one of its
    files that has most of them."""
    database = []
    (build / "headers").mkdir(exist_ok=True)
    for folder in FOLDERS:
        headers = sorted(p.as_posix() for p in pathlib.Path(folder).rglob("*.h") if "gen" not in p.parts)
        place, words = max((known[p] for p in known if p.startswith(folder + "/")), key=lambda c: len(c[1]))
        source = (build / "headers" / f"{folder}.cc").resolve()
        source.write_text("".join(f'#include "{h}"\n' for h in headers))
        options = [w for w in words[:-1] if w != "-Werror"] + ["-w"]
        database.append({"directory": place, "file": str(source), "arguments": options + [str(source)]})
    (build / "headers" / "compile_commands.json").write_text(json.dumps(database))
    return [entry["file"] for entry in database]


def run(jobs):
    """All jobs, some at a time; their findings, each once, printed as they come."""
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for n, done in enumerate(concurrent.futures.as_completed([pool.submit(*job) for job in jobs]), 1):
            for line in done.result():
                if line not in seen:
                    print(f"\r{line.replace(str(pathlib.Path.cwd()) + '/', '')}")
                seen.add(line)
            if sys.stdout.isatty() or n == len(jobs) or n % 100 == 0:
                print(f"\r  {n} of {len(jobs)}", end="" if n < len(jobs) and sys.stdout.isatty() else "\n", flush=True)
    return len(seen)


def main(build, *files):
    build = pathlib.Path(build)
    known = commands(build)
    unknown = [f for f in files if f not in known]
    if unknown:
        sys.exit(f"lint.py: {unknown[0]}: no .cc file of ours that is compiled")
    jobs = [(analyse, known[path]) for path in sorted(files or known)]
    if files:
        jobs += [(tidy, build, path, []) for path in files]
    else:
        sources = write_header_files(build, known)
        jobs = [(tidy, build / "headers", s, [f"--checks={NAMES}"]) for s in sources] + jobs
    found = run(jobs)
    print(f"lint: {len(files or known)} files, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
