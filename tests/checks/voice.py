#!/usr/bin/env python3
"""Counts phrases that read like a translation, in documents, comments and messages, and fails above the allowance.

Usage: voice.py ROOT [--list]"""
import pathlib
import re
import sys

from citations import files_of

# What to write instead, the pattern, and how many sentences may have it.
PHRASES = [
    ("a noun", r"^(?:What|Who|Whoever|Those who|Those that|That, if) [a-z]", 0),
    ("print, show, say, state", r"\b(?:tells?|told)\b", 0),
    ("after, past, beyond", r"\bbehind\b", 0),
    ("is not a", r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)[a-z]", 0),
    ("only", r"(?<!\bleft )(?<!\blet )\balone\b", 0),
    ("another order", r"^Of [a-z]", 0),
    ("again, re-encoded", r"\banew\b", 0),
    ("unchanged, verbatim", r"\bas (?:it is|they are)(?=[.,;:)]|$| (?:and|but|or|in)\b)", 0),
    ("the actor's name", r"\b(?:nobody|somebody|everybody)\b", 0),
    ("untrusted, remote", r"\bstrangers?\b", 0),
    ("quirk", r"\b(?:oddity|oddities)\b", 0),
    ("same", r"\bthe very (?!beginning|start|end|first|last)", 0),
    ("existing", r"\b(?:there that are|those (?:that )?there are|that there (?:is|are)(?=[.,;]|$))\b", 0),
]
SLASHES = {".cpp", ".hpp", ".h", ".c", ".js", ".mjs", ".css", ".in"}
HASHES = {".py", ".sh", ".build"}
PROSE = {".md", ".1"}


class Block:
    """Lines of prose that belong together."""

    def __init__(self, first, kind):
        self.first, self.kind, self.lines = first, kind, []

    @property
    def text(self):
        return " ".join(" ".join(self.lines).split())

    def sentences(self):
        words = re.sub(r"`[^`]*`|\"[^\"]*\"", "``", self.text)  # but not code and quotations
        return re.split(r"(?<=[.!?:])\s+(?=[A-Z`(])", words)


def comments(lines, mark):
    """Whole lines, together with those that follow them, and ends of lines."""
    block = None
    for number, line in enumerate(lines, 1):
        whole = re.match(rf"^(\s*)({mark})\s(.*)$", line)
        if whole:
            key = whole[1], whole[2]
            if block is None or block.kind != key:
                if block:
                    yield block
                block = Block(number, key)
            block.lines.append(whole[3])
            continue
        if block:
            yield block
            block = None
        end = re.match(rf"^(.*\S\s+)({mark})\s(.*)$", line)
        if end and end[1].count('"') % 2 == 0:
            one = Block(number, (None, end[2]))
            one.lines.append(end[3])
            yield one
    if block:
        yield block


def paragraphs(lines):
    block, fenced = None, False
    for number, line in enumerate(lines, 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        text = not fence and not fenced and line.strip() and not line.startswith((".", "#", "    "))
        starts = line.lstrip().startswith(("|", "- ", "1. ", "2. ", "3. ", "4. ", "5. "))
        if block and (not text or starts):
            yield block
            block = None
        if text:
            block = block or Block(number, ("prose", ""))
            block.lines.append(line)
    if block:
        yield block


def docstrings(lines):
    for number, line in enumerate(lines, 1):
        found = re.match(r'^\s*"""(.+?)"""$', line)
        if found:
            block = Block(number, ("docstring", ""))
            block.lines.append(found[1])
            yield block


def blocks(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix in PROSE:
        yield from paragraphs(lines)
    elif path.suffix in SLASHES:
        yield from comments(lines, r"///<|///|//")
    elif path.suffix in HASHES:
        yield from comments(lines, "#")
        if path.suffix == ".py":
            yield from docstrings(lines)


def found_in(block):
    """Numbers of the phrases, one for each sentence that has it."""
    return [n for sentence in block.sentences() for n, (_, pattern, _) in enumerate(PHRASES)
            if re.search(pattern, sentence, 0 if pattern.startswith("^") else re.I)]


def read_all(root):
    for path in files_of(pathlib.Path(root)):
        if path.suffix in PROSE | SLASHES | HASHES and path.name != "voice.py":
            for block in blocks(path):
                yield path.relative_to(root), block


def main(root, *options):
    counts = [0] * len(PHRASES)
    for name, block in read_all(root):
        for n in found_in(block):
            counts[n] += 1
            if "--list" in options:
                print(f"{name}:{block.first}: {PHRASES[n][1]}: {block.text}")
    for count, (instead, pattern, allowed) in zip(counts, PHRASES):
        print(f"{count:5} of {allowed:3} allowed: {pattern}  (write: {instead})")
    return any(count > allowed for count, (_, _, allowed) in zip(counts, PHRASES))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
