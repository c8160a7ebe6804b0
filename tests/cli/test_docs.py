#!/usr/bin/env python3
"""The man page tells every verb and option that --help tells, and the shells complete them.

Usage: test_docs.py TEEWIRE REPLAY PAGE"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def verbs_below(program, verb=()):
    """Every verb with its long options."""
    text = run(program, *verb, "--help")
    yield verb, re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", text, re.M)
    if f"Usage: {' '.join(('teewire', *verb))} COMMAND" in text:
        for name in re.findall(r"^  ([a-z][a-z-]*) ", text.partition("\nOptions:")[0], re.M):
            yield from verbs_below(program, (*verb, name))


def bash(program, script, words):
    line = " ".join(f"'{w}'" for w in (program, *words))
    return run("bash", "-c", f"complete() {{ :; }}; source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
                             "COMPREPLY=(); _teewire; printf '%s\\n' \"${COMPREPLY[@]}\"").split()


def zsh(program, script, words):
    """Outside of the line editor, the functions that take what is offered are ours."""
    line = " ".join(f"'{w}'" for w in (program, *words))
    offered = run("zsh", "-fc", 'compadd() { shift; print -l -- "$@" }; _files() { print -l -- $words[CURRENT]*(N) }; '
                                f"words=({line}); CURRENT={len(words) + 1}; source {script}").split()
    return [offer for offer in offered if offer.startswith(words[-1])]


def fish(program, script, words):
    line = shlex.quote(" ".join(["teewire", *words]))
    with tempfile.TemporaryDirectory() as folder: # where it has that name, whatever runs it
        pathlib.Path(folder, "teewire").symlink_to(pathlib.Path(program).resolve())
        return run("fish", "--no-config", "-c",
                   f"set -p PATH {shlex.quote(folder)}; source {script}; complete -C {line}").split()


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def main(program, replay, page):
    replay = pathlib.Path(replay)
    source = pathlib.Path(page).read_text().replace("\\-", "-")
    described = list(verbs_below(program))
    assert len(described) >= 14, described
    wrong = []
    for verb, options in described:
        section = re.search(rf"^\.Ss teewire {' '.join(verb)}\n.*?(?=^\.S[sh] )", source, re.M | re.S)
        items = re.findall(r"^\.It .*", section[0], re.M) if section else []
        wrong += [f"man page: {' '.join(verb)} {option}" for option in options
                  if verb and not any(option in re.split(r"[ ,]+", item) for item in items)]
    for shell, complete_with in SHELLS.items():
        if shutil.which(shell) is None:
            print(f"SKIPPED: completion for {shell}, which is not installed")
            continue

        def complete(*words):
            return complete_with(program, replay / f"completion/teewire.{shell}", words)

        for verb, options in described:
            offered = complete(*verb, "--")
            wrong += [f"{shell}: {' '.join(verb)} {option}" for option in options if option not in offered]
            if verb and verb[-1] not in complete(*verb[:-1], verb[-1][:2]):
                wrong.append(f"{shell}: {' '.join(verb)}")
        assert sorted(complete("dump", "--format", "c")) == ["checksum", "csv"], shell
        assert sorted(complete("map", "convert", "--to", "")) == ["0.6", "0.7"], shell
        files = {offer.rstrip("/") for offer in complete("info", f"{replay}/m")}
        assert files == {f"{replay}/man", f"{replay}/meson.build"}, (shell, files)
    if shutil.which("groff"):
        complaints = subprocess.run(["groff", "-mdoc", "-ww", "-z", page], capture_output=True, text=True).stderr
        wrong += complaints.splitlines()
    print("\n".join(wrong) if wrong else f"{len(described)} verbs and their options")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
