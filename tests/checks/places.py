#!/usr/bin/env python3
"""The table of lib/doc/hacking.md that says where things are: each file defines what is named beside it.
Usage: places.py ROOT"""
import pathlib
import re
import sys

QUESTIONS = 10
ROW = re.compile(r"^\| [^|]+\? \| `([^`]+)` \| `([^`]+)` \|$", re.M)


def defines(text, name):
    """Whether a type, a constant or the body of a function of that name is there. A mere declaration or use is not."""
    name = re.escape(name)
    return bool(re.search(rf"^(?:export )?(?:class|struct|enum class) {name}\b[^;]*{{", text, re.M) or
                re.search(rf"^[^\s/#][^;{{]*\b{name} = ", text, re.M) or
                re.search(rf"^[^\s/#}}][^;{{}}=]*(?<![\w:]){name}\([^;{{}}]*\) ?[^;{{}}]*{{", text, re.M))


def main(root):
    sample = "int used() {\n    return wanted(1);\n}\nint wanted(int a);\n"
    assert not defines(sample, "wanted") and defines(sample, "used") and defines("int a::b(\n    int c) {", "a::b")
    assert not defines("int a::b() {", "b") and defines("class a {", "a") and not defines("class a;", "a")
    rows = ROW.findall((root / "lib/doc/hacking.md").read_text())
    wrong = [f"{file} does not define {name}" for file, name in rows
             if not (root / file).is_file() or not defines((root / file).read_text(), name)]
    if len(rows) < QUESTIONS:
        wrong.append(f"{len(rows)} questions, of {QUESTIONS}")
    print("\n".join(wrong) or f"{len(rows)} things are where they are said to be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
