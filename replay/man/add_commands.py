#!/usr/bin/env python3
"""Adds to the man page what each command says with --help.

Usage: add_commands.py PAGE OUTPUT TEEWIRE"""
import os
import pathlib
import subprocess
import sys

MARK = '.\\" COMMANDS\n'


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True,
                          env=os.environ | {"COLUMNS": "78"}).stdout


def commands_of(text):
    """The names in the lists of commands."""
    names, listing = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            listing = line.endswith(":") and line not in ("Usage:", "Arguments:", "Options:", "Examples:")
        elif listing and line[2:3] not in (" ", "-"):
            names.append(line.split()[0])
    return names


def literal(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line.startswith((".", "'")) else line


def section(program, *command):
    text = help_of(program, *command)
    yield f".Ss teewire {' '.join(command)}"
    yield ".Bd -literal"
    yield from map(literal, text.rstrip().splitlines())
    yield ".Ed"
    if "\nCommands:\n" in text:
        for name in commands_of(text):
            yield from section(program, *command, name)


def main(page, output, program):
    before, mark, after = pathlib.Path(page).read_text().partition(MARK)
    assert mark, f"{page}: where do commands go?"
    lines = [".Sh COMMANDS"]
    for name in commands_of(help_of(program)):
        lines += section(program, name)
    pathlib.Path(output).write_text(before + "\n".join(lines) + "\n" + after)


if __name__ == "__main__":
    main(*sys.argv[1:])
