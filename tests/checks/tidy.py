#!/usr/bin/env python3
"""clang-tidy 14 has nothing to say about lib/src and replay/src with the checks of .clang-tidy.
Usage: tidy.py CLANG_TIDY BUILD ROOT [FILE...]

BUILD has compile_commands.json. Other versions know other checks, so with these the test is skipped: exit code 77."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VERSION = "14"
# What has to be noticed, so that a test which says nothing has looked.
FAULT = """#include <utility>
#include <vector>
unsigned long moved(std::vector<int> a) {
    std::vector<int> const b = std::move(a);
    return a.size() + b.size();
}
"""


def commands(build, root):
    """One for each source file: some are compiled several times."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if any(path.is_relative_to(root / part) for part in ("lib/src", "replay/src")):
            # Asserted preconditions are what the paths through a function begin with.
            found.setdefault(path, entry | {"file": str(path), "command": entry["command"] + " -UNDEBUG"})
    return found


def main(program, build, root, chosen):
    version = program and re.search(r"version (\d+)", subprocess.run([program, "--version"], capture_output=True,
                                                                     text=True).stdout)
    if not version or version[1] != VERSION:
        print(f"SKIPPED: clang-tidy {VERSION} is needed, and here is {version[1] if version else 'none'}")
        return 77
    found = commands(build, root)
    if len(found) < 100:
        print(f"only {len(found)} files are compiled in {build}")
        return 1
    paths = [p for p in found if not chosen or p in chosen]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fault = folder / "fault.cpp"
        fault.write_text(FAULT)
        shutil.copy(root / ".clang-tidy", folder)
        entries = [found[p] for p in paths]
        entries.append({"directory": str(folder), "file": str(fault), "command": f"c++ -std=c++20 -c {fault}"})
        (folder / "compile_commands.json").write_text(json.dumps(entries))

        def run(path):
            done = subprocess.run([program, "--quiet", "-p", folder, path], capture_output=True, text=True)
            return done.returncode, done.stdout

        assert "bugprone-use-after-move" in run(fault)[1], run(fault)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(run, paths))
    wrong = [text for code, text in results if code != 0 or "warning:" in text]
    # What a header says wrong, every file that includes it says too.
    print("\n".join(dict.fromkeys(wrong)) or f"{len(paths)} files: nothing to say")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve(),
                  [pathlib.Path(p).resolve() for p in sys.argv[4:]]))
