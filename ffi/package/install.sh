#!/usr/bin/env bash
# Puts what `make lib` built where programs look for it, or takes it away again:
#
#     install.sh install|uninstall BUILD VERSION
#
# PREFIX, LIBDIR, INCLUDEDIR and BINDIR say where, as absolute paths, DESTDIR what goes before all of
# them. Everything that is installed finds the rest of it relative to itself, so that the prefix may
# be moved.
set -euo pipefail

action=$1
build=$2
version=$3
here=$(cd "$(dirname "$0")" && pwd)
headers=$here/../../include/plimsoll

# A relative path would count from the source tree, which is seldom meant.
for variable in PREFIX LIBDIR INCLUDEDIR BINDIR; do
    case ${!variable:-/} in
    /*) ;;
    *) echo "$variable=${!variable}: must be an absolute path" >&2; exit 2 ;;
    esac
done
PREFIX=$(realpath -ms "${PREFIX:-/usr/local}")
LIBDIR=$(realpath -ms "${LIBDIR:-$PREFIX/lib}")
INCLUDEDIR=$(realpath -ms "${INCLUDEDIR:-$PREFIX/include}")
BINDIR=$(realpath -ms "${BINDIR:-$PREFIX/bin}")
lib=${DESTDIR:-}$LIBDIR
include=${DESTDIR:-}$INCLUDEDIR/plimsoll
bin=${DESTDIR:-}$BINDIR
file=libplimsoll.so.$version

# What a static library of Rust needs besides itself and the C library. package_tests/pkgconfig.py compares
# this with what rustc says.
LIBS_PRIVATE="-lpthread -ldl -lm"

# A template with its places filled in; the second argument is the folder that it is for.
filled() {
    local libs=${LIBS_PRIVATE//-l/}
    sed -e "s|@TO_PREFIX@|$(realpath -ms --relative-to="$2" "$PREFIX")|" \
        -e "s|@LIBDIR@|$(realpath -ms --relative-to="$PREFIX" "$LIBDIR")|" \
        -e "s|@INCLUDEDIR@|$(realpath -ms --relative-to="$PREFIX" "$INCLUDEDIR")|" \
        -e "s|@FILE@|$file|" -e "s|@SONAME@|$soname|" -e "s|@VERSION@|$version|" \
        -e "s|@MAJOR@|${version%%.*}|g" \
        -e "s|@POINTER@|$pointer|g" \
        -e "s|@LIBS_PRIVATE@|$LIBS_PRIVATE|" -e "s|@LIBS_CMAKE@|${libs// /;}|" "$here/$1"
}

put() {
    filled "$1.in" "$2" | install -m 644 /dev/stdin "${DESTDIR:-}$2/$1"
}

install_all() {
    if ! [ -e "$build/lib/$file" ]; then
        echo "$build/lib/$file is not there: make lib" >&2
        exit 1
    fi
    soname=$(readlink "$build/lib/libplimsoll.so")
    # The fifth byte of an ELF file is 2 where a pointer has 64 bits.
    [ "$(od -An -tu1 -j4 -N1 "$build/lib/$file")" -eq 2 ] && pointer=8 || pointer=4

    install -d "$lib/pkgconfig" "$lib/cmake/Plimsoll" "$include/cpp"
    install -m 644 "$headers"/plimsoll.{h,hpp} "$include/"
    install -m 644 "$headers"/cpp/*.hpp "$include/cpp/"
    install -m 644 "$build/lib/libplimsoll.a" "$lib/"
    install -m 755 "$build/lib/$file" "$lib/"
    ln -sf "$file" "$lib/$soname"
    ln -sf "$soname" "$lib/libplimsoll.so"
    put plimsoll.pc "$LIBDIR/pkgconfig"
    put plimsoll-static.pc "$LIBDIR/pkgconfig"
    put PlimsollConfig.cmake "$LIBDIR/cmake/Plimsoll"
    put PlimsollConfigVersion.cmake "$LIBDIR/cmake/Plimsoll"
    if [ -e "$build/bin/plimsoll" ]; then
        install -d "$bin"
        install -m 755 "$build/bin/plimsoll" "$bin/"
    fi
}

# Where things are now, and what has to come next for them to be found.
say_what_is_next() {
    if [ -n "${DESTDIR:-}" ]; then
        echo "Plimsoll $version is in $DESTDIR, for $PREFIX."
        return
    fi
    case $LIBDIR/ in
    /lib/* | /usr/lib/* | /usr/local/lib/*) next='sudo ldconfig' ;;
    *) next="export PKG_CONFIG_PATH=$LIBDIR/pkgconfig" ;;
    esac
    echo "Plimsoll $version is in $PREFIX. Next: $next"
}

uninstall_all() {
    rm -f "$lib"/libplimsoll.{a,so,so.*} "$lib"/pkgconfig/plimsoll{,-static}.pc "$bin/plimsoll"
    rm -f "$lib"/cmake/Plimsoll/PlimsollConfig{,Version}.cmake "$include"/*.h "$include"/{,cpp/}*.hpp
    for folder in "$lib/cmake/Plimsoll" "$include/cpp" "$include"; do
        [ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty "$folder"
    done
}

case $action in
install) install_all; say_what_is_next ;;
uninstall) uninstall_all ;;
*) echo "install.sh install|uninstall BUILD VERSION" >&2; exit 2 ;;
esac
