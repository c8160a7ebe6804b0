"""Shared by the parts of a release: commands, and archives that are the same for the same input."""
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
VIEWER = "clang lld wasi-libc libc++-dev-wasm32 libclang-rt-dev-wasm32"


def say(text):
    print(f"release: {text}", file=sys.stderr)


def run(*command, **how):
    subprocess.run([str(word) for word in command], check=True, **{"stdout": sys.stderr, **how})


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout.strip()


def need(packages):
    run("bash", "-c", f". {ROOT / 'replay/need.sh'}; need {packages}")


def dated(moment):
    """The environment of a command whose output has this date."""
    return {**os.environ, "SOURCE_DATE_EPOCH": str(moment)}


def as_tar(files, moment):
    """A tar file of {name: (bytes, mode)}, the same for the same input."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, (content, mode) in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(content), moment, mode
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def as_zip(files, moment):
    buffer = io.BytesIO()
    date = time.gmtime(moment)[:6]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in sorted(files.items()):
            member = zipfile.ZipInfo(name, date)
            member.compress_type, member.external_attr, member.create_system = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16, 3
            archive.writestr(member, content)
    return buffer.getvalue()
