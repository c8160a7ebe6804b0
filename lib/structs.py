#!/usr/bin/env python3
"""Writes the structs and constants of the C headers for other languages.

Usage: structs.py python|javascript|asserts OUTPUT HEADER...
python: a module of ctypes. javascript: where members are in WebAssembly. asserts: C++ that compiles if they are there."""
import pathlib
import re
import sys

# C type: its bytes in WebAssembly, its name in ctypes
TYPES = {"int32_t": (4, "c_int32"), "uint32_t": (4, "c_uint32"), "uint64_t": (8, "c_uint64"), "uint8_t": (1, "c_uint8"),
         "char": (1, "c_uint8"), "size_t": (4, "c_size_t"), "uintptr_t": (4, "c_size_t"), "*": (4, "c_void_p")}


def read_structs(text):
    """{name: [(member, type, count)]}, without the prefix; a type is a key of TYPES or the name of a struct before."""
    structs = {}
    for name, body in re.findall(r"^typedef struct teewire_(\w+) \{\n(.*?)^\} teewire_\1;", text, re.M | re.S):
        members = []
        for declaration in re.sub(r"//.*", "", body).split(";")[:-1]:
            words = re.fullmatch(r"\s*([\w\s]+?)\s*(\*?)\s*(\w+)(?:\[(\d+)\])?\s*", declaration)
            if words is None:
                raise SystemExit(f"teewire_{name}: cannot read {declaration.strip()!r}")
            kind = "*" if words[2] else words[1].removeprefix("teewire_")
            if kind not in TYPES and kind not in structs:
                raise SystemExit(f"teewire_{name}: there is no type {words[1]}")
            members.append((words[3], kind, int(words[4] or 1)))
        structs[name] = members
    return structs


def read_constants(text):
    """Enumerators, and macros that are plain numbers, without the prefix."""
    found = [pair for body in re.findall(r"^(?:typedef )?enum\b[^{;]*\{(.*?)\}", text, re.M | re.S)
             for pair in re.findall(r"\bTEEWIRE_(\w+) = (-?\d+)", body)]
    found += re.findall(r"^#define TEEWIRE_(\w+) (\d+|0x[0-9a-fA-F]+)u?(?: *//.*)?$", text, re.M)
    return {name: int(value, 0) for name, value in found}


def lay_out(structs):
    """{name: {member: offset, ..., "size_of": bytes}} in WebAssembly."""
    sizes = {name: (size, size) for name, (size, _) in TYPES.items()}
    layouts = {}
    for name, members in structs.items():
        at, alignment, layout = 0, 1, {}
        for member, kind, count in members:
            size, align = sizes[kind]
            at = -(-at // align) * align
            layout[member] = at
            at += size * count
            alignment = max(alignment, align)
        at = -(-at // alignment) * alignment
        sizes[name] = at, alignment
        layouts[name] = {"size_of": at, **layout}
    return layouts


def python(structs, constants):
    camel = {name: "".join(word.capitalize() for word in name.split("_")) for name in structs}
    yield '"""The structs and constants of the C headers, which say what they mean."""'
    yield "import ctypes"
    yield ""
    yield from (f"{name} = {value}" for name, value in constants.items())
    for name, members in structs.items():
        fields = ", ".join('("{}", {})'.format(member, (f"ctypes.{TYPES[kind][1]}" if kind in TYPES else camel[kind]) +
                                               (f" * {count}" if count > 1 else "")) for member, kind, count in members)
        yield ""
        yield ""
        yield f"class {camel[name]}(ctypes.Structure):"
        yield f"    _fields_ = [{fields}]"
        if members[0][0] == "size":
            yield ""
            yield "    def __init__(self, **members: object) -> None:"
            yield "        super().__init__(size=ctypes.sizeof(self), **members)"


def javascript(structs, constants):
    yield "// The structs and constants of the C headers: offsets of members, and the size of each struct, in bytes."
    yield from (f"export const {name} = {value};" for name, value in constants.items())
    for name, layout in lay_out(structs).items():
        yield f"export const {name} = {{ {', '.join(f'{member}: {at}' for member, at in layout.items())} }};"


def asserts(structs, _):
    yield "#include <teewire_archive.h>"
    yield "#include <teewire_table.h>"
    for name, layout in lay_out(structs).items():
        for member, at in layout.items():
            found = f"sizeof(teewire_{name})" if member == "size_of" else f"offsetof(teewire_{name}, {member})"
            yield f"static_assert({found} == {at});"


def main(language, output, *headers):
    text = "\n".join(pathlib.Path(header).read_text() for header in headers)
    lines = {"python": python, "javascript": javascript, "asserts": asserts}[language](read_structs(text), read_constants(text))
    pathlib.Path(output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
