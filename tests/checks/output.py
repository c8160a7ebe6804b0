#!/usr/bin/env python3
"""A program prints what it should. Usage: output.py EXPECTED PROGRAM [ARGUMENT...]"""
import difflib
import pathlib
import subprocess
import sys

expected = pathlib.Path(sys.argv[1]).read_text()
result = subprocess.run(sys.argv[2:], capture_output=True, text=True)
sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), result.stdout.splitlines(True), "expected", "printed"))
print(result.stderr, end="")
sys.exit(bool(result.returncode or result.stdout != expected or not expected))
