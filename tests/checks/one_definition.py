#!/usr/bin/env python3
"""Each class of a namespace is defined in one file. Two different ones of one name would be merged by the linker, which
keeps one destructor for both, and says nothing.
Usage: one_definition.py ROOT"""
import collections
import pathlib
import re
import sys

FOLDERS = ("lib/include", "lib/src", "replay/src")
OPENS = re.compile(r"(?:inline )?namespace ([\w:]*) ?\{(.*)")
CLOSES = re.compile(r"\} // namespace")
DEFINES = re.compile(r"(?:template <[^;]*> *)?(?:class|struct|union|enum class|enum) (?:alignas\([^)]*\) )?(\w+(?:::\w+)*)\b[^;()]*\{")


def definitions(text):
    """The classes defined in namespaces that have names, with these."""
    around = []
    for line in text.splitlines():  # as clang-format indents them
        if opens := OPENS.match(line):
            if "}" not in opens[2]:
                around.append(opens[1])
        elif CLOSES.match(line):
            around.pop()
        elif (defines := DEFINES.match(line)) and all(around):
            yield "::".join([*around, defines[1]])


def check_itself():
    found = definitions("namespace a::b {\nclass x final : y {\n    struct z {\n};\nnamespace {\nstruct hidden {\n};\n} // namespace\n"
                        "namespace c {\nenum class e : int { f };\n} // namespace c\nclass later;\nstruct g {};\n} // namespace a::b\n")
    assert list(found) == ["a::b::x", "a::b::c::e", "a::b::g"]


def main(root):
    check_itself()
    files = collections.defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for name in definitions(path.read_text()):
                files[name].append(str(path.relative_to(root)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    for name, where in twice.items():
        print(f"{name} is defined in {' and '.join(where)}")
    print(f"{len(files)} classes, {len(twice)} of them defined twice")
    return bool(twice) or len(files) < 300


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
