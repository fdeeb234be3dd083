"""tests/bench/suites.py: what it makes of lists, the statistics, and three tiny programs in rounds.

Usage: suites.py BUILD
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent.parent / "bench"
sys.path.insert(1, str(BENCH))

from job import GOPTIMIZE, INPUT, USAGE, app, build, check, good, main, one_line, run, same  # noqa: E402
from ratios import Ratio, added, geometric_mean, outermost, paired  # noqa: E402
from suite_list import BadList, read_list  # noqa: E402


def suites(text, *options, **more):
    pathlib.Path("some.list").write_text(text)
    return run(sys.executable, BENCH / "suites.py", build, "some.list", "out", *options, **more)


def timed(text, *options):
    done = suites(text, "--time", "--rounds", "6", "--json", "all.json", *options)
    return done, {f"{p['suite']}/{p['name']}": p for p in run("cat", "all.json").json["programs"]}


def test_intervals():
    # Of tables of order statistics: how many values lie outside at each end for 95 %.
    same([outermost(n) for n in (0, 5, 6, 8, 9, 12, 15, 25, 50, 100)], [None, None, 0, 0, 1, 2, 3, 7, 17, 39], "outside")
    same(paired([2, 2, 3], [1, 2, 2]), Ratio(1.5, None, None, 3), "three rounds")
    same(paired([4, 1, 2, 3, 5, 6], [1] * 6), Ratio(3.5, 1, 6, 6), "six rounds")
    same(paired([1, None, 2, 3], [1, 1, None, 2]), Ratio(1.25, None, None, 2), "rounds that lack one")
    same(paired([None, 0], [1, 1]), None, "nothing to compare")
    same((added([1, 2, 3, None], [1.5, 2.25, 5, 1]), added([], [])), (0.5, None), "what is added")
    check(abs(geometric_mean([0.5, 2, 8]) - 2) < 1e-12 and geometric_mean([]) is None, "geometric mean")
    check(Ratio(1, 0.979, 1.1, 9).slower and not Ratio(1, 0.98, 1.1, 9).slower and not Ratio(0.5, None, None, 3).slower,
          "what is slower than allowed")


def test_intervals_hold_the_median():
    """In 95 % of the cases, also where ratios are skewed and some are wild."""
    chance, held, cases = random.Random(7), 0, 2000
    for _ in range(cases):
        ratios = [chance.lognormvariate(0, 0.1) * (3 if chance.random() < 0.05 else 1 / 3 if chance.random() < 0.05 else 1)
                  for _ in range(20)]
        found = paired(ratios, [1] * 20)
        held += found.low <= 1 <= found.high
    check(0.945 <= held / cases <= 0.98, f"{held} of {cases}")  # exactly: 95.9 %


def test_lists():
    pathlib.Path("folder with space").mkdir()
    pathlib.Path("some.list").write_text("# none\n\na one@small - ./x 1 'two words' '$ROOT/file'\n"
                                         "a one@large '$ROOT/folder with space:sub' ./x\n")
    small, large = read_list(pathlib.Path("some.list"), pathlib.Path("/r s"))
    same((small.path, small.folder, small.command), ("a/one@small", None, ("./x", "1", "two words", "/r s/file")), "a line")
    same((str(large.folder), large.sub, large.missing), ("/r s/folder with space", "sub",
                                                         "no folder /r s/folder with space/sub"), "a folder")
    same([e.name for e in read_list(pathlib.Path("some.list"), "/r", "*@large")], ["one@large"], "some of a list")


def test_bad_lists_are_one_line():
    for text, words in (("a b\n", ["some.list:1: a line is"]), ("# x\n\na b - 'sh\n", ["some.list:3: No closing quotation"]),
                        ("a ../b - true\n", ["some.list:1: '../b' is no name"]), ("a b $ROOT/x true\n", [":1:.*--root"]),
                        ("a b - true\na b - false\n", [":2: a/b is in line 1"]), ("# nothing\n", ["no program in it"])):
        one_line(suites(text), INPUT, *words)
    one_line(suites("a b - true\n", "--only", "c/*"), INPUT, "fits c/")
    one_line(run(sys.executable, BENCH / "suites.py", build, "no.list", "out"), INPUT, "no.list: No such file")
    done = suites("a b - true\n", "--time", "--modes", "run,fast")
    check(done.code == USAGE and "no mode 'fast'" in done.err_text, done.err_text)


def test_lists_of_the_suites():
    for path in sorted((BENCH / "suites").glob("*.list")):
        names = {e.path for e in read_list(path, pathlib.Path("/suites"))}
        bases = {n.partition("@")[0] for n in names}
        same(names, {f"{b}@{size}" for b in bases for size in ("small", "large")}, f"sizes in {path.name}")


TINY = """
own writes - sh -c 'echo 7 > made; echo same'
own slow - sh -c 'case "$GLIBC_TUNABLES" in ?*) sleep 0.05; echo more;; esac; echo same'
own fails - sh -c 'exit 3'
own absent $ROOT/nowhere ./x
"""


def test_three_programs_in_rounds():
    done, found = timed(TINY, "--root", ".", "--modes", "tunable", "--no-transfers", "--html", "page.html", "--never-slower")
    same(done.code, 1, "exit status")
    same({n: (p["rounds"], p["stopped"]) for n, p in found.items() if p["modes"]},
         {f"own/{n}": (6, "rounds") for n in ("writes", "slow", "fails")}, "rounds")
    same(found["own/fails"]["statuses"], ["3"], "exit status of a program")
    check(found["own/absent"]["stopped"].startswith("no folder"), "what is not there")
    slow = found["own/slow"]["modes"]["tunable"]
    check(slow["wall"]["high"] < 0.5 and slow["wall"]["rounds"] == 6, f"50 ms more: {slow}")
    check(slow["differs"] and not found["own/writes"]["modes"]["tunable"]["differs"], "what differs")
    same(slow["transfers"], None, "no transfers")
    for word in ("not the same: own/slow tunable", "geometric means", "own/absent: not timed: no folder"):
        check(word in done.text, f"no '{word}'")
    text = pathlib.Path("page.html").read_text()
    check(text.count("<circle") == 6 and "<script" not in text and "http" not in text, "the page: a dot a ratio, nothing else")


def test_a_launcher_costs_something():
    done, found = timed("own true - true\n", "--modes", "run,tunable+run")
    same(done.code, 0, "exit status")
    same({m: r["differs"] for m, r in found["own/true"]["modes"].items()}, {"run": [], "tunable+run": []}, "modes")
    check(found["own/true"]["modes"]["run"]["added_cpu_s"] > 0, "added")


def test_profiles_and_transfers():
    """The profile is made, and transfers are seen natively and under goptimize."""
    good(GOPTIMIZE, "run", "--", app("vadd"))  # devices are measured once for all tests of a build
    shutil.copytree(pathlib.Path(os.environ["GT_TEST_CACHE"], "gtrace"), "out/cache/gtrace")
    done, found = timed("own vadd - app_vadd --elements 100000\n", "--modes", "profile")
    same(done.code, 0, "exit status")
    vadd = found["own/vadd"]
    same((vadd["rounds"], vadd["modes"]["profile"]["differs"]), (6, []), "rounds and output")
    check(all(t > 0 for way in ("native", "profile") for t in vadd["samples"][way]["transfers"]), f"{vadd['samples']}")
    check(pathlib.Path("out/own/vadd/vadd.gprofile").exists(), "no profile is kept")


def test_an_interrupted_run_says_what_is_known():
    pathlib.Path("some.list").write_text("own first - true\nown second - sleep 0.5\n")
    process = subprocess.Popen([sys.executable, BENCH / "suites.py", build, "some.list", "out", "--time", "--rounds", "6",
                                "--modes", "tunable", "--no-transfers", "--json", "all.json"], stdout=subprocess.PIPE)
    first = process.stdout.readline()
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    same(process.returncode, 130, "exit status")
    check(b"own/first: natively" in first and b"interrupted; what is known" in rest, rest)
    programs = run("cat", "all.json").json["programs"]
    same([(p["name"], p["stopped"]) for p in programs], [("first", "rounds"), ("second", "interrupted")], "what is written")


main(globals())
