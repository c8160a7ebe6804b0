#!/usr/bin/env python3
"""Every source is as clang-format 14 writes it. Usage: format.py CLANG_FORMAT ROOT

Other versions format some lines otherwise, so with these the test is skipped: exit code 77. `--fix` behind ROOT formats
what is not."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from citations import files_of

VERSION = "14"
SUFFIXES = {".c", ".cpp", ".h", ".hpp"}
# Tables that are better by hand; nothing else may turn formatting off.
BY_HAND = {f"lib/src/schema/objects{which}" for which in (".hpp", "_06.cpp", "_07.cpp", "_ddnet.cpp")}


def run(*arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, **more)


def check(program, paths):
    done = run(program, "--dry-run", "--Werror", "--style=file", *paths)
    assert done.returncode == 0 or done.stderr
    return re.findall(r"^.*: error: .*", done.stderr, re.M)


def main(program, root, fix):
    found = re.search(r"version (\d+)", run(program, "--version").stdout) if program else None
    if not found or found[1] != VERSION:
        print(f"SKIPPED: formatting is checked by clang-format {VERSION}, and here is {found[1] if found else 'none'}")
        return 77
    style = root / ".clang-format"
    assert run(program, f"--style=file:{style}", input="int  main( ){}\n").stdout == "int main() {}\n"

    paths = [p for p in files_of(root) if p.suffix in SUFFIXES]
    parts = [paths[i:i + 16] for i in range(0, len(paths), 16)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if fix:
            list(pool.map(lambda p: run(program, "-i", *p), parts))
        wrong = [line for lines in pool.map(lambda p: check(program, p), parts) for line in lines]
    names = {p.relative_to(root).as_posix(): p for p in paths}
    wrong += [f"{name}: turns clang-format off" for name, path in names.items()
              if "clang-format off" in path.read_text() and name not in BY_HAND]
    print("\n".join(wrong) or f"{len(paths)} files are formatted")
    return bool(wrong) or len(paths) < 300


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:] == ["--fix"]))
