"""Programs that find the library through pkg-config, in a prefix that has moved."""

import re
import shlex

from . import rig


def built(name, package, *flags, static=()):
    source, expected = rig.documented_program()
    program = rig.SCRATCH / name
    rig.cc(source, "-o", program, *rig.pkg_config(*static, "--cflags", "--libs", package), *flags)
    return program, expected


def test_a_program_links_the_shared_library_and_records_its_version():
    libdir = rig.pkg_config("--variable=libdir", "plimsoll")[0]
    program, expected = built("shared", "plimsoll", f"-Wl,-rpath,{libdir}")
    assert rig.run(program) == expected
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", rig.run("readelf", "-dW", program))
    assert rig.SONAME in needed, needed
    assert rig.NODE in rig.run("readelf", "-VW", program)


def test_a_program_links_the_static_library():
    program, expected = built("static", "plimsoll-static")
    assert rig.run(program) == expected
    assert "libplimsoll" not in rig.run("readelf", "-dW", program)


def test_a_program_without_any_shared_library_links():
    program, expected = built("all_static", "plimsoll", "-static", static=("--static",))
    assert rig.run(program) == expected
    assert "NEEDED" not in rig.run("readelf", "-dW", program)


def test_the_private_libraries_are_those_that_rustc_names():
    source = rig.SCRATCH / "nothing.rs"
    source.write_text("")
    said = rig.run("rustc", "--crate-type", "staticlib", "--print", "native-static-libs",
                   "-o", rig.SCRATCH / "libnothing.a", source)
    said = set(shlex.split(re.search(r"native-static-libs: (.*)", said).group(1)))
    # A C compiler adds the C library and its own by itself; libutil and librt are empty, and std
    # has nothing of them.
    said -= {"-lc", "-lgcc_s", "-lutil", "-lrt"}
    static = set(rig.pkg_config("--static", "--libs-only-l", "plimsoll")) - {"-lplimsoll"}
    assert said <= static and static <= said | {"-lpthread", "-ldl", "-lm"}, (said, static)


def test_the_cpp_example_runs_on_the_installed_library():
    program = rig.SCRATCH / "balancer"
    libdir = rig.pkg_config("--variable=libdir", "plimsoll")[0]
    rig.run("c++", "-std=c++17", rig.ROOT / "ffi/examples/cpp/balancer.cpp", "-o", program,
            *rig.pkg_config("--cflags", "--libs", "plimsoll"), f"-Wl,-rpath,{libdir}", "-lpthread")
    assert rig.run(program).strip(), "it says what it does"


def test_every_header_compiles_alone_and_twice_as_c_and_as_cpp():
    flags = rig.pkg_config("--cflags", "plimsoll")
    include = rig.PREFIX / "include"
    for header in sorted(path for path in include.rglob("*") if path.is_file()):
        languages = [("c++", "c++17")] + [("c", "c99"), ("c++", "c++11")] * (header.suffix == ".h")
        for language, standard in languages:
            source = rig.SCRATCH / "includes"
            source.write_text(f"#include <{header.relative_to(include)}>\n" * 2)
            rig.run("cc", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic",
                    "-Werror", "-fsyntax-only", *flags, source)
