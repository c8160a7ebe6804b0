#!/usr/bin/env python3
"""Which lines of lib the fuzz targets reach with their seeds, stored findings and corpus: a table per file.

Builds a second time, in BUILD-coverage, with clang's coverage."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from long import MAX_LEN, fixtures, further_files

root = fixtures.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder with -Dfuzz=true, whose corpus is taken")
    parser.add_argument("--missing", metavar="FILE", help="print that file of lib with counts instead of the table")
    options = parser.parse_args()
    build = options.build.resolve()
    measured = build.with_name(build.name + "-coverage")
    if not (measured / "build.ninja").exists():
        flags = "-fprofile-instr-generate -fcoverage-mapping"
        subprocess.run(["meson", "setup", "-Dfuzz=true", "-Dtests=false", "-Dbench=false", "-Dreplay=false",
                        "-Ddefault_library=static", "-Doptimization=1", "-Db_ndebug=true", "-Db_lundef=false",
                        f"-Dcpp_args=-fsanitize=fuzzer-no-link {flags}", f"-Dcpp_link_args={flags}", measured, root],
                       check=True, env={**os.environ, "CC": "clang", "CXX": "clang++"}, stdout=sys.stderr)
    subprocess.run(["ninja", "--quiet", "-C", measured], check=True, stdout=sys.stderr)

    programs = measured / "tests/fuzz"
    unmeasured = {**os.environ, "LLVM_PROFILE_FILE": "/dev/null"}
    subprocess.run([programs / "make_seeds", fixtures, measured / "seeds", *further_files()], check=True,
                   stdout=subprocess.DEVNULL, env=unmeasured)
    profiles, objects = [], []
    for target in MAX_LEN:
        program = programs / f"fuzz-{target}"
        if not program.exists():
            continue
        folders = [measured / "seeds" / target, fixtures / "fuzz" / target, build / "corpus" / target]
        profile = measured / f"{target}.profraw"
        subprocess.run([program, "-runs=0", "-max_len=1000000", *(f for f in folders if f.is_dir())], check=True,
                       stderr=subprocess.DEVNULL, env={**os.environ, "LLVM_PROFILE_FILE": str(profile)})
        profiles.append(profile)
        objects.append(program)

    tool = lambda name: shutil.which(f"{name}-14") or name
    merged = measured / "merged.profdata"
    subprocess.run([tool("llvm-profdata"), "merge", "-o", merged, *profiles], check=True)
    what = ["report", "-show-region-summary=false", "-show-branch-summary=false",
            "-ignore-filename-regex=/(tests|replay)/|^/usr/"]
    sources = []
    if options.missing:
        what = ["show"]
        sources = [root / "lib" / options.missing]
    more = [x for o in objects[1:] for x in ("-object", o)]
    return subprocess.run([tool("llvm-cov"), *what, f"-instr-profile={merged}", objects[0], *more, *sources]).returncode


if __name__ == "__main__":
    sys.exit(main())
