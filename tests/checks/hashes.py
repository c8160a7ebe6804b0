#!/usr/bin/env python3
"""The program's tables of untrusted input hash it with a key of their own. Usage: hashes.py ROOT"""
import pathlib
import re
import sys

# Senders of datagrams and authors of files choose the keys of these.
TABLES = {"base/rate_limit", "serve/watcher_table", "recording/capture/connections", "map/document", "edit/message_union"}
HOME = "base/keyed_hash.hpp"
UNKEYED = re.compile(r"\bstd::hash\b|\bboost::hash|\bhash_combine\b|\bfnv", re.I)
UNORDERED = re.compile(r"\bunordered_(?:flat_|node_)?(?:multi)?(?:map|set)\s*<")


def arguments(text, begin):
    """Those of the template whose `<` is before `begin`."""
    depth, found, last = 1, [], begin
    for i in range(begin, len(text)):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(text[i], 0)
        if depth == 0 or (depth == 1 and text[i] == ","):
            found.append(text[last:i].strip())
            last = i + 1
        if depth == 0:
            return found
    return found


def wrong_in(text):
    """Hashes without a key of their own there."""
    text = re.sub(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", text)
    wrong = [m[0] for m in UNKEYED.finditer(text)]
    for m in UNORDERED.finditer(text):
        named = arguments(text, m.end())
        if named[0] in ("std::uint8_t", "std::uint16_t"):
            continue  # so few that it makes no difference
        own = [h for h in named if re.fullmatch(r"\w*_hash", h)]
        body = own and re.search(rf"struct {own[0]}\b[^{{;]*\{{(.*?)\}};", text, re.S)
        if own != ["keyed_hash"] and not (body and re.search(r"\bkeyed_hash \w+;", body[1])):
            wrong.append(m[0] + ", ".join(named) + ">")
    # A key given from outside may be known to an attacker.
    wrong += [m[0] for m in re.finditer(r"\bkeyed_hash(?: \w+)?[({][^)}]+[)}]", text)]
    return wrong


def check_itself():
    assert wrong_in("std::unordered_map<int, int> a;") and wrong_in("std::unordered_set<f<int, int>> a;")
    assert wrong_in("keyed_hash hash_{key};") and wrong_in("std::hash<int>{}(x)") and wrong_in("struct a_hash { int a; };"
                                                                                         "unordered_map<int, int, a_hash> b;")
    assert not wrong_in("keyed_hash hash_; std::unordered_map<int, f<int>, keyed_hash> a;")
    assert not wrong_in("struct a_hash { keyed_hash hash; };\nstd::unordered_map<int, int, a_hash> b;")


def main(root):
    check_itself()
    source = root / "replay/src"
    files = {str(p.relative_to(source)): p.read_text() for p in source.rglob("*.[ch]pp")}
    wrong = [f"{name}: {what}" for name, text in files.items() if name != HOME for what in wrong_in(text)]
    using = {name[:-4] for name, text in files.items() if name != HOME and "keyed_hash" in re.sub(r"#include[^\n]*", "", text)}
    wrong += [f"{name}: hashes with no key" for name in TABLES - using]
    wrong += [f"{name}: is not in TABLES" for name in using - TABLES]
    print("\n".join(wrong) or f"{len(files)} files, {len(using)} with keyed tables")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
