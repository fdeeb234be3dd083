#!/usr/bin/env python3
"""Calls of every kind, wrong ones and odd ones among them, answer the same when they are traced and when they are optimized.

Usage: codes.py BUILD
"""

import pathlib

from job import *  # noqa: F403
from virtual_job import native

WAYS = {"traced": (GTRACE, "run", "-o", "trace.db", "--"),
        "traced without device times": (GTRACE, "run", "-o", "untimed.db", "--timing", "off", "--"),
        "optimized": (GOPTIMIZE, "run", "--stage", "always", "--reuse", "always", "--")}


def same_in_all_ways(program, *arguments):
    command = (tests_dir / program, *arguments)
    expected = good(*command, env=native())
    check(len(expected.text.splitlines()) > 8, f"little was called: {expected.text}")
    for way, launcher in WAYS.items():
        outcome = run(*launcher, *command, env=native())
        same(outcome.code, 0, f"exit status, {way}")
        told = [(here, there) for here, there in zip(expected.text.splitlines(), outcome.text.splitlines()) if here != there]
        same(told, [], f"lines that differ, {way}")
        same(outcome.text, expected.text, way)


def test_wrong_calls():
    same_in_all_ways("wrong_calls")


def test_odd_calls():
    same_in_all_ways("odd_calls")


def test_features():
    pathlib.Path("inc/inner").mkdir(parents=True)
    pathlib.Path("inc/a.h").write_text('#include "inner/b.h"\n#define A 40\n')
    pathlib.Path("inc/inner/b.h").write_text("#define B 2\n")
    same_in_all_ways("features", "inc", 300)  # PoCL forgets a callback: it is not waited for long


def test_arguments():
    same_in_all_ways("arguments")


def test_images():
    same_in_all_ways("images")


def test_shared_virtual_memory():
    same_in_all_ways("svm", "work")
    same_in_all_ways("svm_wrong")


main(globals())
