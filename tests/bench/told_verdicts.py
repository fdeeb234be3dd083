"""A plugin of pytest's (-p told_verdicts): each test's verdict goes to the file $VERDICTS as soon as it is known.

So what a run found is there also when a driver ends the process. Lines: a verdict, a tab, the test. Where $ONLY_TEST is set,
nothing but the test of that name runs.
"""
import os

TOLD = open(os.environ["VERDICTS"], "a", buffering=1)


def tell(word, test):
    TOLD.write(f"{word}\t{test}\n")


def pytest_collectreport(report):
    if report.outcome != "passed":
        tell(f"not collected: {report.outcome}", report.nodeid)


def pytest_collection_modifyitems(items):
    only = os.environ.get("ONLY_TEST")
    if only:
        items[:] = [item for item in items if item.nodeid == only]


def pytest_runtest_logstart(nodeid):
    tell("ended the process", nodeid)  # unless another verdict follows


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        tell(f"expected {report.outcome}" if hasattr(report, "wasxfail") else report.outcome, report.nodeid)
