#!/usr/bin/env python3
"""No step of the codec takes more instructions than it did, as callgrind counts them: on any machine, however busy.

Usage: check.py MEASURE COMPILER FIGURES FIXTURES [--update]
FIGURES has the instructions of each case by compiler and level; more than 3 % above them fails. Recorded pairs are
measured where TEEWIRE_WORKLOADS names their folder. --update writes the figures of this compiler anew."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ROOM = 1.03
LEVELS = ("avx2", "scalar")  # Valgrind's processor has no AVX-512
DEMOS = ("ddnet_dm1", "teeworlds07_dm1")


def measure(program, level, workloads, demos):
    """Instructions by case; None if the processor does not have the level."""
    with tempfile.TemporaryDirectory() as folder:
        # The C library's variants must not depend on the machine either.
        environment = os.environ | {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-ERMS,-FSRM"}
        done = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
                               f"--callgrind-out-file={folder}/out", program, level, workloads, *demos],
                              capture_output=True, text=True, env=environment)
        if done.returncode == SKIPPED:
            return None
        if done.returncode != 0:
            sys.exit(f"{program} {level}: {done.stderr}")
        counted = {}
        for path in pathlib.Path(folder).glob("out.*"):
            text = path.read_text()
            case = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
            if case:
                counted[case[1]] = int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)[1])
        return counted


def read(path):
    figures = {}
    for line in path.read_text().splitlines()[1:]:
        compiler, level, case, instructions = line.split("\t")
        figures[compiler, level, case] = int(instructions)
    return figures


def main(program, compiler, figures_path, fixtures, update=None):
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind is not installed")
        return SKIPPED
    figures_path = pathlib.Path(figures_path)
    figures = read(figures_path)
    if update is None and not any(key[0] == compiler for key in figures):
        print(f"SKIPPED: no figures of {compiler}")
        return SKIPPED
    workloads = os.environ.get("TEEWIRE_WORKLOADS", "")
    demos = [pathlib.Path(fixtures, "demos", f"{name}.demo") for name in DEMOS]
    compared = more = 0
    for level in LEVELS:
        counted = measure(program, level, workloads, demos)
        if counted is None:
            print(f"SKIPPED: {level}, which this machine does not have")
            continue
        for case, now in sorted(counted.items()):
            key = compiler, level, case
            before = figures.get(key)
            if update is not None:
                figures[key] = now
            elif before is None:
                print(f"{level} {case}: {now} instructions, and none stored")
                more += 1
                continue
            compared += 1
            if before is not None and (now > before * ROOM or now * ROOM < before):
                print(f"{level} {case}: {before} instructions, now {now} ({100 * (now / before - 1):+.1f} %)")
                more += now > before
        if not any(case.startswith("ddnet_dm1/") for case in counted):
            sys.exit("nothing was measured")
    if update is not None:
        lines = ["\t".join(map(str, (*key, value))) for key, value in sorted(figures.items())]
        figures_path.write_text("\n".join(["compiler\tlevel\tcase\tinstructions", *lines]) + "\n")
    print(f"{compared} cases, {more} of them above what is stored" if update is None else f"{compared} cases stored")
    return update is None and (more != 0 or compared < 20)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
