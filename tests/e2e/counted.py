"""The program that counts what it does and ends in every way (programs/endings.c), and what its trace says of it."""

import os
import pathlib
import struct
import subprocess
import time

from job import GTRACE, check, good, run, same, tests_dir

PROGRAM = tests_dir / "endings"
SLOTS = 128
# The fake driver: it starts at once, and a launch costs nothing.
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OCL_ICD_FILENAMES": ""}


class Counts:
    """The file in which the program counts. `begun` and `done` by slot; a slot is a thread or a process."""

    def __init__(self, file="counts"):
        self.file = pathlib.Path(file)

    def _words(self):
        data = self.file.read_bytes() if self.file.exists() else b""
        return struct.unpack(f"{1 + 2 * SLOTS}Q", data.ljust(8 * (1 + 2 * SLOTS), b"\0"))

    @property
    def pid(self):
        return self._words()[0]

    @property
    def begun(self):
        return self._words()[1:1 + SLOTS]

    @property
    def done(self):
        return self._words()[1 + SLOTS:]

    def demand(self, steps):
        """For the way on_demand: so many steps in all. None: return."""
        with open(self.file, "r+b") as f:
            f.seek(8 * 2 * SLOTS)
            f.write(struct.pack("Q", 2**64 - 1 if steps is None else steps))
        if steps is not None:
            until(lambda: self.done[0] == steps, f"{steps} steps")


def until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not within {seconds} s: {what}")
        time.sleep(0.005)


def bare(*way, **options):
    outcome = run(PROGRAM, "bare.counts", *way, env=FAKE, **options)
    pathlib.Path("bare.counts").unlink()
    return outcome


def counted(*way, options=(), file="trace.db", **more):
    """Runs it to its end under gtrace."""
    pathlib.Path("counts").unlink(missing_ok=True)
    return run(GTRACE, "run", "-o", file, *options, "--", PROGRAM, "counts", *way, env=FAKE, **more)


def start(*way, options=(), counts="counts"):
    """Starts it under gtrace, and returns when it has begun its work."""
    pathlib.Path(counts).unlink(missing_ok=True)
    started = subprocess.Popen([GTRACE, "run", *options, "--", str(PROGRAM), counts, *map(str, way)],
                               env=dict(os.environ, **FAKE), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started.counts = Counts(counts)
    until(lambda: started.counts.pid or started.poll() is not None, "the start of the program")
    return started


def launches(file="trace.db"):
    stats = good(GTRACE, "stats", "--json", file).json
    return {f["name"]: f["calls"] for f in stats["functions"]}.get("clEnqueueNDRangeKernel", 0)


def facts(file="trace.db"):
    return good(GTRACE, "stats", "--json", file).json["facts"]


def by_thread(file="trace.db"):
    """Launches of each thread that made any."""
    found = {}
    for line in good(GTRACE, "expand", "--no-memory", file).text.splitlines():
        if "clEnqueueNDRangeKernel(" in line:
            thread = line.split()[0]
            found[thread] = found.get(thread, 0) + 1
    return sorted(found.values())


def complete(file="trace.db", counts=None):
    """Every launch that was done is in the trace; of those only begun, it may hold each thread's last."""
    counts = counts or Counts()
    done, begun, found = sum(counts.done), sum(counts.begun), launches(file)
    check(done <= found <= begun, f"{found} launches in the trace, {done} done, {begun} begun")
    return found


def spools_of(pid):
    return list(pathlib.Path("/dev/shm").glob(f"gtrace-{pid}-*"))


def lives(pid):
    """Not a zombie: whoever has to reap it may take his time."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until_written(gtrace_pid):
    """The collector's last act is to remove the spool."""
    until(lambda: not spools_of(gtrace_pid), "the end of the collector")
