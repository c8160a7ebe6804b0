#!/usr/bin/env python3
"""No two types of the library and the program have one name: neither compiler nor linker would say so when two files
define it differently. Files for different systems are never in the same program. Usage: one_definition.py ROOT"""
import collections
import pathlib
import re
import sys
import tempfile

FOLDERS = "lib/include", "lib/src", "replay/src"
ALTERNATIVES = "windows", "browser"  # folders of files that are compiled instead of those for other systems
# Comments, texts, characters and directives hold braces that are none.
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
                     re.M | re.S)
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^{}]*?\)\s*)?([\w:]+(?:<[^{};]*>)?)"
                  r"(?:\s+final)?\s*(?::[^{}]*)?$")


def types(text):
    """Full names of the types that are defined where other files can see them."""
    text = IGNORED.sub(" ", text)
    around, begin = [], 0  # the braces that are open: a name, or None where names are of one file or function
    for brace in re.finditer(r"[{};]", text):
        before, begin = text[begin:brace.start()], brace.end()
        if brace[0] == "}":
            around.pop()
        if brace[0] != "{":
            continue
        namespace, kind = NAMESPACE.search(before), TYPE.search(before)
        name = namespace[1] or None if namespace else kind[1] if kind and "(" not in before[:kind.start()] else None
        around.append(name)
        if kind and not namespace and None not in around:
            yield "::".join(around)


def defined_twice(root):
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".hpp", ".cpp") and path.parent.name not in ALTERNATIVES]
    places = collections.defaultdict(set)
    for path in files:
        for name in types(path.read_text()):
            places[name].add(path.relative_to(root).as_posix())
    return places, [f"{name} is defined in {' and '.join(sorted(where))}" for name, where in places.items() if len(where) > 1]


def check_itself():
    """It notices all of these faults, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {
                "lib/src/a.cpp": "namespace a {\nstruct twice {\n    enum class inner : int { x };\n};\nclass outer::state final {};\n}",
                "replay/src/b.hpp": "namespace a {\n// struct {\nclass twice final : public c {\n};\ntemplate <> struct d<int> {};\n"
                                    "struct twice* f(struct twice& t) { struct local {}; return \"{\"; }\nstruct only_named;\n}",
                "replay/src/c.cpp": "namespace a {\nnamespace {\nstruct twice {};\n}\nclass outer::state final {};\n"
                                    "template <> struct d<long> {};\nvoid f() { struct local {}; }\nnamespace e { struct twice {}; }\n}"
        }.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        noticed = defined_twice(pathlib.Path(folder))[1]
        assert noticed == ["a::twice is defined in lib/src/a.cpp and replay/src/b.hpp",
                           "a::outer::state is defined in lib/src/a.cpp and replay/src/c.cpp"], noticed


def main(root):
    check_itself()
    places, wrong = defined_twice(root)
    print("\n".join(wrong) if wrong else f"{len(places)} types have a name each")
    return bool(wrong) or len(places) < 300


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
