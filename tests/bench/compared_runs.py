"""A command that was run once, and what several plain runs of it agree on: output, errors, files, exit status.

What differs among the plain runs is the program's own and not compared: of lines that differ in numbers only, these
numbers; else the whole output. Nor are numbers in lines that speak of times, nor, on remote devices, lines that speak of
platforms and devices.
"""
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import time

NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
OF_TIMES = re.compile(r"time|sec|\bm?s\b|/s\b|flop|bandwidth|rate|speed|elapsed|throughput|took", re.I)
OF_DEVICES = re.compile(r"platform|device|driver|vendor|version|extension|OpenCL|portable|pthread|CL_", re.I)
OF_OURS = re.compile(r"(gtrace|goptimize|gproxy|gmicrobench)( \w+)?: ")  # what our tools say beside the program
TEXT_LIMIT = 64 << 20


class Run:
    """`folder`: the copy of the program's folder, and where in it the command is started. A run that does not end is killed
    with all that it started; `stacks`: a file for where it hung, if there is a debugger. `seconds` are by the clock,
    `processor_seconds` what it and all that it waited for took of processors, in the program and in the kernel."""

    def __init__(self, command, folder, env, timeout, stdin=None, stacks=None):
        before = stamps(folder)
        processor_before = processor_seconds()
        started = time.monotonic()
        with open(stdin or os.devnull, "rb") as given:
            process = subprocess.Popen(command, cwd=folder[1], env=env, stdin=given, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, start_new_session=True)
        try:
            self.out, self.err = process.communicate(timeout=timeout)
            self.status = process.returncode
            if self.status < 0:
                self.status = 128 - self.status  # as a launcher passes it on
        except subprocess.TimeoutExpired:
            self.status = "timeout"
            if stacks:
                write_stacks(process.pid, stacks)
            kill_session(process.pid)
            self.out, self.err = process.communicate()
        except BaseException:  # the user has enough: what he started is in a session of its own
            kill_session(process.pid)
            process.wait()
            raise
        self.seconds = time.monotonic() - started
        self.processor_seconds = processor_seconds() - processor_before
        after = stamps(folder)
        self.files = {name: digest(folder[0] / name) for name in after if before.get(name) != after[name]}
        self.lines = self.out[:TEXT_LIMIT].decode(errors="replace").splitlines()
        self.errors = without_ours(self.err[:TEXT_LIMIT].decode(errors="replace").splitlines())


def without_ours(lines):
    """Lines of our tools have their names in front, or what the program said last without ending its line; those that belong
    to one follow it, indented."""
    found, ours = [], False
    for line in lines:
        begin = OF_OURS.search(line)
        ours = bool(begin) or (ours and line.startswith("  "))
        if begin and begin.start() > 0:
            found.append(line[:begin.start()])
        elif not ours:
            found.append(line)
    return found


def processor_seconds():
    """Of all children that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def session_of(leader):
    """The processes of a session that has not ended."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.getsid(int(entry)) == leader:
                found.append(int(entry))
        except OSError:
            pass  # it has just ended
    return found


def kill_session(leader):
    for pid in session_of(leader):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def write_stacks(leader, path):
    if not shutil.which("gdb"):
        return
    with open(path, "w") as file:
        for pid in session_of(leader):
            print(f"--- {pid} {open(f'/proc/{pid}/cmdline').read().split(chr(0))}", file=file, flush=True)
            subprocess.run(["gdb", "-q", "-batch", "-p", str(pid), "-ex", "thread apply all bt"], stdin=subprocess.DEVNULL,
                           stdout=file, stderr=subprocess.DEVNULL, timeout=60)


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


class Text:
    """What the texts of plain runs agree on, line by line."""

    def __init__(self, texts):
        self.stable = len({len(t) for t in texts}) == 1
        self.stable &= all(len(set(t)) == 1 or len(set(map(words, t))) == 1 for t in zip(*texts))
        self.lines = [line_form(t) for t in zip(*texts)] if self.stable else []

    def differs(self, lines, what, remote):
        if not self.stable:
            return []
        if len(lines) != len(self.lines):
            return [f"{len(lines)} {what}s, not {len(self.lines)}"]
        found = []
        for number, (form, line) in enumerate(zip(self.lines, lines), 1):
            if not fits(form, line) and not (remote and OF_DEVICES.search(line)):
                found.append(f"{what} {number}: {line[:100]}")
        return found[:3]


class Expected:
    """What the plain runs agree on."""

    def __init__(self, runs):
        self.statuses = {r.status for r in runs}
        self.out = Text([r.lines for r in runs])
        self.errors = Text([r.errors for r in runs])
        self.files = {n: d for n, d in runs[0].files.items() if all(r.files.get(n) == d for r in runs)}
        self.own_files = {n for r in runs for n in r.files} - set(self.files)

    @property
    def loose(self):
        """How many lines are not always the same."""
        return sum(not isinstance(form, str) for form in self.out.lines)

    def differs(self, run, remote):
        """What a run does otherwise, in a few words; none: nothing."""
        found = []
        if run.status not in self.statuses:
            found.append(f"status {run.status}")
        for name, value in self.files.items():
            if run.files.get(name) != value:
                found.append(f"file {name}")
        found += [f"new file {n}" for n in run.files if n not in self.files and n not in self.own_files]
        return found + self.out.differs(run.lines, "line", remote) + self.errors.differs(run.errors, "stderr line", remote)
