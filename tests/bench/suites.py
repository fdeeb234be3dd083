#!/usr/bin/env python3
"""Programs of others under every mode of our tools, beside their plain runs: output, files, exit status, time.

    tests/bench/suites.py BUILD LIST OUT [--root FOLDER] [--only PATTERN] [--modes LIST] [--plain N] [--timeout S]
                          [--times PATTERN]
    tests/bench/suites.py BUILD LIST OUT --time [--rounds N] [--until-width W] [--budget S] [--modes LIST]
                          [--no-transfers] [--json FILE] [--html FILE] [--never-slower] ...

BUILD: build/release. LIST: suite_list.py says how its lines look. OUT: a folder for traces, reports and what was said, one
folder for each program. Without --time, OUT/results.jsonl has a line for each program, the table goes to stdout;
compared_runs.py says what is compared with the plain runs (N of them).

With --time each program runs in rounds, in each once natively and once in every mode, in random order: medians of the
ratios native / mode with their 95 % intervals (ratios.py), of the whole run, of processor time, of transfers alone. It goes
on until the intervals of all modes are narrower than W, or N rounds or S seconds are over. Ctrl-C: what is known by then.
Exit status: 0; 1 with --never-slower when a lower bound is below 0.98 and the tool did not step aside, when a program has no
interval, or when one is not the same; 3 a list that cannot be read; 130 interrupted. See docs/measurements/programs.md.
"""
import argparse
import json
import pathlib
import re
import sys

import compared_runs
from modes import MODES, REMOTE, TIMED, order
from own_proxy import OwnProxy
from suite_list import BadList, add_list_arguments, read_list
from suite_program import Program
from suites_in_rounds import time_suites


def told(row):
    """A line of the table."""
    cells = []
    for mode in row["modes"].values():
        cells.append(f"{mode['s']:.1f} {'; '.join(mode['differs']) or 'same'}")
    return " | ".join([row["suite"], row["name"], f"{row['plain_s']:.1f}", *cells, *row.get("problems", ())])


def compare_suites(options, entries):
    proxy = OwnProxy(options.build, options.out) if set(REMOTE) & set(options.modes) else None
    print("suite | program | plain | " + " | ".join(options.modes), flush=True)
    try:
        with open(options.out / "results.jsonl", "a") as results:
            for entry in entries:
                row = Program(entry, options, proxy).all_modes()
                results.write(json.dumps(row) + "\n")
                results.flush()
                print(told(row), flush=True)
    finally:
        if proxy:
            proxy.stop()
    return 0


def parser_of_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_list_arguments(parser)
    parser.add_argument("--modes", help=f"of {','.join(MODES)}; with --time of {','.join(TIMED)}")
    parser.add_argument("--times", default="$^", help="a pattern: more lines that tell times")
    parser.add_argument("--plain", default=3, type=int, help="plain runs, with which the others are compared (3)")
    parser.add_argument("--timeout", default=60, type=float, help="seconds for each run (60)")
    timed = parser.add_argument_group("timed")
    timed.add_argument("--time", action="store_true", help="in rounds")
    timed.add_argument("--rounds", default=100, type=int, help="at most (100)")
    timed.add_argument("--until-width", default=0.02, type=float, help="of all intervals of whole runs (0.02)")
    timed.add_argument("--budget", default=120, type=float, help="seconds for a program's rounds (120)")
    timed.add_argument("--no-transfers", dest="transfers", action="store_false", help="saves half of the runs")
    timed.add_argument("--seed", default=1, type=int, help="of the order of runs (1)")
    timed.add_argument("--json", type=pathlib.Path, help="everything, for other programs")
    timed.add_argument("--html", type=pathlib.Path, help="a page")
    timed.add_argument("--never-slower", action="store_true", help="exit status 1 if a program may be slower")
    return parser


def modes_of(parser, options):
    known, order_of = (TIMED, list) if options.time else (MODES, lambda modes: order(",".join(modes)))
    modes = options.modes.split(",") if options.modes else list(known)
    wrong = [m for m in modes if m not in known]
    if wrong:
        parser.error(f"no mode {wrong[0]!r}: of {', '.join(known)}")
    return order_of(dict.fromkeys(modes))


def main():
    parser = parser_of_options()
    options = parser.parse_args()
    options.modes = modes_of(parser, options)
    compared_runs.OF_TIMES = re.compile(f"{compared_runs.OF_TIMES.pattern}|{options.times}", re.I)
    try:
        entries = read_list(options.list, options.root, options.only)
    except BadList as e:
        print(f"suites.py: {e}", file=sys.stderr)
        return 3
    options.out.mkdir(parents=True, exist_ok=True)
    return (time_suites if options.time else compare_suites)(options, entries)


if __name__ == "__main__":
    sys.exit(main())
