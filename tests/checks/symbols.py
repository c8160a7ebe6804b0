#!/usr/bin/env python3
"""What lib needs of others. Usage: symbols.py NM LIBRARY [--may-allocate]

The codec: what every C library and compiler has, even on machines without an operating system; nothing of a C++ library.
--may-allocate is for the map library: no exceptions, stdio or clocks, but the allocator, zlib, and std::variant, which
without exceptions aborts."""
import re
import subprocess
import sys

# Memory, asserts of debug builds, arithmetic that the processor lacks, what the compiler itself refers to.
ALLOWED = (r"mem(cpy|move|set|cmp|chr)|bcmp|strlen|__assert_fail|__\w+[sdt]i[234]|__cpu_\w+|__stack_chk_\w+"
           r"|_GLOBAL_OFFSET_TABLE_")
FORBIDDEN = (r"__cxa_(throw|allocate|begin_catch|rethrow)|_Unwind_|__gxx_personality|f?printf|v?s?n?printf|puts|putchar"
             r"|fopen|fwrite|fread|fputs|write$|read$|open$|std(out|err|in)$|exit$|time$|clock|gettimeofday"
             r"|_ZNSt6chrono")


def main(nm, library, may_allocate=None):
    listing = subprocess.run([nm, "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    needed = sorted({line.split()[-1] for line in listing.splitlines() if " U " in line})
    outside = [symbol for symbol in needed if "teewire" not in symbol]
    if may_allocate:
        wrong = [symbol for symbol in outside if re.match(FORBIDDEN, symbol)]
    else:
        wrong = [symbol for symbol in outside if not re.fullmatch(ALLOWED, symbol)]
    print("needs from outside:", ", ".join(outside))
    if wrong:
        print("not allowed:", ", ".join(wrong))
    return bool(wrong) or not needed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
