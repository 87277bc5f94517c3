"""Two Rust libraries in one program, and panics through the library as it is packaged.

Either of the two may come first on the command line and be static or shared. The second is built
with link-time optimization, which is what makes two static Rust libraries clash; so is ours."""

from pathlib import Path

from . import rig

HERE = Path(__file__).parent
built = {}


def second(kind):
    """The other library, of crate type `staticlib` or `cdylib`."""
    if kind not in built:
        path = rig.SCRATCH / ("libsecond.a" if kind == "staticlib" else "libsecond.so")
        rig.run("rustc", "--edition", "2024", "--crate-type", kind, "--crate-name", "second",
                "-C", "opt-level=2", "-C", "lto=fat", "-C", "codegen-units=1",
                "-o", path, HERE / "second.rs")
        built[kind] = path
    return built[kind]


def in_either_order(name, folder, ours, theirs, *flags):
    for order, libraries in (("first", (ours, theirs)), ("last", (theirs, ours))):
        program = rig.SCRATCH / f"{name}-{order}"
        rig.cc(*flags, "-I", rig.ROOT / "include", HERE / "second.c", "-o", program, *libraries,
               "-lpthread", "-ldl", "-lm", f"-Wl,-rpath,{folder}", f"-Wl,-rpath,{rig.SCRATCH}")
        output = rig.run(program)
        assert output.endswith("both work\n"), output


def in_every_combination(name, folder, *flags):
    for ours in ("libplimsoll.a", "libplimsoll.so"):
        for theirs in ("staticlib", "cdylib"):
            in_either_order(f"{name}-{ours}-{theirs}", folder, folder / ours, second(theirs), *flags)


def test_two_rust_libraries_live_in_one_program():
    in_every_combination("two", rig.BUILD / "lib")


def test_the_panics_of_two_rust_libraries_are_caught():
    in_every_combination("panics", rig.BUILD / "probe", "-DPROBE")


def test_a_program_may_load_and_unload_the_shared_library():
    source = rig.SCRATCH / "load.c"
    source.write_text(r"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <string.h>
        int main(int count, char **words) {
            for (int round = 0; round < 3; round++) {
                void *library = dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL);
                if (library == NULL) return puts(dlerror()), 1;
                const char *(*version)(void);
                void *found = dlvsym(library, "plimsoll_version", "NODE");
                if (found == NULL) return puts(dlerror()), 1;
                memcpy(&version, &found, sizeof version);
                puts(version());
                if (dlclose(library) != 0) return puts(dlerror()), 1;
            }
            return 0;
        }""".replace("NODE", rig.NODE))
    program = rig.SCRATCH / "load"
    rig.cc(source, "-o", program, "-ldl")
    assert rig.run(program, rig.shared()) == f"{rig.VERSION}\n" * 3
