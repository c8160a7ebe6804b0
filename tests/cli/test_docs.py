#!/usr/bin/env python3
"""The man page tells every verb and option that --help tells, and bash completes them. Usage: test_docs.py TEEWIRE REPLAY"""
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def verbs_below(program, verb=()):
    """Every verb with its long options."""
    text = run(program, *verb, "--help")
    yield verb, re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.M)
    nested = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    for name in re.findall(r"^  ([a-z][a-z-]*)", nested[1], re.M) if nested else []:
        yield from verbs_below(program, (*verb, name))


def complete(program, script, *words):
    """What bash offers in the place of the last word."""
    line = " ".join(f"'{w}'" for w in (program, *words))
    return run("bash", "-c", f"complete() {{ :; }}; source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
                             "COMPREPLY=(); _teewire; printf '%s\\n' \"${COMPREPLY[@]}\"").split()


def main(program, replay):
    replay = pathlib.Path(replay)
    page = replay / "man/teewire.1"
    script = replay / "completion/teewire.bash"
    source = page.read_text().replace("\\-", "-")
    described = list(verbs_below(program))
    assert len(described) >= 14, described
    wrong = []
    for verb, options in described:
        if verb and not re.search(rf"^\.It Cm {' '.join(verb)}$", source, re.M) and verb != ("map",):
            wrong.append(f"man page: {' '.join(verb)}")
        synopsis = re.search(rf"^\.Nm\n\.Cm {' '.join(verb)}\n((?:\.[A-Z].*\n)*?)(?=\.Nm|\.Sh)", source, re.M)
        for option in options:
            named = f"Fl {option[1:]}" in (synopsis[1] if synopsis else source)
            if not named and option not in ("--help", "--version", "--output", "--out"):
                wrong.append(f"man page, synopsis: {' '.join(verb)} {option}")
        offered = complete(program, script, *verb, "--")
        wrong += [f"completion: {' '.join(verb)} {option}" for option in options if option not in offered]
        if verb:
            offered = complete(program, script, *verb[:-1], verb[-1][:2])
            wrong += [] if verb[-1] in offered else [f"completion: {' '.join(verb)}"]
    assert complete(program, script, "dump", "--format", "c") == ["csv", "checksum"]
    assert complete(program, script, "map", "convert", "--to", "") == ["0.6", "0.7"]
    assert complete(program, script, "info", f"{replay}/m") == [f"{replay}/man", f"{replay}/meson.build"]
    if shutil.which("groff"):
        complaints = subprocess.run(["groff", "-mdoc", "-ww", "-z", page], capture_output=True, text=True).stderr
        wrong += complaints.splitlines()
    print("\n".join(wrong) if wrong else f"{len(described)} verbs and their options")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
