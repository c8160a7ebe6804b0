#!/usr/bin/env python3
"""clang-tidy 14 has nothing to say about lib/src and replay/src with the checks of .clang-tidy.
Usage: tidy.py CLANG_TIDY BUILD ROOT [FILE...]

BUILD has compile_commands.json. With TEEWIRE_SHARE=N, it reads what the last commits changed and one in 4 N of the other files;
which one, changes with each commit. Other versions know other checks, so with these the test is skipped: exit code 77."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

VERSION = "14"
AT_ONCE = 6  # files
RECENT = 10  # commits
# A fault that must be noticed, so that an empty result shows that it has looked.
FAULT = """#include <utility>
#include <vector>
unsigned long moved(std::vector<int> a) {
    std::vector<int> const b = std::move(a);
    return a.size() + b.size();
}
"""


def commands(build, root):
    """One for each source file: some are compiled several times, and some as a part of others."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        compiled = pathlib.Path(entry["directory"], entry["file"]).resolve()
        parts = re.findall("#include<(.*)>", compiled.read_text()) if "-unity" in compiled.name else [compiled]
        for path in (pathlib.Path(part).resolve() for part in parts):
            if any(path.is_relative_to(root / folder) for folder in ("lib/src", "replay/src")):
                # Asserted preconditions are what the paths through a function begin with.
                found.setdefault(path, entry | {"command": entry["command"] + " -UNDEBUG"})
    return found


def arguments(entry):
    """The command that compiles a file, without its names."""
    words = shlex.split(entry["command"])
    words = words[next(n for n, word in enumerate(words) if word.startswith("-")):]
    kept = []
    while words:
        word = words.pop(0)
        if word in ("-o", "-MF", "-MQ", "-MT"):
            words.pop(0)
        elif word not in ("-c", "-MD", "-MMD") and not word.endswith(entry["file"].rsplit("/", 1)[-1]):
            kept.append(word)
    return kept


def groups(found, paths):
    """Files that are compiled alike, a few of one folder at a time: what they all include is then read once."""
    alike = collections.defaultdict(list)
    for path in sorted(paths):
        alike[path.parent, found[path]["directory"], *arguments(found[path])].append(path)
    return [files[n:n + AT_ONCE] for files in alike.values() for n in range(0, len(files), AT_ONCE)]


def share(root, found):
    """The files that are read this time."""
    def git(*command):
        return subprocess.run(["git", "-C", root, *command], check=True, capture_output=True, text=True).stdout.split()

    one_in = int(os.environ.get("TEEWIRE_SHARE") or 1)
    one_in *= 4 if one_in > 1 else 1
    try:
        turn = int(git("rev-list", "--count", "HEAD")[0])
        changed = {root / name for name in git("diff", "--name-only", f"HEAD~{min(RECENT, turn - 1)}")}
    except (OSError, subprocess.CalledProcessError):  # no repository, or not all of it
        return list(found)
    return [path for path in found if path in changed or (zlib.crc32(path.name.encode()) + turn) % one_in == 0]


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
    paths = [p for p in found if p in chosen] if chosen else share(root, found)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fault = folder / "lib/src/fault.cpp"  # where HeaderFilterRegex looks
        fault.parent.mkdir(parents=True)
        fault.write_text(FAULT)
        shutil.copy(root / ".clang-tidy", folder)
        found[fault] = {"directory": str(folder), "file": str(fault), "command": f"c++ -std=c++20 -c {fault}"}

        def run(group):
            """The result for files that are compiled alike, checked as one, or in parts where that does not compile."""
            one = folder / f"{hash(group[0])}_{len(group)}.cpp"
            one.write_text("".join(f'#include "{path}"\n' for path in group))
            entry = found[group[0]]
            done = subprocess.run([program, "--quiet", one, "--", *arguments(entry)], cwd=entry["directory"],
                                  capture_output=True, text=True)
            if len(group) > 1 and "clang-diagnostic-error" in done.stdout:
                return run(group[:len(group) // 2]) + run(group[len(group) // 2:])
            return [done.stdout] if done.returncode != 0 or "warning:" in done.stdout else []

        assert "bugprone-use-after-move" in "".join(run([fault])), run([fault])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [text for said in pool.map(run, groups(found, paths)) for text in said]
    # A fault in a header appears for every file that includes it.
    print("\n".join(dict.fromkeys(wrong)) or f"{len(paths)} files: nothing to say")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve(),
                  [pathlib.Path(p).resolve() for p in sys.argv[4:]]))
