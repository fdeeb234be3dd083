"""goptimize run --stage always: random programs get the same bytes, events and errors as without it; so do others."""

import json
import pathlib
import re

from job import GOPTIMIZE, RUN, app, arguments, check, good, main, run, same, tests_dir

RANDOM = str(tests_dir / "optimizer" / "random_transfers")
SEEDS = int(arguments[0]) if arguments else 6


def staged(*command, report="report.json", **options):
    done = run(GOPTIMIZE, "run", "--stage", "always", "--reuse", "never", "--report", report, "--", *command, **options)
    return done, json.loads(pathlib.Path(report).read_text())


def compare(*command):
    plain = good(*command)
    done, report = staged(*command)
    same(done.code, 0, "exit status")
    same(done.out, plain.out, "output")
    return report


def test_random_programs_of_one_thread():
    for seed in range(SEEDS):
        report = compare(RANDOM, seed, 120)
        check(report["staged"]["transfers"] > 20, f"staged {report['staged']}")


def test_random_programs_of_three_threads():
    for seed in range(SEEDS // 2):
        report = compare(RANDOM, seed, 50, 3)
        check(report["staged"]["transfers"] > 20, f"staged {report['staged']}")


def test_programs():
    for name in ("vadd", "transpose", "nn", "stencil", "sad", "spmv"):
        report = compare(app(name))
        check(report["staged"]["transfers"] > 0, f"{name}: staged {report['staged']}")


def test_shared_virtual_memory():
    """Copies with one side in it are staged, to the last one: 5 sizes, of which two also on the stack, from two or three
    kinds of memory, there and back, with three queues, but for those of a byte. Others are the driver's."""
    program = str(tests_dir / "optimizer" / "svm_copies")
    plain = good(program)
    check("WRONG" not in plain.text and plain.text.endswith("end\n"), plain.text)
    done, report = staged(program)
    same((done.code, done.out), (0, plain.out), "exit status, output")
    same(report["staged"]["transfers"], 3 * (2 * (2 * 4 + 1) + 20), f"staged; {report['fallbacks']}")


def test_memory_of_the_drivers_own():
    """Mapped, under a buffer, shared: left as it is, as long as it is so; the same memory before and after is staged."""
    program = str(tests_dir / "optimizer" / "drivers_own")
    plain = good(program)
    drivers, others = map(int, re.search(r"own: (\d+), others: (\d+)", plain.text).groups())
    done, report = staged(program)
    same((done.code, done.out), (0, plain.out), "exit status, output")
    same(report["drivers_own"], {"transfers": drivers, "bytes": drivers << 19}, "left to the driver")
    same(report["staged"]["transfers"], others, f"staged; {report['fallbacks']}")


def test_never_stages_nothing():
    done = run(*RUN, "--stage", "never", "--report", "r.json", "--", app("vadd"))
    same(done.code, 0, "exit status")
    report = json.loads(pathlib.Path("r.json").read_text())
    same((report["injected"], report["staged"]["transfers"]), (False, 0), "nothing happens")


def test_counts_what_was_staged():
    done, report = staged(app("vadd"), "--elements", "1000000", "--iterations", "7")
    same(done.code, 0, "exit status")
    same(report["staged"]["transfers"], 21, "transfers")
    same(report["staged"]["bytes"], 84000000, "bytes")
    same(report["fallbacks"], {}, "fallbacks")
    check(re.search(r"staged: 21 transfers of 80\.1 MiB", done.err_text), done.err_text)


main(globals())
