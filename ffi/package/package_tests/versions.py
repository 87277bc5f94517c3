"""One version, wherever it is written."""

import re

from . import rig


def macro(name):
    return re.search(rf"^#define PLIMSOLL_{name} (\S+)$", rig.HEADER.read_text(), re.M).group(1)


def test_the_header_the_library_and_the_package_files_have_one_version():
    assert [macro("VERSION_" + part) for part in ("MAJOR", "MINOR", "PATCH")] == [
        rig.MAJOR, rig.MINOR, rig.PATCH]
    number = (int(rig.MAJOR) * 1000 + int(rig.MINOR)) * 1000 + int(rig.PATCH)
    assert int(macro("VERSION_NUMBER")) == number
    assert rig.pkg_config("--modversion", "plimsoll") == [rig.VERSION]
    assert rig.pkg_config("--modversion", "plimsoll-static") == [rig.VERSION]
    file = rig.PREFIX / "lib/cmake/Plimsoll/PlimsollConfigVersion.cmake"
    assert f'set(PACKAGE_VERSION "{rig.VERSION}")' in file.read_text()


def test_the_library_says_the_version_of_its_header():
    source = rig.SCRATCH / "version.c"
    source.write_text("""
        #include <plimsoll/plimsoll.h>
        #include <stdio.h>
        int main(void) {
            printf("%s %d", plimsoll_version(), plimsoll_abi_version() == PLIMSOLL_ABI_VERSION);
            return 0;
        }""")
    program = rig.SCRATCH / "version"
    rig.cc(source, "-o", program, *rig.pkg_config("--cflags", "--libs", "plimsoll-static"))
    assert rig.run(program) == f"{rig.VERSION} 1"


def test_the_first_symbol_version_is_the_series():
    versions = re.findall(r"^(PLIMSOLL_\S+) \{",
                          (rig.ROOT / "ffi/package/plimsoll.map").read_text(), re.M)
    assert versions[0] == rig.NODE, versions


def test_no_template_has_a_place_left_to_fill():
    for path in [*rig.PREFIX.rglob("*.pc"), *rig.PREFIX.rglob("*.cmake")]:
        assert not re.search(r"@\w+@", path.read_text()), path
        assert str(rig.SCRATCH) not in path.read_text(), f"{path} cannot be moved"
