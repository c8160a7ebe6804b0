#!/usr/bin/env python3
"""Adds to the man page what each command says with --help.

Usage: add_commands.py PAGE OUTPUT TEEWIRE"""
import os
import pathlib
import re
import subprocess
import sys

HELP_COLUMN = 26  # where descriptions of options begin
MARK = '.\\" COMMANDS\n'


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True,
                          env=os.environ | {"COLUMNS": "100"}).stdout


def commands_of(text):
    """The names in the lists of commands."""
    names, listing = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            listing = line.endswith(":") and line not in ("Usage:", "Arguments:", "Options:", "Examples:")
        elif listing and line[2:3] not in (" ", "-"):
            names.append(line.split()[0])
    return names


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def paragraphs(lines):
    """Lines that belong together, and whether each is an item of a list: (name, text)."""
    text, items = [], []
    for line in lines:
        item = re.match(r" {2,6}(-\S.*?|\S.*?)(?: {2,}(.*))?$", line)
        if line.startswith(" ") and item and len(line) - len(line.lstrip()) < HELP_COLUMN - 2:
            items.append([item[1], item[2] or ""])
        elif line.startswith(" " * HELP_COLUMN) and items:
            items[-1][1] += " " + line.strip()
        elif line:
            text.append(line)
    return text, items


def section(program, *command):
    """.Ss, the description, and the parts of the help: options and arguments as items of lists, examples verbatim."""
    first, *parts = help_of(program, *command).rstrip().split("\n\n")
    yield f".Ss teewire {roff(' '.join(command))}"
    yield roff(" ".join(first.split())) + "."
    for part in parts:
        head, *lines = part.splitlines()
        if head.startswith("Usage: "):
            yield ".Pp"
            yield from (".Dl " + roff(line.removeprefix("Usage: ").strip()) for line in [head, *lines])
            continue
        if head == "Examples:":
            yield ".Pp"
            yield from (".Dl " + roff(line.strip()) for line in lines)
            continue
        if not head.endswith(":") or not lines or not lines[0].startswith("  "):
            yield ".Pp"
            yield roff(" ".join(part.split()))
            continue
        text, items = paragraphs(lines)
        assert not text, (command, text)
        yield ".Pp"
        if head not in ("Options:", "Arguments:"):
            yield roff(head)
        yield ".Bl -tag -width Ds"
        for name, description in items:
            yield f".It {roff(name)}"
            yield roff(description.strip())
        yield ".El"
    if any(part.startswith("Commands:") for part in parts):
        for name in commands_of("\n\n".join(parts)):
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
