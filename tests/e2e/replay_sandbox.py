#!/usr/bin/env python3
"""What a stranger's trace can do to the files of who replays it: nothing, and drivers work nevertheless.

Usage: replay_sandbox.py BUILD
"""

import platform
import shutil

from job import *  # noqa: F403
from proxy_job import serving

SECRET = "the_secret_of_the_owner"


def recorded(*command, code=0):
    outcome = run(GTRACE, "run", "--capture", "full", "--", *command)
    same(outcome.code, code, f"{command}: {outcome.err_text}")
    return outcome.text


def replayed(*options, code=0, env=None, before=()):
    outcome = run(*before, GTRACE, "replay", *options, env={**os.environ, **(env or {})})
    same(outcome.code, code, f"exit status: {outcome.err_text}")
    return outcome


def stranger():
    """A trace whose kernel makes a file and reads one, where both are. The places."""
    if platform.machine() != "x86_64":
        raise Skip("its kernel makes system calls of x86-64")
    made, secret = (pathlib.Path("home", name).absolute() for name in ("made", "secret"))
    made.parent.mkdir()
    secret.write_text(SECRET)
    same(recorded(tests_dir / "stranger", made, secret), f"1 1 {SECRET}\n", "what it does without a sandbox")
    check(made.exists(), "it made no file")
    made.unlink()
    return made


def test_a_stranger_meddles_with_nothing():
    made = stranger()
    text = replayed(code=1)  # the answers of the system are others
    check(not made.exists(), "a file was made")
    check("could read and write" not in text.err_text, text.err_text)
    both = json.loads(replayed("--json", code=1).text)
    check(SECRET not in json.dumps(both["differences"]), f"{both}")
    same(run(GTRACE, "extract", "--kernel", "meddle", "-o", "launch").code, 0, "exit status of extract")
    check(not made.exists(), "a file was made by gtrace extract")
    check(SECRET.encode() not in pathlib.Path("launch/data/buffer2.after").read_bytes(), "the secret was extracted")


def test_without_a_sandbox_it_can():
    """The other test could not fail otherwise."""
    made = stranger()
    replayed("--no-sandbox")
    check(made.exists(), "no file was made")


def test_no_secret_is_included():
    pathlib.Path("home").mkdir()
    secret = pathlib.Path("home/secret.h").absolute()
    secret.write_text(f"constant int {SECRET} = 1;\n")
    recorded(tests_dir / "stranger", secret)
    outcome = replayed(code=4)
    check("clBuildProgram" in outcome.err_text and SECRET not in outcome.err_text + outcome.text, outcome.err_text)
    replayed("--no-sandbox")


def test_drivers_work_inside():
    """With a cache that is kept, and one that has to be made; temporary files go."""
    recorded(tests_dir / "replayed", "every")
    os.mkdir("tmp")
    os.environ.pop("POCL_CACHE_DIR", None)
    for _ in range(2):
        replayed(env={"XDG_CACHE_HOME": os.path.abspath("cache"), "TMPDIR": os.path.abspath("tmp")})
        same(os.listdir("tmp"), [], "left behind")
    check([p for p in pathlib.Path("cache").rglob("*") if p.is_file()], "nothing is in the driver's cache")


def test_other_drivers():
    recorded(app("vadd"), "--iterations", "1")
    rusticl = pathlib.Path("/usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1")
    if shutil.which("oclgrind"):
        replayed("--compare", "ulp:4", before=["oclgrind"])
    if rusticl.exists():
        pathlib.Path("vendors").mkdir()
        pathlib.Path("vendors/rusticl.icd").write_text(f"{rusticl}\n")
        replayed("--compare", "ulp:4", env={"OCL_ICD_VENDORS": os.path.abspath("vendors"), "RUSTICL_ENABLE": "llvmpipe"})


def test_under_our_tools():
    """What is injected into a replay, and a proxy, which is reached from inside."""
    recorded(app("vadd"), "--iterations", "1")
    good(GOPTIMIZE, "run", "--force-policy", "pin", "--", GTRACE, "replay")
    good(GTRACE, "run", "-o", "again.db", "--", GTRACE, "replay", "trace.db")
    again = json.loads(good(GTRACE, "replay", "--json", "again.db").text)
    check(again["calls"] > 10, f"the replay of a replay: {again}")
    with serving() as proxy:
        for url in (proxy.url, f"shm:{proxy.port}"):
            text = good(GOPTIMIZE, "run", "--remote", url, "--token-file", proxy.token, "--order", "remote-first",
                        "--", GTRACE, "replay", "trace.db", env=proxy.env).text
            check("0 of 1 results differ" in text, text)


main(globals())
