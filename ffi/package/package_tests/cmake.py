"""Programs that find the library through CMake, in a prefix that has moved."""

from . import rig


def configured(name, lists, *options, fails=False):
    rig.need("cmake")
    folder = rig.folder(name)
    source, expected = rig.documented_program()
    (folder / "app.c").write_text(source.read_text())
    (folder / "CMakeLists.txt").write_text(lists)
    output = rig.run("cmake", "-S", folder, "-B", folder / "build",
                     f"-DCMAKE_PREFIX_PATH={rig.PREFIX}", *options, fails=fails)
    return folder / "build", expected, output


def test_the_example_of_the_page_links_both_libraries():
    build, expected, _ = configured("cmake", rig.blocks("docs/linking.md", "cmake")[0])
    rig.run("cmake", "--build", build)
    for program in ("app", "app-static"):
        assert rig.run(build / program) == expected, program
    assert rig.SONAME in rig.run("readelf", "-dW", build / "app")
    assert "libplimsoll" not in rig.run("readelf", "-dW", build / "app-static")


def asked_for(request):
    return ("cmake_minimum_required(VERSION 3.16)\nproject(app C)\n"
            f"find_package(Plimsoll {request} REQUIRED)\n")


def test_a_version_of_the_series_is_met_and_no_other():
    older, newer = f"{rig.MAJOR}.{int(rig.MINOR) + 1}", f"{rig.MAJOR}.{rig.MINOR}.999"
    for request in ("", f"{rig.MAJOR}.{rig.MINOR}", f"{rig.VERSION} EXACT",
                    f"{rig.MAJOR}.{rig.MINOR}...{int(rig.MAJOR) + 1}", "COMPONENTS shared static"):
        configured("met", asked_for(request))
        rig.run("rm", "-r", rig.SCRATCH / "met/build")
    for request in (older, newer, str(int(rig.MAJOR) + 1), "COMPONENTS frobnicator"):
        _, _, output = configured("unmet", asked_for(request), fails=True)
        assert "Plimsoll" in output, output
        rig.run("rm", "-r", rig.SCRATCH / "unmet/build")


def test_a_package_without_the_archive_still_has_the_shared_library():
    """As distributions divide it."""
    archive = rig.PREFIX / "lib/libplimsoll.a"
    aside = archive.rename(rig.SCRATCH / "aside.a")
    try:
        configured("divided", asked_for("COMPONENTS shared"))
        _, _, output = configured("divided", asked_for("COMPONENTS static"), fails=True)
        assert "there is no static Plimsoll" in output, output
    finally:
        aside.rename(archive)
