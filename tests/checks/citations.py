#!/usr/bin/env python3
"""What documents and comments point at is there: links, headings, and the UUIDs that names have.

Usage: citations.py ROOT

- Every relative link of a Markdown file leads to a file, and one with an anchor to a heading of it.
- Every citation in sources, "doc/format/demo.md#chunks", which counts from lib/, does too. A comment that follows
  something says what, and names nothing that is not here.
- Every page of lib/doc can be reached from lib/doc/main.md.
- Every "name@domain" with a UUID beside it has that UUID."""
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

NAMESPACE = uuid.UUID("e05ddaaa-c4e6-4cfb-b642-5d48e80c0029")
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PARTS = {"lib", "replay", "tests", "bench"}
SOURCES = {".h", ".hpp", ".cpp", ".c", ".inc", ".py", ".build", ".in", ".awk", ""}
# Descriptions outside the project.
ELSEWHERE = re.compile(r"\b[Rr]equirements?('|:| document)|\bFollows (the|section)|\b(the|\w+) references? (about|document)")


def files_of(root):
    """The files of the project; in a copy without git, everything but builds."""
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True).stdout if shutil.which("git") else ""
    names = sorted(set(listing.splitlines())) or [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    return [root / name for name in names if not name.startswith(("build/", ".git/")) and (root / name).is_file()]


def without_fences(text):
    return re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)


def anchors(path):
    """The anchors of all headings, as viewers of Markdown make them."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", without_fences(path.read_text()), re.M):
        heading = re.sub(r"\s*\{#[\w-]+\}$", "", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found.get(slug, -1) + 1
        found[slug] = count
    return {slug if n == 0 else f"{slug}-{n}" for slug, count in found.items() for n in range(count + 1)}


def leads_nowhere(target, anchor):
    if not target.exists():
        return "there is no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"it has no heading #{anchor}"
    return None


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def links(path):
    """(line, target, anchor) of every relative link."""
    text = without_fences(path.read_text())
    for m in re.finditer(r"\]\((?!\w+:|@)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        yield line_of(text, m.start()), (path.parent / m[1]).resolve() if m[1] else path, m[2]


def citations(path, text, lib):
    for m in re.finditer(r"(?<![\w/.-])(?:lib/)?(doc/[\w/-]+\.md)(?:#([\w-]+))?", text):
        yield line_of(text, m.start()), lib / m[1], m[2]


def check(root):
    lib = root / "lib"
    cited = 0
    reached = {}
    for path in files_of(root):
        name = path.relative_to(root)
        if path.suffix == ".md":
            reached[path.resolve()] = set()
            for line, target, anchor in links(path):
                reached[path.resolve()].add(target.resolve())
                cited += 1
                if what := leads_nowhere(target, anchor):
                    yield f"{name}:{line}: {target.name}: {what}"
            text = path.read_text()
            for line in text.splitlines():
                if (name_at := re.search(r"[\w-]+@[\w.-]+\.\w+", line)) and (stated := re.search(UUID, line)):
                    if str(uuid.uuid3(NAMESPACE, name_at[0])) != stated[0]:
                        yield f"{name}: {name_at[0]} is {uuid.uuid3(NAMESPACE, name_at[0])}"
        elif path.suffix in SOURCES and name.parts[0] in PARTS and path != pathlib.Path(__file__).resolve():
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            for line, target, anchor in citations(path, text, lib):
                cited += 1
                if what := leads_nowhere(target, anchor):
                    yield f"{name}:{line}: {target.name}: {what}"
            if path.suffix in (".h", ".hpp", ".cpp", ".c", ".inc"):
                for m in ELSEWHERE.finditer(text):
                    yield f"{name}:{line_of(text, m.start())}: names a description that is not here: {m[0]}"
    pages, seen = [(lib / "doc/main.md").resolve()], set()
    while pages:
        page = pages.pop()
        if page not in seen:
            seen.add(page)
            pages += [p for p in reached.get(page, ()) if p.suffix == ".md"]
    for page in reached:
        if (lib / "doc").resolve() in page.parents and page not in seen:
            yield f"{page.relative_to(root)}: nothing leads here from lib/doc/main.md"
    if cited < 60:
        yield f"only {cited} links and citations were found"
    else:
        print(f"{cited} links and citations")


def main(root):
    wrong = list(check(pathlib.Path(root).resolve()))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
