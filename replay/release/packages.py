"""Packages for developers and for Debian. Each function returns the file it made."""
import base64
import gzip
import hashlib
import lzma
import os
import re
import shutil
import sys
import tarfile

from common import ROOT, VERSION, VIEWER, as_tar, as_zip, dated, need, output, run

# All is linked in, on purpose.
OVERRIDES = "".join(f"teewire: {tag} *\n" for tag in ("statically-linked-binary", "embedded-library", "shared-library-lacks-prerequisites"))
CONTROL = """Package: teewire
Version: {version}
Architecture: {architecture}
Maintainer: The teewire authors <teewire@example.org>
Installed-Size: {kib}
Section: utils
Priority: optional
Description: plays, checks, edits and records demos of Teeworlds and DDNet
 Shows demos in a web browser or in the terminal, prints them as JSON or CSV,
 compares, cuts, joins and redacts them, displays maps, records servers, and
 broadcasts games. A single program that needs nothing else.
"""


def debian(architecture, program, beside, licences, out, moment):
    """The program for any Debian or Ubuntu: `beside` are the files that go below /usr."""
    folder = ROOT / f"build/release-debian-{architecture}"
    shutil.rmtree(folder, ignore_errors=True)
    texts = (ROOT / "lib/debian/copyright").read_text()
    changes = gzip.compress((ROOT / "lib/debian/changelog").read_bytes(), 9, mtime=0)
    files = {"usr/bin/teewire": program.read_bytes(), **{f"usr/{name}": content for name, content in beside.items()},
             "usr/share/doc/teewire/copyright": texts.encode(), "usr/share/doc/teewire/changelog.gz": changes,
             "usr/share/doc/teewire/LICENCES-OF-PARTS.gz": gzip.compress(licences, 9, mtime=0),
             "usr/share/lintian/overrides/teewire": OVERRIDES.encode()}
    page = "usr/share/man/man1/teewire.1"
    files[f"{page}.gz"] = gzip.compress(files.pop(page), 9, mtime=0)
    control = CONTROL.format(version=VERSION, architecture=architecture, kib=sum(map(len, files.values())) // 1024)
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))
    for name, content in {**files, "DEBIAN/control": control.encode(), "DEBIAN/md5sums": sums.encode()}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if name == "usr/bin/teewire" else 0o644)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    target = out / f"teewire_{VERSION}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, target, env=dated(moment))
    return target


def wheel(out, moment):
    """The Python module, with the library inside."""
    folder = ROOT / "build/release-wheel"
    if not (folder / "build.ninja").is_file():
        run("meson", "setup", "-Dtests=false", "-Dbench=false", "-Dreplay=false", "-Dmap=false",
            f"-Dcpp_args=-ffile-prefix-map={ROOT}=.", folder, ROOT, env=dated(moment))
    run("ninja", "-C", folder, env=dated(moment))
    module = folder / "lib/python/teewire"
    files = {f"teewire/{path.name}": (path.read_bytes(), 0o644) for path in module.iterdir() if path.suffix in (".py", ".typed")}
    library = next((folder / "lib").glob("libteewire.so.?")).resolve()
    name = re.search(r'^NAME = "(.*)"', files["teewire/_library.py"][0].decode(), re.M)[1]
    stripped = folder / name
    run("strip", "-o", stripped, library)
    files[f"teewire/{name}"] = (stripped.read_bytes(), 0o755)
    # It lies beside the module.
    place = re.sub(r'^FOLDER = .*', 'FOLDER = __file__.rpartition("/")[0]', files["teewire/_library.py"][0].decode(), flags=re.M)
    files["teewire/_library.py"] = (place.encode(), 0o644)
    # The name says what glibc it needs, 2.17 or an older one.
    needed = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", output("objdump", "-T", stripped))}
    if max(needed) > (2, 17) or re.findall(r"NEEDED +(\S+)", output("objdump", "-p", stripped)) != ["libc.so.6"]:
        sys.exit(f"{name} needs more than glibc 2.17, so its wheel is no manylinux_2_17")
    tag = f"py3-none-manylinux_2_17_{os.uname().machine}"
    information = f"teewire-{VERSION}.dist-info"
    files[f"{information}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: teewire\nVersion: {VERSION}\nSummary: Demos of Teeworlds and DDNet as NumPy arrays and data "
        "frames\nLicense: Zlib\nRequires-Python: >=3.9\nRequires-Dist: numpy\nProvides-Extra: pandas\nRequires-Dist: pandas; "
        "extra == 'pandas'\n".encode(), 0o644)
    files[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: replay/release/make\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{information}/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), 0o644)

    def row(path, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(content)}\n"

    rows = "".join(row(path, content) for path, (content, _) in sorted(files.items()))
    files[f"{information}/RECORD"] = (f"{rows}{information}/RECORD,,\n".encode(), 0o644)
    target = out / f"teewire-{VERSION}-{tag}.whl"
    target.write_bytes(as_zip(files, moment))
    return target


def source(out, moment):
    """The source, and the file that has Meson take it as a subproject."""
    inside = f"teewire-{VERSION}"
    target = out / f"{inside}-source.tar.xz"
    packed = ROOT / "build/release-source.tar"
    run("git", "-C", ROOT, "archive", "--format=tar", f"--prefix={inside}/", "-o", packed, "HEAD")
    target.write_bytes(lzma.compress(packed.read_bytes(), preset=9))
    (out / "teewire.wrap").write_text(
        f"[wrap-file]\ndirectory = {inside}\nsource_filename = {target.name}\n"
        f"source_hash = {hashlib.sha256(target.read_bytes()).hexdigest()}\n\n"
        "[provide]\ndependency_names = teewire, teewire-cpp, teewire-map\n")
    return target


def npm(out, moment):
    return npm_package("npm", "-Dwasm=true", f"lib/wasm/teewire-{VERSION}.tgz", out / f"teewire-{VERSION}-npm.tgz", moment)


def player(out, moment):
    """The element for web pages, also a package of npm's."""
    name = f"teewire-player-{VERSION}.tgz"
    return npm_package("player", "-Dweb=true", f"replay/web/viewer/{name}", out / name, moment)


def npm_package(part, option, made, target, moment):
    """The package that a build with this option makes, with the time of the commit."""
    need(VIEWER)
    folder = ROOT / f"build/release-{part}"
    if not (folder / "build.ninja").is_file():
        run("meson", "setup", "-Dtests=false", "-Dbench=false", "-Dreplay=false", option, folder, ROOT)
    run("ninja", "-C", folder)
    with tarfile.open(folder / made) as archive:
        files = {member.name: (archive.extractfile(member).read(), 0o644) for member in archive if member.isfile()}
    target.write_bytes(gzip.compress(as_tar(files, moment), mtime=moment))
    return target


def codec(out, moment):
    folder = ROOT / "build/release-codec"
    run(sys.executable, ROOT / "lib/amalgamate.py", folder)
    inside = f"teewire-{VERSION}-codec"
    files = {f"{inside}/{path.name}": (path.read_bytes(), 0o644) for path in (folder / "teewire.h", folder / "teewire.cpp", ROOT / "LICENSE")}
    target = out / f"{inside}.zip"
    target.write_bytes(as_zip(files, moment))
    return target
