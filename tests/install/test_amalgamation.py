#!/usr/bin/env python3
"""The two files of lib/amalgamate.py: every compiler that is here takes them without a warning, and the C ABI's tests pass on
them, as does the whole server of server64.c.

Usage: test_amalgamation.py SOURCE"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-c"]
# What DDNet compiles with, too.
GCC_FLAGS = ["-Wclass-memaccess", "-Wduplicated-branches", "-Wduplicated-cond", "-Wlogical-op", "-Wrestrict", "-Wshadow=global",
             "-Wsuggest-override"]
# Without libstdc++ of its own, a compiler for another machine is of no use.
COMPILERS = {
    "GCC": ["g++"], "GCC 11": ["g++-11"], "GCC 12": ["g++-12"], "GCC 14": ["g++-14"],
    "Clang": ["clang++"], "Clang 14": ["clang++-14"], "Clang 19": ["clang++-19"],
    "Clang with libc++": ["clang++", "-stdlib=libc++"],
    "mingw-w64": ["x86_64-w64-mingw32-g++-posix"],
    "WebAssembly": ["clang++", "--target=wasm32-wasi"],
    "AArch64": ["aarch64-linux-gnu-g++"], "s390x": ["s390x-linux-gnu-g++"], "i386": ["i686-linux-gnu-g++"],
}
TESTS = ("codec", "delta", "snapshot")
MAIN = """#include "check.h"
{declarations}
int main(void) {{
    cap_cpu_from_environment();
    {calls}
    give_back();
    printf("%d checks, %d failed\\n", checks, failed_checks);
    return failed_checks != 0 || checks < 1000;
}}
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(word) for word in command)} ended with code {done.returncode}\n{done.stdout[:4000]}")
    return done.stdout


def can_compile(command, folder):
    """Whether the compiler is here, with a standard library of C++20."""
    if shutil.which(command[0]) is None:
        return False
    probe = folder / "probe.cpp"
    probe.write_text("#include <span>\nint n = static_cast<int>(std::span<int>{}.size());\n")
    return subprocess.run([*command, "-std=c++20", "-fno-exceptions", "-c", probe, "-o", folder / "probe.o"],
                          stderr=subprocess.DEVNULL).returncode == 0


def main(source):
    tests = source / "tests/c_abi"
    with tempfile.TemporaryDirectory(prefix="teewire-amalgamation-") as name:
        folder = pathlib.Path(name)
        print(run(sys.executable, source / "lib/amalgamate.py", folder).replace(name + "/", ""), end="")
        for compiler, command in COMPILERS.items():
            if not can_compile(command, folder):
                print(f"SKIPPED: {compiler}")
                continue
            more = GCC_FLAGS if "g++" in command[0] and "clang" not in command[0] else []
            run(*command, *FLAGS, *more, "teewire.cpp", "-o", f"{compiler}.o", cwd=folder)
            print(f"{compiler}: compiled without a warning")

        # An older standard is named, and nothing else.
        older = subprocess.run(["g++", "-std=c++17", "-c", "teewire.cpp"], cwd=folder, text=True, capture_output=True)
        if older.returncode == 0 or older.stderr.count("error:") != 1 or "needs C++20" not in older.stderr:
            sys.exit(f"with -std=c++17: {older.stderr[:1000]}")
        run("g++", *FLAGS, "-O2", "teewire.cpp", "-o", "teewire.o", cwd=folder)
        (folder / "main.c").write_text(MAIN.format(
            declarations="\n".join(f"void test_{name}(void);" for name in TESTS),
            calls="\n    ".join(f"test_{name}();" for name in TESTS)))
        # The tests include all headers of the library; teewire.h is that of the amalgamation.
        c = ["gcc", "-std=c99", "-include", folder / "teewire.h", "-I", source / "lib/include", "-I", tests]
        parts = [tests / f"test_{name}.c" for name in TESTS]
        run(*c, folder / "main.c", tests / "check.c", *parts, folder / "teewire.o", "-o", folder / "c-abi")
        print(run(folder / "c-abi"), end="")
        # It needs no C++ library.
        run("g++", "-std=c++20", "-c", "-I", tests, "-iquote", source / "bench", tests / "workloads.cpp", "-o",
            folder / "workloads.o")
        run("g++", "-std=c++20", "-c", source / "bench/workloads.cpp", "-o", folder / "bench.o")
        run(*c, "-c", tests / "server64.c", "-o", folder / "server64.o")
        run(*c, "-c", tests / "check.c", "-o", folder / "check.o")
        run("g++", *(folder / f"{part}.o" for part in ("server64", "check", "workloads", "bench", "teewire")), "-o",
            folder / "server64")
        run(folder / "server64", source / "fixtures/vectors/workloads.txt")
        print("server64 passed")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
