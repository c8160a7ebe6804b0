#!/usr/bin/env python3
"""Replays seeds and stored findings of a fuzz target, without a fuzzer.

usage: replay.py FUZZ-REPLAY MAKE_SEEDS FIXTURES TARGET
MESON_EXE_WRAPPER is what runs programs for another processor."""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

replay, make_seeds, fixtures, target = sys.argv[1:]
wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
with tempfile.TemporaryDirectory() as seeds:
    subprocess.run([*wrapper, make_seeds, fixtures, seeds], check=True, stdout=subprocess.DEVNULL)
    inputs = [pathlib.Path(seeds, target)]
    stored = pathlib.Path(fixtures, "fuzz", target)
    if stored.is_dir():
        inputs.append(stored)
    sys.exit(subprocess.run([*wrapper, replay, target, *map(str, inputs)]).returncode)
