#!/usr/bin/env python3
"""Runs every verb that reads files on files, and prints which take longest for their size, and most memory.

Folders are searched. Inputs of fuzz targets, in folders named after the target, are taken without the bytes before the
file. Fails if a verb takes more than a second of the processor for each MB of its input and output (of a picture: of
its pixels), or more memory than twice what a map may hold."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

BEFORE = {"demo": 2, "demo_verbs": 1, "map_verbs": 1, "capture_verbs": 1}  # bytes
# @ is the file, OUT what is written, and PAGE a viewer.
RECORDING = [["dump", "@"], ["dump", "--format", "checksum", "@"], ["dump", "--format", "csv", "--type", "character", "@"],
             ["events", "@"], ["events", "--format", "text", "@"], ["stats", "@"], ["diff", "@", "@"],
             ["export", "@", "-o", "OUT.sqlite"], ["export", "--format", "arrow", "@", "-o", "OUT"],
             ["merge", "@", "@", "-o", "OUT"], ["compress", "@", "-o", "OUT.gz"]]
DEMO = RECORDING + [["info", "@"], ["info", "--format", "ndjson", "@"], ["verify", "@"], ["du", "@"], ["repair", "@", "-o", "OUT"],
                    ["cut", "@", "--from", "0:01", "-o", "OUT"], ["cut", "@", "--around", "kill", "-o", "OUT"],
                    ["join", "@", "@", "-o", "OUT"], ["redact", "@", "-o", "OUT"], ["index", "--force", "@"],
                    ["web", "--viewer", "PAGE", "@", "-o", "OUT"]]  # and not play, which takes the time that it shows
MAP = [["map", "info", "@"], ["map", "info", "--format", "ndjson", "@"], ["map", "check", "@"],
       ["map", "render", "--scale", "2", "@", "-o", "-"], ["map", "render", "--layer", "game", "@", "-o", "-"],
       ["map", "convert", "--to", "0.6", "@", "-o", "-"], ["map", "convert", "--to", "0.7", "@", "-o", "-"],
       ["map", "convert", "--datafile", "3", "@", "-o", "-"], ["map", "extract", "--image", "0", "@", "-o", "-"]]
CAPTURE = RECORDING + [["capture", "@"], ["capture", "--format", "ndjson", "--all", "@"], ["capture", "--explain", "@"],
                       ["capture", "--format", "demo", "@", "-o", "-"]]
TO_START = 0.05  # seconds of a program that does nothing
MOST_SECONDS = 1  # for each MB
MOST_MEMORY = 2 << 30
WAIT = 120


def bytes_made(file):
    """The size of a picture before compression."""
    with open(file, "rb") as out:
        head = out.read(24)
    if head[:4] == b"\x89PNG":
        width, height = struct.unpack(">II", head[16:24])
        return 4 * width * height
    return file.stat().st_size


def verbs_for(data):
    if data[:7] == b"TWDEMO\0":
        return DEMO + MAP[:4]
    if data[:4] in (b"DATA", b"ATAD", b"\x01\x05\x0b\0"):
        return MAP
    if data[:4] in (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a"):
        return CAPTURE
    return []


def run(command, scratch):
    """(exit code, seconds of the processor, bytes of memory, bytes of output)"""
    made = scratch / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    with open(scratch / "out", "wb") as out, open(scratch / "said", "wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, start_new_session=True)
        signal.alarm(WAIT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except TimeoutError:
            process.kill()
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            signal.alarm(0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, \
        sum(bytes_made(p) for p in (scratch / "out", scratch / "said", *files_in([made])))


def files_in(paths):
    for path in paths:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teewire", type=pathlib.Path)
    parser.add_argument("paths", type=pathlib.Path, nargs="+", metavar="FILE or FOLDER")
    parser.add_argument("--most", type=int, default=5, help="how many are printed (5)")
    options = parser.parse_args()

    def too_long(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, too_long)
    runs, files, died = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        page = scratch / "page"
        page.mkdir()
        for name in ("index.html", "viewer.js", "teewire.wasm"):
            (page / name).write_bytes(b"-")
        for path in files_in(options.paths):
            data = path.read_bytes()[BEFORE.get(path.parent.name, 0):]
            verbs = verbs_for(data)
            if not verbs:
                continue
            files += 1
            (scratch / "in").write_bytes(data)
            for verb in verbs:
                place = {"@": str(scratch / "in"), "OUT": str(scratch / "made/out"), "PAGE": str(page)}
                command = [str(options.teewire), *(re.sub("@|OUT|PAGE", lambda m: place[m[0]], word) for word in verb)]
                code, seconds, memory, out = run(command, scratch)
                if code not in (0, 1, 2):
                    died += 1
                    print(f"exit code {code}: {' '.join(verb)}: {path}")
                runs.append((max(0, seconds - TO_START) / ((len(data) + out) / 1e6), seconds, memory, len(data), out,
                             " ".join(verb), path))
    print(f"{files} files, {len(runs)} runs")
    for what, by in (("longest for each MB", lambda r: r[0]), ("most memory", lambda r: r[2])):
        print(what)
        for per_mb, seconds, memory, size, out, verb, path in sorted(runs, key=by, reverse=True)[:options.most]:
            print(f"  {per_mb:7.3f} s/MB {seconds:7.2f} s {memory / 1e6:7.0f} MB  of {size} and {out} bytes: {verb}: {path}")
    bad = died or any(r[0] > MOST_SECONDS or r[2] > MOST_MEMORY for r in runs)
    return 1 if bad or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
