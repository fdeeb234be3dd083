"""A program of a list in rounds: each round runs it once in every mode, in random order, natively, too.

By the clock and by processor time, as a user would start it; then the same once more for what its transfers take alone
(transfer_clock.c). Every timed run's output, exit status and files are held against what plain runs agree on.
"""
import json
import random
import struct
import time

from modes import NATIVE, environment, timed_launcher
from ratios import FEWEST, added, paired
from suite_program import Program

KINDS = {"wall": "seconds by the clock", "cpu": "seconds of processors", "transfers": "seconds of transfers alone"}
PRELOADED = ("sh", "-c", 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"')  # before goptimize's own library


class TimedProgram(Program):
    """`options`, more: modes, rounds, until_width, budget, transfers, progress."""

    def __init__(self, entry, options):
        super().__init__(entry, options)
        self.ways = [NATIVE, *options.modes]
        self.rounds = []  # of each, by way: {kind: seconds}
        self.differs = {mode: [] for mode in options.modes}
        self.reports = {}
        self.stopped = "not begun"
        self.random = random.Random(f"{options.seed} {entry.path}")
        self.profile = self.out / f"{entry.name}.gprofile"
        self.clock = options.build / "tests" / "libtransfer_clock.so"

    def start(self, way, name, *options):
        return self.run(name, *timed_launcher(way, self.options.build, self.profile, *options), **environment(way))

    def checked(self, way, done):
        if way != NATIVE:
            self.differs[way] += [d for d in self.expected.differs(done, False) if d not in self.differs[way]]
        return done

    def prepare(self):
        """Plain runs, the profile, and a run of each mode that does not count. What forbids timing it; none: nothing."""
        self.expected = self.plain_runs()
        self.row["statuses"] = sorted(map(str, self.expected.statuses))
        if "timeout" in self.expected.statuses:
            return f"a plain run did not end within {self.options.timeout:g} s"
        if "profile" in self.ways and not self.make_profile():
            return "it has no profile: see trace.err and analyze.err in its folder"
        for mode in self.options.modes:
            report = [] if mode == "tunable" else ["--report", self.out / f"{mode}.json"]
            self.checked(mode, self.start(mode, mode, *report))
            if report:
                self.reports[mode] = self.report_of(mode)
        return None

    def make_profile(self):
        """Kept where a mode without a profile does not find it."""
        elsewhere = {"XDG_DATA_HOME": str(self.out / "analysis")}
        self.run("trace", self.options.build / "bin" / "gtrace", "run", "-o", self.out / "trace.db", "--", **elsewhere)
        self.tool("analyze", "ganalyze", "trace.db", "-o", self.profile, **elsewhere)
        return self.profile.exists()

    def report_of(self, mode):
        try:
            return json.loads((self.out / f"{mode}.json").read_text())
        except (OSError, ValueError):
            return {}

    def transfer_seconds(self, way):
        """None where they cannot be seen so."""
        kept = self.out / "transfers"
        kept.unlink(missing_ok=True)
        begin = timed_launcher(way, self.options.build, self.profile)
        done = self.run(f"{way}.transfers", *begin, *PRELOADED, self.clock, TRANSFER_CLOCK=str(kept), **environment(way))
        if done.status not in self.expected.statuses or not kept.exists():
            return None
        calls, ns = struct.unpack("QQ", kept.read_bytes())
        return ns / 1e9 if calls else None

    def round(self):
        values = {}
        for way in self.random.sample(self.ways, len(self.ways)):
            done = self.checked(way, self.start(way, way))
            values[way] = {"wall": done.seconds, "cpu": done.processor_seconds}
        if self.options.transfers and not self.never_transfers:
            for way in self.random.sample(self.ways, len(self.ways)):
                values[way]["transfers"] = self.transfer_seconds(way)
        self.rounds.append(values)

    @property
    def never_transfers(self):
        return bool(self.rounds) and not any(r[NATIVE].get("transfers") for r in self.rounds)

    def both(self, mode, kind):
        return ([r[way].get(kind) for r in self.rounds] for way in (NATIVE, mode))

    def ratio(self, mode, kind):
        return paired(*self.both(mode, kind))

    def reason_to_stop(self, started):
        if len(self.rounds) >= self.options.rounds:
            return "rounds"
        if len(self.rounds) >= FEWEST:
            if all(self.ratio(m, "wall").width <= self.options.until_width for m in self.options.modes):
                return "width"
        spent = time.monotonic() - started
        a_round = spent / len(self.rounds) if self.rounds else 0
        return "budget" if self.rounds and spent + a_round > self.options.budget else None

    def in_rounds(self):
        """Whoever interrupts this finds what is known in the object."""
        self.options.progress(f"{self.entry.path}: plain runs, one in each mode")
        self.stopped = "interrupted"
        refused = self.prepare()
        started = time.monotonic()
        while not refused and not (reason := self.reason_to_stop(started)):
            self.options.progress(self.so_far(started))
            self.round()
        self.stopped = refused or reason
        self.tidy()

    def so_far(self, started):
        ratios = ", ".join(f"{m} {self.ratio(m, 'wall')}" for m in self.options.modes) if self.rounds else ""
        left = max(0, self.options.budget - (time.monotonic() - started))
        return f"{self.entry.path}: round {len(self.rounds) + 1}, at most {left:.0f} s more; {ratios}"

    def mode_result(self, mode):
        report = self.reports.get(mode, {})
        ratios = {kind: vars(r) if (r := self.ratio(mode, kind)) else None for kind in KINDS}
        return {**ratios, "added_cpu_s": round_value(added(*self.both(mode, "cpu"))), "differs": self.differs[mode][:3],
                "aside": report.get("injected") is False, "decision": report.get("decision", "")}

    def result(self):
        samples = {way: {kind: [round_value(r[way].get(kind)) for r in self.rounds] for kind in KINDS} for way in self.ways}
        return {**self.row, "command": list(self.entry.command), "stopped": self.stopped, "rounds": len(self.rounds),
                "modes": {m: self.mode_result(m) for m in self.options.modes} if self.rounds else {}, "samples": samples}


def round_value(seconds):
    return None if seconds is None else round(seconds, 6)
