"""Memory: no leak in a long life, and no error of memory in the examples, found with what a user has:
the installed library, a sanitizer, valgrind."""

import os
from pathlib import Path

from . import proxy, rig

HERE = Path(__file__).parent
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
VALGRIND = ("valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible")


def test_a_million_picks_and_ten_thousand_updates_leave_nothing_behind():
    program = rig.SCRATCH / "leaks"
    wraps = ",".join(f"--wrap={name}"
                     for name in ("malloc", "calloc", "realloc", "posix_memalign", "free"))
    rig.cc("-O1", HERE / "leaks.c", "-o", program, f"-Wl,{wraps}",
           *rig.pkg_config("--cflags", "--libs", "plimsoll-static"))
    rig.run(program)


def balancer(name, package, *flags):
    """The C++ example, found through pkg-config."""
    program = rig.SCRATCH / name
    rig.run("c++", "-std=c++17", rig.ROOT / "ffi/examples/cpp/balancer.cpp", "-o", program,
            *rig.pkg_config("--cflags", "--libs", package), f"-Wl,-rpath,{rig.PREFIX / 'lib'}",
            "-lpthread", *flags)
    return program


def documented(number, name, package, *flags):
    """A C program of the documentation, found through pkg-config."""
    source, _ = rig.documented_program(number)
    program = rig.SCRATCH / f"{name}{number}"
    rig.cc(source, "-o", program, *rig.pkg_config("--cflags", "--libs", package),
           f"-Wl,-rpath,{rig.PREFIX / 'lib'}", *flags)
    return program


def test_the_examples_have_no_error_that_a_sanitizer_finds():
    for package in ("plimsoll", "plimsoll-static"):
        for number in range(2):
            rig.run(documented(number, f"sanitized-c-{package}", package, *SANITIZED))
        rig.run(balancer(f"sanitized-cpp-{package}", package, *SANITIZED))


def test_the_sanitizer_is_on():
    """A program that frees twice is stopped, so that the silence of the others means something."""
    source = rig.SCRATCH / "twice.c"
    source.write_text("""
        #include <plimsoll/plimsoll.h>
        int main(void) {
            plimsoll_error *error;
            plimsoll_cluster *cluster;
            if (plimsoll_cluster_open(PLIMSOLL_STR("["), NULL, &cluster, &error)) {
                plimsoll_error_free(error);
                plimsoll_error_free(error);
            }
            return 0;
        }""")
    program = rig.SCRATCH / "twice"
    rig.cc(source, "-o", program, *rig.pkg_config("--cflags", "--libs", "plimsoll-static"), *SANITIZED)
    assert "AddressSanitizer" in rig.run(program, fails=True)


def test_the_examples_have_no_error_and_no_leak_that_valgrind_finds():
    rig.need("valgrind")
    for number in range(2):
        rig.run(*VALGRIND, documented(number, "checked-c", "plimsoll"))
        rig.run(*VALGRIND, documented(number, "checked-c-static", "plimsoll-static"))
    rig.run(*VALGRIND, balancer("checked-cpp", "plimsoll"))


def test_the_example_proxy_has_no_error_of_memory():
    """It is stopped in good order, so that a leak or an error changes its status."""
    proxy.answers("sanitized-proxy", *SANITIZED)
    rig.need("valgrind")
    os.environ["PROXY_WRAPPER"] = " ".join(VALGRIND)
    try:
        proxy.answers("checked-proxy")
    finally:
        del os.environ["PROXY_WRAPPER"]


def test_programs_of_cmake_have_no_error_of_memory():
    """Both languages and both libraries through find_package."""
    rig.need("cmake")
    folder = rig.folder("cmake-memory")
    source, _ = rig.documented_program()
    (folder / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
find_package(Plimsoll REQUIRED)
find_package(Threads REQUIRED)
set(CMAKE_CXX_STANDARD 17)
add_compile_options({' '.join(SANITIZED)})
add_link_options({' '.join(SANITIZED)})
foreach(kind plimsoll plimsoll_static)
    add_executable(c-${{kind}} {source})
    add_executable(cpp-${{kind}} {rig.ROOT / "ffi/examples/cpp/balancer.cpp"})
    foreach(program c-${{kind}} cpp-${{kind}})
        target_link_libraries(${{program}} PRIVATE Plimsoll::${{kind}} Threads::Threads)
    endforeach()
endforeach()
""")
    rig.run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={rig.PREFIX}")
    rig.run("cmake", "--build", folder / "build", "--parallel", "2")
    for language in ("c", "cpp"):
        for kind in ("plimsoll", "plimsoll_static"):
            rig.run(folder / "build" / f"{language}-{kind}")
