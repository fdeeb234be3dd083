#!/usr/bin/env python3
"""Environment variables: those that set options, and a line for those that no longer do.

Usage: variables.py BUILD
"""

from job import *  # noqa: F403

PRINTS = ("sh", "-c", 'echo "$GTRACE_OUTPUT $GTRACE_ONLY"')


def told(outcome):
    return [line for line in outcome.err_text.splitlines() if "is not read by" in line]


def test_a_trace_goes_where_the_option_says():
    env = {"GTRACE_OUTPUT": "run.db"}
    outcome = good(GTRACE, "run", "--", *PRINTS, env=env)
    same(told(outcome), ["gtrace: GTRACE_OUTPUT is not read by gtrace run: use --output"], "what is said")
    same(outcome.text, "run.db \n", "the program has the variable as it was")
    check(pathlib.Path("trace.db").exists() and not pathlib.Path("run.db").exists(), "the trace is elsewhere")
    same(told(good(GTRACE, "run", "-o", "other.db", "--", "true", env=env)), [], "with the option")
    same(told(good(GTRACE, "stats", "--json", env=env)), [], "a command without that option")
    same(told(good(GTRACE, "run", "--help", env=env)), [], "with --help")


def test_no_option_of_another_command():
    outcome = good(GOPTIMIZE, "run", "--", *PRINTS, env={"GTRACE_ONLY": "remote", "GTRACE_JSON": "1", "GTRACE_QUICK": "1"})
    same(told(outcome), ["goptimize: GTRACE_ONLY is not read by goptimize run: use --only"], "what is said")
    same(outcome.text, " remote\n", "the program has the variable as it was")


def test_help_names_the_variable_of_an_option():
    text = good(GOPTIMIZE, "run", "--help").text
    same(sorted(re.findall(r"Env:(\w+)", text)),
         [f"GTRACE_{n}" for n in ("CA", "CERT", "COMPRESS", "DEDUP", "EMULATE_USM", "KEY", "ORDER", "PLATFORM_NAME", "REMOTE",
                                  "SPREAD", "SYNC_ERRORS", "TOKEN_FILE")], "variables of goptimize run")
    check("Env:" not in good(GTRACE, "run", "--help").text, "gtrace run has a variable")


main(globals())
