#!/usr/bin/env python3
"""The worked example of docs/ci.md, run as it stands there; `gtrace diff --fail-above` and `ganalyze --markdown`.

Usage: pipeline.py BUILD FOLDER_OF_DOCS
"""

from job import *  # noqa: F403

PAGE = (pathlib.Path(arguments[0]) / "ci.md").read_text()
EXAMPLE = re.search(r"```sh\n(.*?)```", PAGE, re.S)[1]


def record(name, iterations, *more):
    same(traced(app("vadd"), "--elements", 65536, "--iterations", iterations, *more, file=name).code, 0, "exit status")


def program(iterations):
    pathlib.Path("app").write_text(f"#!/bin/sh\nexec {app('vadd')} --elements 65536 --iterations {iterations}\n")
    os.chmod("app", 0o755)


def example():
    return run("bash", "-e", "-c", EXAMPLE, env={"GITHUB_STEP_SUMMARY": "summary.md"})


def test_the_example():
    check(len(re.findall(r"^\s+gtrace diff --fail-above 20%|&& gtrace diff|gtrace diff --fail-above 20% b", PAGE, re.M)) >= 2,
          "the page's workflow has the same command")
    program(20)

    def within():
        record("baseline.db", 2000)
        return example().code == 0

    # What happens once, a build, may take longer on a busy machine, or have been quick in the baseline: not each time.
    check(any(within() for _ in range(12)), "a program that does less")
    program(20000)
    outcome = example()
    same(outcome.code, 6, "a program that does ten times as much")
    check("More than 20 % longer" in outcome.text and "all of them" in outcome.text, "says what")
    summary = pathlib.Path("summary.md").read_text()
    check(summary.count("## gtrace: app\\_vadd") >= 2, "a summary for each")


def test_what_is_slower():
    record("a.db", 100)
    record("b.db", 20000)
    one = run(GTRACE, "diff", "--fail-above", "5%", "a.db", "b.db", "--json")
    same(one.code, 6, "exit status")
    found = json.loads(one.out)
    same(found["fail_above"], 0.05, "the limit")
    check(any(r["list"] == "kernels" and r["name"] == "vadd" for r in found["slower"]), "the kernel is named")
    for r in found["slower"]:
        check(abs(r["growth"] - (r["b_ns"] / r["a_ns"] - 1)) < 1e-6 and r["b_ns"] - r["a_ns"] >= 1e6, f"{r}")
    same(run(GTRACE, "diff", "--fail-above", "100000000%", "a.db", "b.db").code, 0, "within the limit")
    same(run(GTRACE, "diff", "--fail-above", "0", "a.db", "a.db").code, 0, "the same trace")
    # A hundredth of the calls; what happens once, a build, may take a few times as long on a busy machine.
    same(run(GTRACE, "diff", "--fail-above", "2000%", "b.db", "a.db").code, 0, "faster is no regression")
    same(run(GTRACE, "diff", "a.db", "b.db").code, 1, "without a limit structure decides")


def test_limits_that_are_none():
    record("a.db", 5)
    for text in ("fast", "-5%", "5%%", "nan", "inf", "%"):
        one_line(run(GTRACE, "diff", f"--fail-above={text}", "a.db", "a.db"), USAGE, "percentage")
    one_line(run(GTRACE, "diff", "--fail-above", "5%", "--times", "off", "a.db", "a.db"), USAGE, "times")
    same(run(GTRACE, "diff", "--fail-above", "5%", "a.db", "nothing.db").code, ENVIRONMENT, "no such trace")


def tables(text):
    """Every line of a table has as many cells as its header."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        lines = block.splitlines()
        cells = [len(re.findall(r"(?<!\\)\|", l)) for l in lines]
        check(len(set(cells)) == 1 and re.fullmatch(r"\|(:?-+:?\|)+", lines[1]), f"a table: {lines[:3]}")
        yield lines


def test_markdown():
    record("a.db", 200)
    text = good(GANALYZE, "a.db", "--markdown").text
    report = good(GANALYZE, "a.db", "--json").json
    check(text.startswith("## gtrace: app\\_vadd\n"), "a heading")
    check(len(list(tables(text))) >= 3, "tables")
    check("vadd" in text and "Dispatch ratio" in text, "the verdict and the kernel")
    for finding in report["findings"][:10]:
        check(finding["rule"] in text, f"{finding['rule']} is missing")
    one_line(run(GANALYZE, "a.db", "--markdown", "--json"), USAGE, "markdown")
    one_line(run(GANALYZE, "a.db", "a.db", "--markdown"), USAGE, "markdown")


def test_names_are_no_markup():
    os.symlink(app("vadd"), "a|b_*<i>`")
    same(traced("./a|b_*<i>`", "--elements", 1024, "--iterations", 3, file="odd.db").code, 0, "exit status")
    text = good(GANALYZE, "odd.db", "--markdown").text
    check("<i>" not in text, "no tag of the program's")
    list(tables(text))


if __name__ == "__main__":
    main(globals())
