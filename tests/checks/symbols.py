#!/usr/bin/env python3
"""lib needs nothing of the allocator, of exceptions or of stdio. Usage: symbols.py NM LIBRARY"""
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"^(_Zn[wa]|_Zd[la]|malloc|calloc|realloc|free$|posix_memalign|aligned_alloc|__cxa_(throw|allocate|begin_catch|rethrow)"
    r"|_Unwind_|__gxx_personality|_ZSt\d+__throw|f?printf|v?s?n?printf|puts|putchar|fopen|fwrite|fread|fputs|write$|read$|open$"
    r"|std(out|err|in)$|abort$|exit$|time$|clock|gettimeofday|_ZNSt6chrono)")


def main(nm, library):
    listing = subprocess.run([nm, "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    needed = sorted({line.split()[-1] for line in listing.splitlines() if " U " in line})
    wrong = [symbol for symbol in needed if FORBIDDEN.match(symbol)]
    outside = [symbol for symbol in needed if "teewire" not in symbol]
    print("needs from outside:", ", ".join(outside))
    if wrong:
        print("forbidden:", ", ".join(wrong))
    return bool(wrong) or not needed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
