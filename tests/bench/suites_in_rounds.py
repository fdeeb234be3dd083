"""All programs of a list in rounds (timed_program.py): progress, results, what is written of them, the exit status."""
import datetime
import json
import os
import platform
import sys

from modes import NATIVE, timed_launcher
from ratios_page import page
from suite_program import Program
from timed_program import TimedProgram
from timed_summary import differing, means, ratio_of, slower, summary, told


class Progress:
    """One line of a terminal that is written over; nothing elsewhere."""

    def __init__(self):
        self.wanted, self.length = sys.stderr.isatty(), 0

    def __call__(self, text=""):
        if self.wanted and (text or self.length):
            text = text[:os.get_terminal_size(sys.stderr.fileno()).columns - 1]
            print(f"\r{text:{self.length}}", end="" if text else "\r", file=sys.stderr, flush=True)
            self.length = len(text)


def about(options):
    return {"list": options.list.name, "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "system": platform.platform(), "processors": os.cpu_count(), "load": os.getloadavg()[0],
            "modes": options.modes, "rounds": options.rounds, "until_width": options.until_width,
            "budget_s": options.budget, "seed": options.seed}


def measure_devices(options, entry):
    """The first `goptimize run` of a machine measures its devices: before anything is timed, and once."""
    if set(options.modes) <= {"tunable"}:
        return
    options.progress("measuring the devices, once")
    limit = max(1, int(options.timeout / 2))  # the rest is the program's
    Program(entry, options).run("measuring", *timed_launcher("run", options.build, None, "--measure-seconds", limit))


def skipped(entry, reason):
    return {"suite": entry.suite, "name": entry.name, "command": list(entry.command), "stopped": reason, "rounds": 0,
            "modes": {}, "samples": {NATIVE: {}}}


def results_of(options, entries, results):
    """Adds to `results` as they come; what an interrupted program has, too."""
    present = [e for e in entries if not e.missing]
    if present:
        measure_devices(options, present[0])
    for entry in entries:
        if entry.missing:
            results.append(skipped(entry, entry.missing))
        else:
            program = TimedProgram(entry, options)
            try:
                program.in_rounds()
            finally:
                results.append(program.result())
        options.progress()
        print(*told(results[-1]), sep="\n", flush=True)


def written(options, whole):
    if options.json:
        options.json.write_text(json.dumps(whole) + "\n")
    if options.html:
        options.html.write_text(page(whole))


def verdict(results):
    timed = [r for r in results if r["modes"]]
    unknown = len(timed) < len(results) or any(ratio_of(r, m).low is None for r in timed for m in r["modes"])
    return 1 if unknown or any(slower(timed)) or any(differing(timed)) else 0


def time_suites(options, entries):
    options.progress, results, interrupted = Progress(), [], False
    whole = {"about": about(options), "programs": results}
    if options.transfers and not (options.build / "tests" / "libtransfer_clock.so").exists():
        print("suites.py: transfers are not timed alone: build the target transfer_clock", file=sys.stderr)
        options.transfers = False
    try:
        results_of(options, entries, results)
    except KeyboardInterrupt:
        interrupted = True
        options.progress()
        print("interrupted; what is known:", flush=True)
        if results and results[-1]["stopped"] == "interrupted":
            print(*told(results[-1]), sep="\n", flush=True)
    print("", *summary(results, options.modes), sep="\n", flush=True)
    whole["means"] = {mode: {kind: value for kind, (value, _) in kinds.items()}
                      for mode, kinds in means(results, options.modes).items()}
    written(options, whole)
    return 130 if interrupted else verdict(results) if options.never_slower else 0
