"""tests/bench/every_mode.py says `same` of a program that is, and names the mode and the difference of one that is not."""

import json
import pathlib
import sys

from job import app, build, check, main, run, same

RUNNER = pathlib.Path(__file__).parent.parent / "bench" / "every_mode.py"


def modes_of(*command, options=()):
    done = run(sys.executable, RUNNER, build, "--json", "--plain", "2", "--timeout", "60", *options, "--", *command)
    return done, {row["mode"]: row["differs"] for row in map(json.loads, done.text.splitlines())}


def test_a_program_that_is_the_same_everywhere():
    pathlib.Path("folder").mkdir()
    pathlib.Path("folder/input").write_text("7\n")
    script = (f"cat input; read word; echo $word; echo error >&2; {app('vadd')} >/dev/null; echo kept > made; "
              "printf 'no end of a line' >&2; exit 3")
    pathlib.Path("words").write_text("given\n")
    done, modes = modes_of("sh", "-c", script, options=("--folder", "folder", "--stdin", "words", "--out", "report"))
    same((done.code, modes), (0, {m: [] for m in ("run", "always", "trace", "full", "shm", "tcp")}), "exit status and modes")
    same(pathlib.Path("report/always.out").read_text(), "7\ngiven\n", "what is kept of a mode")
    check(pathlib.Path("report/trace.db").exists(), "the trace is not kept")


def test_what_differs_is_named():
    injected = 'case "$LD_PRELOAD" in *gtrace/'
    for body, word in ((f'{injected}opt*) echo more;; esac', "line"), (f'{injected}opt*) echo other >&2;; esac', "stderr"),
                       (f'{injected}opt*) exit 9;; esac', "status 9"), (f'{injected}opt*) echo > made;; esac', "new file made")):
        done, modes = modes_of("sh", "-c", body, options=("--modes", "always,trace"))
        same((done.code, modes["trace"]), (1, []), "exit status, and the mode in which nothing is different")
        check(any(word in text for text in modes["always"]), f"no '{word}' in {modes['always']}")


def test_a_program_that_never_ends_in_a_mode():
    done, modes = modes_of("sh", "-c", 'case "$LD_PRELOAD" in *gtrace/opt*) exec sleep 100;; esac',
                           options=("--modes", "always", "--timeout", "3", "--out", "report"))
    same((done.code, modes), (1, {"always": ["status timeout"]}), "exit status and modes")


def test_a_program_that_never_ends_natively():
    done = run(sys.executable, RUNNER, build, "--timeout", "1", "--modes", "run", "--", "sleep", "100")
    check(done.code == 2 and "did not end within 1 s" in done.err_text, f"{done.code}: {done.err_text}")


main(globals())
