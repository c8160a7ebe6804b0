#!/usr/bin/env python3
"""The commands in documents do what the documents say. Usage: commands.py TEEWIRE SOURCE DOCUMENT...

A block of ```console has commands after "$ ", each followed by what it prints; a line "..." stands for any lines, and one
that ends in " ..." for any end of the line. In a block of ```sh every command has to succeed. Neither is run if more than
the language is named ("```sh by hand"): what installs something, needs a network or takes minutes. Commands run in an
empty folder in which the source's files can be read and `replay/run` is TEEWIRE."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^ *```(.*)$")


def blocks(text):
    """(first line's number, words after the fence, lines)"""
    words, lines, begin = None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if not fence:
            lines.append(line)
        elif words is None:
            words, lines, begin = fence[1].split(), [], number + 1
        else:
            yield begin, words, lines
            words = None
    assert words is None, "a block has no end"


def commands(begin, language, lines):
    """(number of the line, command, expected lines or None)"""
    at = 0
    while at < len(lines):
        number, line = begin + at, lines[at]
        at += 1
        if language == "sh" and (not line.strip() or line.startswith("#")):
            continue
        if language == "console":
            assert line.startswith("$ "), f"line {number}: a command begins with $"
            line = line[2:]
        while line.endswith("\\"):
            line += "\n" + lines[at]
            at += 1
        expected = None
        if language == "console":
            end = next((k for k in range(at, len(lines)) if lines[k].startswith("$ ")), len(lines))
            expected, at = lines[at:end], end
        yield number, line, expected


def fits(expected, printed):
    """Whether the lines are those expected, with "..." in the place of others."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else
                      re.escape(line[:-4]) + r".*\n" if line.endswith(" ...") else re.escape(line) + r"\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def prepare(folder, teewire, source):
    for path in source.iterdir():
        if path.name not in ("replay", ".git") and not path.name.startswith("build"):
            (folder / path.name).symlink_to(path)
    (folder / "replay").mkdir()
    (folder / "replay/run").write_text(f'#!/bin/sh\nexec "{teewire}" "$@"\n')
    (folder / "replay/run").chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin/teewire").symlink_to(teewire)


def main(teewire, source, documents):
    ran = left = wrong = 0
    for document in documents:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            prepare(folder, teewire, source)
            environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
            for begin, words, lines in blocks(document.read_text()):
                language = words[0] if words else ""
                if language not in ("console", "sh"):
                    continue
                if len(words) > 1:
                    left += 1
                    continue
                for number, command, expected in commands(begin, language, lines):
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
                    ran += 1
                    good = fits(expected, done.stdout.splitlines()) if expected is not None else done.returncode == 0
                    if not good:
                        wrong += 1
                        print(f"{document.relative_to(source)}:{number}: $ {command}\n{done.stdout}"
                              f"(exit code {done.returncode}; the document says otherwise)\n")
    print(f"{ran} commands of {len(documents)} documents, {wrong} wrong; {left} blocks to be run by hand")
    return bool(wrong) or ran == 0


if __name__ == "__main__":
    if not shutil.which("jq"):
        print("SKIPPED: jq is not installed")
        sys.exit(77)
    root = pathlib.Path(sys.argv[2]).resolve()
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), root, [root / name for name in sys.argv[3:]]))
