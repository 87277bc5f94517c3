"""`make install` and `make uninstall`."""

from . import rig


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_everything_is_installed():
    headers = {f"include/{name}" for name in files(rig.ROOT / "include")}
    expected = headers | {
        "lib/libplimsoll.a", "lib/libplimsoll.so", f"lib/{rig.SONAME}", f"lib/{rig.shared().name}",
        "lib/pkgconfig/plimsoll.pc", "lib/pkgconfig/plimsoll-static.pc",
        "lib/cmake/Plimsoll/PlimsollConfig.cmake", "lib/cmake/Plimsoll/PlimsollConfigVersion.cmake",
    }
    if (rig.BUILD / "bin/plimsoll").exists():
        expected.add("bin/plimsoll")
    assert files(rig.PREFIX) == expected, files(rig.PREFIX) ^ expected


def test_a_staged_installation_for_a_distribution_finds_itself():
    stage = rig.SCRATCH / "stage"
    place = {"DESTDIR": stage, "PREFIX": "/usr", "LIBDIR": "/usr/lib/x86_64-linux-gnu"}
    said = rig.make("install", **place)
    assert said == f"Plimsoll {rig.VERSION} is in {stage}, for /usr.\n", said
    libdir = stage / "usr/lib/x86_64-linux-gnu"
    include = rig.pkg_config("--variable=includedir", "plimsoll", libdir=libdir)[0]
    assert rig.run("realpath", include).strip() == str(stage / "usr/include"), include
    library = rig.pkg_config("--variable=libdir", "plimsoll", libdir=libdir)[0]
    assert rig.run("realpath", library).strip() == str(libdir), library

    strange = stage / "usr/lib/x86_64-linux-gnu/pkgconfig/other.pc"
    strange.write_text("")
    rig.make("uninstall", **place)
    assert files(stage) == {str(strange.relative_to(stage))}, files(stage)
    assert not (stage / "usr/include/plimsoll").exists()


def test_an_installation_ends_with_what_comes_next():
    prefix = rig.folder("next")
    said = rig.make("install", PREFIX=prefix)
    where = f"export PKG_CONFIG_PATH={prefix}/lib/pkgconfig"
    assert said == f"Plimsoll {rig.VERSION} is in {prefix}. Next: {where}\n", said


def test_a_relative_place_is_refused():
    for variable in ("PREFIX", "LIBDIR", "INCLUDEDIR", "BINDIR"):
        place = {"PREFIX": rig.SCRATCH / "absolute", variable: "relative"}
        said = rig.run(
            "make", "-C", rig.ROOT, "install", f"BUILD={rig.BUILD}",
            *(f"{name}={value}" for name, value in place.items()), fails=True,
        )
        assert f"{variable}=relative: must be an absolute path" in said, said
    assert not (rig.SCRATCH / "absolute").exists() and not (rig.ROOT / "relative").exists()
