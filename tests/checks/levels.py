#!/usr/bin/env python3
"""No function uses instructions that its machine may not have. Usage: levels.py OBJDUMP LIBRARY

Code of a level stands in the namespace of the level: what else has its instructions, such as a function of the standard
library that was compiled with them, would be what the linker gives to every machine."""
import re
import subprocess
import sys

# A name of a level's own: not one of std that is instantiated with the level's types.
OWN = re.compile(r"_ZZ?NK?7teewire7kernels(?:4(avx2)|6(avx512)|3(sha))")
LOCAL = re.compile(r"7teewire7kernels(?:4(avx2)|6(avx512)|3(sha))12_GLOBAL__N_1") # instantiated with what no other file has
AVX512 = re.compile(r"%zmm|%[xy]mm(?:1[6-9]|2\d|3[01])\b|%k[0-7]\b")
AVX2 = re.compile(r"^v\w+\s.*%[xy]mm|%ymm")
SHA = re.compile(r"^sha256|^(?:pshufb|palignr|pblendw)\s") # with SSE4.1, which every processor with it has
BMI = re.compile(r"^(?:andn|bextr|blsi|blsmsk|blsr|bzhi|lzcnt|mulx|pdep|pext|rorx|sarx|shlx|shrx)[lq]?\s")


def needed(instruction):
    if AVX512.search(instruction):
        return "avx512"
    if AVX2.search(instruction) or BMI.search(instruction):
        return "avx2"
    return "sha" if SHA.search(instruction) else None


def promised(function):
    own = OWN.match(function) or LOCAL.search(function)
    return own and (own[1] or own[2] or own[3])


def wrong_functions(lines):
    """Functions of a disassembly that need more than they promise, and what; and the levels that were seen at all."""
    function, wrong, seen = "", {}, set()
    for line in lines:
        if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function = head[1]
            continue
        if "\t" not in line:
            continue
        level = needed(line.split("\t")[-1])
        if level is None:
            continue
        seen.add(level)
        if promised(function) not in ((level,) if level == "sha" else (level, "avx512")):
            wrong.setdefault(function, line.split("\t")[-1])
    return wrong, seen


def check_itself():
    def is_wrong(function, instruction):
        return bool(wrong_functions([f"0000 <{function}>:", f"   0:\t{instruction}"])[0])
    avx2, std = "_ZN7teewire7kernels4avx212_GLOBAL__N_18checksumEv", "_ZNKSt4spanIKiLm18446744073709551615EE4sizeEv"
    assert is_wrong(std, "vmovdqu (%rdi),%ymm0") and is_wrong(std, "shlx   %rax,%rcx,%rdx") and is_wrong(avx2, "kmovw  %k1,%eax")
    assert is_wrong("_ZNSt6vectorIN7teewire7kernels4avx21aEE4sizeEv", "vpaddd %xmm0,%xmm1,%xmm2")
    assert is_wrong(std, "sha256msg1 %xmm1,%xmm0") and is_wrong(avx2, "pshufb %xmm1,%xmm0")
    assert not is_wrong("_ZN7teewire7kernels3sha10add_blocksEv", "pshufb %xmm1,%xmm0")
    assert not is_wrong(avx2, "vpaddd %ymm0,%ymm1,%ymm2") and not is_wrong(std, "paddd  %xmm0,%xmm1")


def main(objdump, library):
    check_itself()
    with subprocess.Popen([objdump, "-d", "--no-show-raw-insn", library], stdout=subprocess.PIPE, text=True) as dump:
        wrong, seen = wrong_functions(dump.stdout)
    if dump.returncode:
        return 1
    for function, instruction in wrong.items():
        print(f"{function}: {instruction.strip()}")
    print(f"{len(wrong)} functions use what any machine may lack; levels seen: {', '.join(sorted(seen))}")
    return bool(wrong) or seen != {"avx2", "avx512", "sha"}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
