#!/usr/bin/env python3
"""The program's sources that use the operating system compile for Windows, and so do the library's headers where windows.h is
included before them, whose macros take words such as `near`. An error shows here in seconds, and in the windows kind of
tests/run after minutes.

Usage: windows_sources.py SOURCE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
COMPILER = "x86_64-w64-mingw32-g++-posix"
LIBRARIES = ["boost", "fmt"]  # headers only, the same for every system
SYSTEM = re.compile(r"^#include <(?:unistd|fcntl|signal|csignal|poll|termios|sys/\w+|netinet/\w+|arpa/\w+)(?:\.h)?>", re.M)


def uses_system(path):
    return "windows" in path.parts or SYSTEM.search(path.read_text())


def main(source):
    if shutil.which(COMPILER) is None:
        print(f"SKIPPED: there is no {COMPILER}")
        return SKIPPED
    folder = source / "replay/src"
    sources = sorted(p for p in folder.rglob("*.cpp") if "posix" not in p.parts and uses_system(p))
    with tempfile.TemporaryDirectory(prefix="teewire-windows-") as include:
        for name in LIBRARIES:
            (pathlib.Path(include) / name).symlink_to(pathlib.Path("/usr/include") / name)

        headers = sorted((source / "lib/include").glob("teewire/**/*.hpp"))
        after_windows = pathlib.Path(include) / "after_windows.cpp"
        after_windows.write_text("#define NOMINMAX\n#include <windows.h>\n" + "".join(f'#include "{h}"\n' for h in headers))
        sources.append(after_windows)

        def compile_one(path):
            return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-DFMT_HEADER_ONLY",
                                   "-D_WIN32_WINNT=0x0A00", f"-I{folder}", f"-I{source}/lib/include",
                                   "-isystem", include, path], stderr=subprocess.PIPE, text=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [done.stderr for done in pool.map(compile_one, sources) if done.returncode]
    print("\n".join(wrong) if wrong else f"{len(sources)} sources")
    return bool(wrong) or len(sources) < 10


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
