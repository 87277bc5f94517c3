"""What is in the two libraries, read from the files themselves: a flag that a linker ignored in
silence does not show anywhere else."""

import re

from . import rig


def readelf(*options, path=None):
    return rig.run("readelf", "-W", *options, path or rig.shared())


def dynamic(tag):
    return re.findall(rf"\({tag}\).*?\[(.*)\]", readelf("-d"))


def dynamic_symbols():
    """Each symbol that is defined or wanted: name, version, whether it is defined, its binding."""
    for line in readelf("--dyn-syms").splitlines():
        words = line.split()
        if len(words) >= 8 and words[0].rstrip(":").isdigit():
            name, _, version = words[7].partition("@")
            yield name, version.lstrip("@"), words[6] != "UND", words[4], words[3], version[:1] == "@"


def test_the_soname_is_that_of_the_series_and_the_links_lead_to_the_file():
    assert dynamic("SONAME") == [rig.SONAME], dynamic("SONAME")
    folder = rig.BUILD / "lib"
    assert str((folder / "libplimsoll.so").readlink()) == rig.SONAME
    assert str((folder / rig.SONAME).readlink()) == rig.shared().name


def test_the_shared_library_exports_the_functions_of_the_header_with_versions_and_nothing_else():
    exported = {}
    for name, version, defined, binding, kind, default in dynamic_symbols():
        if defined and kind != "OBJECT":
            assert binding == "GLOBAL" and kind == "FUNC", f"{name} is a {binding} {kind}"
            assert default, f"{name} has the version {version}, but not as its default"
            exported[name] = version
        elif defined:
            # The version node itself.
            assert re.fullmatch(r"PLIMSOLL_\d+\.\d+", name), f"{name} is exported"
    assert set(exported) == rig.declared(), set(exported) ^ rig.declared()
    known = set(re.findall(r"^(PLIMSOLL_\S+) \{", (rig.ROOT / "ffi/package/plimsoll.map").read_text(),
                           re.M))
    assert set(exported.values()) <= known, f"versions {set(exported.values())}, known {known}"
    assert rig.NODE in set(exported.values()), exported


def test_the_shared_library_wants_the_c_library_and_the_unwinder_and_nothing_else():
    expected = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2",
                "ld-linux-aarch64.so.1", "libpthread.so.0", "libdl.so.2"}
    needed = set(dynamic("NEEDED"))
    assert {"libc.so.6", "libgcc_s.so.1"} <= needed <= expected, needed
    assert not dynamic("RPATH") and not dynamic("RUNPATH")
    for name, version, defined, binding, _, _ in dynamic_symbols():
        if not defined and name and binding != "WEAK":
            assert re.match(r"(GLIBC|GCC)_", version), f"{name} is undefined"


def test_the_shared_library_is_position_independent_and_hardened():
    entries = readelf("-d")
    assert "TEXTREL" not in entries and "BIND_NOW" in entries
    segments = readelf("-l")
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.* RW +0x", segments), "the stack may be executed"
    for line in segments.splitlines():
        assert not re.match(r" *LOAD .* RWE ", line), f"writable and executable: {line}"


def test_what_was_stripped_lies_beside_and_belongs_to_it():
    debug = rig.BUILD / "lib/.debug" / f"{rig.shared().name}.debug"
    ids = [re.search(r"Build ID: (\S+)", readelf("-n", path=path)).group(1)
           for path in (rig.shared(), debug)]
    assert ids[0] == ids[1], ids
    assert len(rig.nm(debug, "--defined-only")) > 500
    assert not rig.nm(rig.shared(), "--defined-only"), "the library is not stripped"


def test_the_archive_defines_the_functions_of_the_header_and_nothing_else():
    symbols = rig.nm(rig.archive(), "--extern-only", "--defined-only")
    assert {name for _, name in symbols} == rig.declared()
    assert {kind for kind, _ in symbols} == {"T"}, symbols
    members = rig.run("ar", "t", rig.archive()).split()
    assert members == ["plimsoll.o"], members


def test_the_archive_wants_nothing_of_another_rust_library():
    wanted = {name for _, name in rig.nm(rig.archive(), "--undefined-only")}
    of_rust = {name for name in wanted if re.match(r"_R|_ZN|__rust|rust_|__rdl|__rg_", name)}
    assert wanted and not of_rust, of_rust


def test_the_archive_has_no_groups_bitcode_or_debug_information():
    assert "no section groups" in readelf("-g", path=rig.archive())
    sections = readelf("-S", path=rig.archive())
    assert ".text" in sections and ".eh_frame" in sections
    for name in (".debug_", ".llvmbc", ".gnu.lto"):
        assert name not in sections, name


def test_the_libraries_are_small():
    assert rig.shared().stat().st_size < 1_850_000, rig.shared().stat().st_size
    assert rig.archive().stat().st_size < 3_800_000, rig.archive().stat().st_size
