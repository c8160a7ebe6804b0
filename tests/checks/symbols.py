#!/usr/bin/env python3
"""lib needs nothing of the allocator, of exceptions, of stdio or of zlib. Usage: symbols.py NM LIBRARY [--may-allocate]

--may-allocate is for the map library, which also has zlib, and std::variant, which without exceptions aborts."""
import re
import subprocess
import sys

MEMORY = (r"_Zn[wa]|_Zd[la]|malloc|calloc|realloc|free$|posix_memalign|aligned_alloc|_ZSt\d+__throw|inflate|deflate"
          r"|compress|crc32|adler32|abort$")
ALWAYS = (r"__cxa_(throw|allocate|begin_catch|rethrow)|_Unwind_|__gxx_personality|f?printf|v?s?n?printf|puts|putchar"
          r"|fopen|fwrite|fread|fputs|write$|read$|open$|std(out|err|in)$|exit$|time$|clock|gettimeofday"
          r"|_ZNSt6chrono")


def main(nm, library, may_allocate=None):
    forbidden = re.compile(f"^({ALWAYS})" if may_allocate else f"^({ALWAYS}|{MEMORY})")
    listing = subprocess.run([nm, "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    needed = sorted({line.split()[-1] for line in listing.splitlines() if " U " in line})
    wrong = [symbol for symbol in needed if forbidden.match(symbol)]
    outside = [symbol for symbol in needed if "teewire" not in symbol]
    print("needs from outside:", ", ".join(outside))
    if wrong:
        print("forbidden:", ", ".join(wrong))
    return bool(wrong) or not needed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
