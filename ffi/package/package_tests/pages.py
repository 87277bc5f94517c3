"""What docs/linking.md says works as it stands there."""

from . import rig


def test_the_makefile_of_the_page_builds_the_program():
    folder = rig.folder("makefile")
    source, expected = rig.documented_program()
    (folder / "app.c").write_text(source.read_text())
    (folder / "Makefile").write_text(rig.blocks("docs/linking.md", "make")[0])
    where = {"PKG_CONFIG_PATH": str(rig.PREFIX / "lib/pkgconfig")}
    for goal in ("app", "app-static"):
        rig.run("make", "-C", folder, goal, "CFLAGS=-O1", env=where)
        assert rig.run(folder / goal) == expected, goal


def test_the_meson_file_of_the_page_builds_the_program():
    rig.need("meson")
    folder = rig.folder("meson")
    source, expected = rig.documented_program()
    (folder / "app.c").write_text(source.read_text())
    (folder / "meson.build").write_text(rig.blocks("docs/linking.md", "meson")[0])
    where = {"PKG_CONFIG_PATH": str(rig.PREFIX / "lib/pkgconfig")}
    rig.run("meson", "setup", folder / "build", folder, env=where)
    rig.run("meson", "compile", "-C", folder / "build")
    for program in ("app", "app-static"):
        assert rig.run(folder / "build" / program) == expected, program
