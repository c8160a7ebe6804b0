#!/usr/bin/env python3
"""What is installed can be used: by pkg-config, by CMake, as a part of a CMake build, as a Meson subproject, and from
Debian packages.

Usage: test_install.py installed|source|debian BUILD SOURCE
installed    installs BUILD into an empty folder and uses nothing but that
source       builds SOURCE inside other projects
debian       makes packages of a copy of SOURCE, and uses nothing but these"""
import os
import pathlib
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CC = shlex.split(os.environ.get("CC", "cc"))
CXX = shlex.split(os.environ.get("CXX", "c++"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
PRINTS = {"consumer_c": "10 bytes, no error", "consumer_cpp17": "10 bytes, no error",
          "consumer_cpp20": "10 bytes, no error", "consumer_map": "1000 bytes"}


def run(*command, **options):
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            **options)
    if result.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{result.stdout}")
    return result.stdout.strip()


def check(program, **environment):
    printed = run(program, env=os.environ | environment)
    assert printed == PRINTS[program.name], f"{program}: {printed}"
    print(f"{program.parent.name}: {program.name}: {printed}")


def only(folder, pattern):
    found = list(folder.rglob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def by_pkgconfig(installed, out):
    """Every consumer on its own; the C ABI shared and static, and static without a C++ linker."""
    out.mkdir()
    folder = only(installed, "teewire.pc").parent
    lib = folder.parent

    def flags(name):
        return shlex.split(run("pkg-config", "--cflags", "--libs", name, env=os.environ | {"PKG_CONFIG_PATH": folder}))

    c99 = [*CC, "-std=c99", *WARNINGS, HERE / "consumers/consumer.c"]
    run(*c99, "-o", out / "consumer_c", *flags("teewire"))
    run(*CXX, "-std=c++17", *WARNINGS, HERE / "consumers/consumer17.cpp", "-o", out / "consumer_cpp17", *flags("teewire"))
    run(*CXX, "-std=c++20", *WARNINGS, HERE / "consumers/consumer20.cpp", "-o", out / "consumer_cpp20", *flags("teewire-cpp"))
    run(*CXX, "-std=c++20", *WARNINGS, HERE / "consumers/consumer_map.cpp", "-o", out / "consumer_map", *flags("teewire-map"))
    for name in PRINTS:
        check(out / name, LD_LIBRARY_PATH=str(lib))
    shared = list(lib.glob("libteewire.so.*"))
    if shared:
        # It needs no C++ library.
        wanted = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", shared[0]))
        assert wanted == ["libc.so.6"], wanted
        # It is the soname that programs ask for.
        needed = run("readelf", "-d", out / "consumer_c")
        assert "libteewire.so." in needed, needed
        # And it is this one that is loaded, whatever else the system has.
        loaded = run("ldd", out / "consumer_c", env=os.environ | {"LD_LIBRARY_PATH": str(lib)})
        assert str(lib / "libteewire.so.") in loaded, loaded
    static = out / "static"
    static.mkdir()
    run(*c99, "-o", static / "consumer_c", f"-I{installed_include(installed)}", lib / "libteewire.a")
    check(static / "consumer_c")


def installed_include(installed):
    return only(installed, "teewire.h").parent


def by_cmake(installed, out):
    prefix = only(installed, "teewire.h").parent.parent
    run("cmake", "-S", HERE / "consumers", "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", out)
    for name in PRINTS:
        check(out / name)
    assert run(out / "consumer_c_static") == PRINTS["consumer_c"]
    assert "libteewire" not in run("readelf", "-d", out / "consumer_c_static")
    # Another version, or a missing part, is reported.
    for line in ("find_package(teewire 0.2 REQUIRED)", "find_package(teewire 0.1 REQUIRED COMPONENTS carrots)"):
        wrong = out / "wrong"
        wrong.mkdir(exist_ok=True)
        (wrong / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.12)\nproject(wrong LANGUAGES CXX)\n{line}\n")
        result = subprocess.run(["cmake", "-S", wrong, "-B", wrong / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                                capture_output=True, text=True)
        assert result.returncode != 0 and "teewire" in result.stderr, line


def headers(installed):
    """Each by itself, in every language it is for."""
    include = installed_include(installed)
    count = 0
    for header in sorted(include.rglob("*.h*")):
        languages = [("c++", "c++20")]
        if header.suffix == ".h":
            languages += [("c", "c99"), ("c", "c11"), ("c++", "c++17")]
        for language, standard in languages:
            compiler = CC if language == "c" else CXX
            run(*compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", f"-I{include}", "-x", language, "-",
                input=f"#include <{header.relative_to(include)}>\n#include <{header.relative_to(include)}>\n")
            count += 1
    assert count > 25, count
    print(f"headers: {count} compilations, each alone and twice")


def program(installed):
    """The files of the program, if it was built."""
    if not list(installed.rglob("bin/teewire")):
        print("SKIPPED: the program, which was not built")
        return
    run(only(installed, "bin/teewire"), "--version")
    assert only(installed, "teewire.1").stat().st_size > 1000
    for file in ("bash-completion/completions/teewire", "zsh/site-functions/_teewire",
                  "fish/vendor_completions.d/teewire.fish", "applications/teewire.desktop", "mime/packages/teewire.xml"):
        assert only(installed, file).stat().st_size > 100


def documentation(installed):
    """What Doxygen made, if it was to be built."""
    if not list(installed.rglob("share/doc/teewire/html")):
        print("SKIPPED: the documentation, which was not built")
        return
    guide = only(installed, "share/doc/teewire/html/document_server.html").read_text()
    assert "create_delta" in guide, "no code in a guide"


def by_python(installed, source):
    """The module, if it was to be installed, with the library beside it; by Debian's interpreter, which has NumPy."""
    found = list(installed.rglob("teewire/_abi.py"))
    interpreter = pathlib.Path("/usr/bin/python3")
    if not found or subprocess.run([interpreter, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode != 0:
        print("SKIPPED: the Python module, which was not built, or without NumPy")
        return
    library = only(installed, "libteewire.so.?")
    environment = {"PYTHONPATH": str(found[0].parent.parent), "LD_LIBRARY_PATH": str(library.parent)}
    where = runpy.run_path(str(found[0].parent / "_library.py"))
    if (pathlib.Path(where["FOLDER"]) / where["NAME"]).exists():  # one that this system has
        environment["TEEWIRE_LIBRARY"] = str(library)
    code = ("import sys, teewire; r = teewire.open(sys.argv[1]);"
            "print(len(r.items('character').x), r.map, teewire._abi.lib._name, teewire.__file__)")
    printed = run(interpreter, "-c", code, source / "fixtures/demos/ddnet_dm1.demo", env=os.environ | environment)
    expected = environment.get("TEEWIRE_LIBRARY", where["NAME"])
    assert printed == f"4506 dm1 {expected} {found[0].parent / '__init__.py'}", printed
    print(f"{interpreter}: {printed}")


def test_installed(build, folder, source):
    installed = folder / "root"
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", installed)
    headers(installed)
    by_pkgconfig(installed, folder / "pkg-config")
    if shutil.which("cmake"):
        by_cmake(installed, folder / "cmake")
    else:
        print("SKIPPED: CMake, which is not there")
    program(installed)
    documentation(installed)
    by_python(installed, source)


def test_source(source, folder):
    if shutil.which("cmake"):
        out = folder / "add_subdirectory"
        # A build type of one's own is without the optimisation of the default, which takes long.
        run("cmake", "-S", HERE / "consumers", "-B", out, "-DCMAKE_BUILD_TYPE=Plain", f"-DTEEWIRE_SOURCE={source / 'lib'}")
        run("cmake", "--build", out, "--parallel", "2")
        for name in PRINTS:
            check(out / name)
    else:
        print("SKIPPED: CMake, which is not there")
    project = folder / "project"
    shutil.copytree(HERE / "consumers", project)
    (project / "subprojects").mkdir()
    (project / "subprojects/teewire").symlink_to(source, target_is_directory=True)
    out = folder / "subproject"
    # Not what the system may have of the same name.
    run("meson", "setup", "-Dbuildtype=plain", "--force-fallback-for=teewire", out, project)
    run("ninja", "-C", out, "-j2", *PRINTS)
    for name in PRINTS:
        check(out / name)


def test_debian(source, folder):
    if not shutil.which("dh") or not shutil.which("dh_python3"):
        print("SKIPPED: Debian packages, as debhelper or dh-python is not there")
        sys.exit(77)
    copy = folder / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git"))
    run("dpkg-buildpackage", "-b", "-us", "-uc", cwd=copy / "lib")
    installed = folder / "root"
    for package in ("libteewire1", "libteewire-dev", "python3-teewire"):
        run("dpkg", "-x", only(copy, f"{package}_*.deb"), installed)
    headers(installed)
    by_pkgconfig(installed, folder / "pkg-config")
    by_cmake(installed, folder / "cmake")
    by_python(installed, source)


def main(what, build, source):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if what == "installed":
            test_installed(build, folder, pathlib.Path(source).resolve())
        elif what == "source":
            test_source(pathlib.Path(source).resolve(), folder)
        else:
            test_debian(pathlib.Path(source).resolve(), folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
