#!/usr/bin/env python3
"""The loop at the top of teewire.h is the one of the example, which is compiled and run.

Usage: header_loop.py HEADER EXAMPLE"""
import pathlib
import re
import sys
import textwrap


def main(header, example):
    shown = re.search(r"^/// ```\n(.*?)^/// ```\n", pathlib.Path(header).read_text(), re.M | re.S)[1]
    shown = re.sub(r"^/// ?", "", shown, flags=re.M)
    ran = textwrap.dedent(pathlib.Path(example).read_text().split("//! [loop]\n")[1].rstrip(" "))
    if shown == ran and shown.count("\n") >= 8:
        print(f"{shown.count(chr(10))} lines, the same in both")
        return 0
    print(f"the header shows\n{shown}\nthe example has\n{ran}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
