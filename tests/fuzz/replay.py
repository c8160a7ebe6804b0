#!/usr/bin/env python3
"""Replays seeds and stored findings of a fuzz target, without a fuzzer.

usage: replay.py FUZZ-REPLAY MAKE_SEEDS FIXTURES TARGET"""
import pathlib
import subprocess
import sys
import tempfile

replay, make_seeds, fixtures, target = sys.argv[1:]
with tempfile.TemporaryDirectory() as seeds:
    subprocess.run([make_seeds, fixtures, seeds], check=True, stdout=subprocess.DEVNULL)
    inputs = [pathlib.Path(seeds, target)]
    stored = pathlib.Path(fixtures, "fuzz", target)
    if stored.is_dir():
        inputs.append(stored)
    sys.exit(subprocess.run([replay, target, *map(str, inputs)]).returncode)
