#!/usr/bin/env python3
"""The documentation is complete: Doxygen has nothing to complain about, and everything public is described.

Usage: docs.py DOXYFILE. Exit code 77 without Doxygen."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

GUIDES = {"server", "adoption", "replay", "capture", "maps"}


def described(element):
    return any("".join(part.itertext()).strip() for tag in ("briefdescription", "detaileddescription")
               for part in element.findall(tag))


def place(element):
    at = element.find("location")
    return f"{at.get('file')}:{at.get('line')}"


def undocumented(compound):
    """Declarations without a docstring."""
    name = compound.findtext("compoundname")
    if compound.get("prot") == "private" or name.endswith(".md"):
        return
    if compound.get("kind") in ("class", "struct", "union", "namespace", "file") and not described(compound):
        yield f"{compound.get('kind')} {name}"
    for member in compound.iter("memberdef"):
        if member.get("prot") == "private":
            continue
        if not described(member):
            yield f"{place(member)}: {member.get('kind')} {name}::{member.findtext('name')}"
        for value in member.findall("enumvalue"):
            if not described(value):
                yield f"{place(member)}: {name}::{member.findtext('name')}::{value.findtext('name')}"


def main(doxyfile):
    if shutil.which("doxygen") is None:
        print("SKIPPED: doxygen is not installed")
        return 77
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        options = pathlib.Path(doxyfile).read_text() + f'\nGENERATE_XML = YES\nOUTPUT_DIRECTORY = "{out}"\n'
        result = subprocess.run(["doxygen", "-"], input=options, stderr=subprocess.PIPE, text=True)
        wrong = result.stderr.splitlines()
        members = 0
        pages = set()
        for path in sorted((out / "xml").glob("*.xml")):
            for compound in ET.parse(path).getroot().iter("compounddef"):
                members += len(list(compound.iter("memberdef")))
                wrong += undocumented(compound)
                if compound.get("kind") == "page":
                    pages.add(pathlib.Path(compound.find("location").get("file")).stem)
        wrong += [f"there is no guide {guide}.md" for guide in GUIDES - pages]
        print("\n".join(sorted(set(wrong))) if wrong else f"{members} members, {len(pages)} pages")
        assert members > 1000, f"only {members} members were found"
        return bool(wrong or result.returncode)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
