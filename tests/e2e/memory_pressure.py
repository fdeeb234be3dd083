"""goptimize run: pools give back what they keep when memory gets short, as seen from outside.

A program frees blocks that it has transferred, so a pool keeps them, and then grows to just below the limit of its control
group. By itself it lives; one that kept the blocks as well would be killed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from job import GOPTIMIZE, Skip, check, good, main, same, tests_dir
from memory_cgroup import memory_cgroup

PRESSURE = str(tests_dir / "optimizer" / "pressure")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
MIB = 1 << 20
LIMIT = 768 * MIB
BLOCK, BLOCKS = 8 * MIB, 12  # an eighth of the limit: what a pool keeps at most
STEP = 8 * MIB
SPARE = 40 * MIB             # less than the blocks; less than a sixteenth of the limit, where memory counts as short
SLACK = 16 * MIB             # what the library and allocators may differ by


class Program:
    """The program, run line by line."""

    def __init__(self, join, *before):
        self.process = subprocess.Popen([*before, PRESSURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=join)
        self.pid, self.said = int(self.process.stdout.readline()), []

    def do(self, *words):
        """False: it has ended instead."""
        try:
            print(*words, file=self.process.stdin, flush=True)
            self.said.append(self.process.stdout.readline())
        except BrokenPipeError:
            return False
        return self.said[-1] != ""

    def resident(self, what="VmRSS"):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{what}:\s+(\d+) kB", status, re.M)[1]) << 10

    def end(self):
        """Exit status as a shell would give it, and standard error."""
        _, err = self.process.communicate(timeout=60)
        code = self.process.returncode
        return (128 - code if code < 0 else code), err


def steps(total):
    return range(total // STEP)


def grown(join, total):
    """A run by itself that grows by as much as leaves SPARE, and by `total` bytes more."""
    program = Program(join)
    program.do("fill", BLOCKS, BLOCK)
    growth = (LIMIT - SPARE - program.resident("RssAnon")) // STEP * STEP
    alive = all(program.do("grow", STEP) and program.do("turn", BLOCK) for _ in steps(growth + total))
    return program, growth, alive


def test_memory_gets_short():
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, PRESSURE, "app.gprofile")
    with memory_cgroup(LIMIT) as join:
        plain, growth, _ = grown(join, 0)
        same(plain.end()[0], 0, "exit status without us")
        too_much, _, alive = grown(join, BLOCKS * BLOCK)
        if alive:
            too_much.end()
            raise Skip("the limit of a control group does not hold here")
        same(too_much.end()[0], 137, "exit status of one that keeps the blocks")

        program = Program(join, GOPTIMIZE, "run", "--profile", "app.gprofile", "--force-policy", "pin", "--stage", "never",
                          "--reuse", "never", "--report", "report.json", "--")
        program.do("fill", BLOCKS, BLOCK)
        kept, falls = program.resident(), []
        for i in steps(growth):
            check(program.do("grow", STEP), f"ended after {i} steps")
            before = program.resident()
            check(program.do("turn", BLOCK), f"ended after {i} steps")
            falls.append(before - program.resident())
        left = program.resident()
        code, err = program.end()
        same(code, 0, f"exit status: {err}")
        same(program.said, plain.said, "output")

    report = json.loads(pathlib.Path("report.json").read_text())
    check(report["pinned"]["bytes"] >= BLOCKS * BLOCK, f"all blocks were the pool's: {report['pinned']}")
    returned = report["returned"]["short_memory_bytes"]
    blocks = BLOCKS * BLOCK
    check(returned >= blocks - SLACK, f"given back: {report['returned']}")
    check(sum(falls) >= blocks - SLACK, f"resident memory falls by {sum(falls)} while blocks come and go")
    check(left <= kept + growth - blocks + BLOCK + SLACK, f"resident: {kept}, then {left}, grown by {growth}")


main(globals())
