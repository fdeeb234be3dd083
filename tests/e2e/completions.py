#!/usr/bin/env python3
"""Completions of bash, zsh and fish know every option and command of --help, and the choices of options that have them.

Usage: completions.py BUILD FOLDER_OF_COMPLETIONS
"""

from job import *  # noqa: F403

FOLDER = pathlib.Path(arguments[0])
PROGRAMS = ("gtrace", "ganalyze", "goptimize", "gmicrobench", "gproxy")


def help_of(*command):
    return good(*command, "--help").text


def flags(text):
    """-o,--output at the beginning of a line of --help."""
    heads = re.findall(r"^ {1,4}((?:-\w,\s?)?--?[\w-]+)(?=[ \n\[])", text, re.M)
    return {f.strip() for h in heads for f in h.split(",") if f.startswith("-")}


def commands():
    """Every command with its program: ("gtrace", "run"), and the programs themselves."""
    for program in PROGRAMS:
        text = help_of(str(bin_dir / program))
        yield (program,), text
        words = re.findall(rf"\b{program} (\w+)\b", text) + re.findall(r"^  (\w+)  +\S", text, re.M)
        for word in dict.fromkeys(words):
            outcome = run(str(bin_dir / program), word, "--help")
            if outcome.code == 0 and f"Usage: {program} {word} " in outcome.text:
                yield (program, word), outcome.text


def bash(*words):
    script = f"source '{FOLDER}/{words[0]}.bash'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _gt_{words[0]}; " \
             "printf '%s\\n' \"${COMPREPLY[@]}\""
    return set(good("bash", "--norc", "-c", script, "bash", *words).text.split())


def zsh(*words):
    script = f"_arguments() {{ print -rl -- \"$@\" }}; words=(\"$@\"); CURRENT=$#; source '{FOLDER}/_{words[0]}'"
    return good("zsh", "-f", "-c", script, "zsh", *words).text


def fish(*words):
    script = f"source '{FOLDER}/{words[0]}.fish'; complete -C '{' '.join(words)}'"
    outcome = good("fish", "--no-config", "-c", script, env={"HOME": os.getcwd()})
    return {line.split("\t")[0] for line in outcome.text.splitlines()}


def every_option(offered):
    seen = 0
    for command, text in commands():
        missing = flags(text) - offered(command)
        check(not missing, f"{' '.join(command)}: {sorted(missing)}")
        seen += len(flags(text))
    check(seen > 150, f"only {seen} options in all")


def test_commands_are_found():
    found = [c for c, _ in commands()]
    for command in (("gtrace", "run"), ("gtrace", "digest"), ("ganalyze", "diff"), ("goptimize", "run"),
                    ("gmicrobench", "platform"), ("gproxy", "serve")):
        check(command in found, f"{command} in {found}")


def test_bash():
    every_option(lambda command: bash(*command, "-"))
    same(bash("gtrace", "run", "--capture", ""), {"none", "hash", "full"}, "choices")
    check({"run", "show", "digest"} <= bash("gtrace", ""), "commands")
    check({"start", "snapshot"} <= bash("gtrace", "ctl", ""), "what a command takes")
    pathlib.Path("a file.db").touch()
    check("file.db" in bash("gtrace", "show", "a"), "files")
    check("--output" not in bash("gtrace", "run", "--", "ls", "-"), "another program's line")


def test_zsh():
    needs("zsh")

    def offered(command):
        text = zsh(*command, "-")
        return set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)(?=[\[ =]|$)", re.sub(r"\[.*", "[", text), re.M)) | \
            set(re.findall(r"(--?[\w-]+)\[", text))

    every_option(offered)
    check("(none hash full)" in zsh("gtrace", "run", ""), "choices")


def test_fish():
    needs("fish")
    every_option(lambda command: fish(*command, "-") | {w for c in ("--",) for w in fish(*command, c)})
    check({"none", "hash", "full"} <= fish("gtrace", "run", "--capture", "''"), "choices")
    check({"run", "show", "digest"} <= fish("gtrace", "''"), "commands")


def test_they_are_installed():
    text = (FOLDER / "CMakeLists.txt").read_text()
    for program in PROGRAMS:
        check(program in text, program)
        for name in (f"{program}.bash", f"_{program}", f"{program}.fish"):
            check((FOLDER / name).is_file(), name)


if __name__ == "__main__":
    main(globals())
