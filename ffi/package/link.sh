#!/usr/bin/env bash
# Makes what C programs link of the archive that cargo builds:
#
#     link.sh ARCHIVE VERSION FOLDER
#
#     FOLDER/libplimsoll.a                 for static linking: one object, nothing global but plimsoll_*
#     FOLDER/libplimsoll.so.1.0.0          for dynamic linking, stripped; VERSION is 1.0.0 here
#     FOLDER/libplimsoll.so.1 and .so      links to it; the first is its SONAME
#     FOLDER/.debug/                       what was stripped; gdb and perf look for it there
#
# A static Rust library carries the whole of std with it, under names that every other static Rust
# library has as well: two of them do not link into one program, or they do and each calls half of
# the other. So everything is linked into one object first, whose names are then its own. The shared
# library is made of the same object by the C compiler, because rustc gives a cdylib neither a
# SONAME nor, whatever version script it is given, symbol versions.
set -euo pipefail

archive=$1
version=$2
folder=$3
here=$(cd "$(dirname "$0")" && pwd)
CC=${CC:-cc}
LD=${LD:-ld.bfd}
OBJCOPY=${OBJCOPY:-objcopy}
NM=${NM:-nm}
AR=${AR:-ar}

# Binaries that may meet have the same SONAME: those of one major version.
soname=libplimsoll.so.${version%%.*}
file=libplimsoll.so.$version

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder/.debug"

# What everything else is there for. The archive also holds LLVM's bitcode, which nm would hand to
# clang's plugin where that is installed, so it gets none.
"$NM" --plugin /dev/null --defined-only --extern-only "$archive" |
    sed -n 's/^[0-9a-f]* T \(plimsoll_.*\)/--undefined=\1/p' | sort -u >"$work/roots"
[ -s "$work/roots" ] || { echo "$archive defines no function plimsoll_*" >&2; exit 1; }

# --force-group-allocation dissolves COMDAT groups. They are kept or dropped by name when a program
# is linked, and the personality routine of panics is in one: with a second library such as this,
# its group would be dropped and the first caught panic would end in a segmentation fault.
"$LD" -r --gc-sections --force-group-allocation "@$work/roots" -o "$work/whole.o" "$archive"
# The bitcode goes as well; nothing can use it any more, and clang's plugin stumbles over it.
"$OBJCOPY" --wildcard --keep-global-symbol='plimsoll_*' \
    --remove-section=.llvmbc --remove-section=.llvmcmd "$work/whole.o"

"$CC" -shared -fuse-ld=bfd -o "$work/$file" "$work/whole.o" \
    -Wl,-soname,"$soname" -Wl,--version-script="$here/plimsoll.map" \
    -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed -Wl,--build-id \
    -Wl,--gc-sections -Wl,-O1 -Wl,--hash-style=gnu -lpthread -ldl -lm
"$OBJCOPY" --only-keep-debug "$work/$file" "$work/$file.debug"
chmod a-x "$work/$file.debug"
(cd "$work" && "$OBJCOPY" --strip-unneeded --add-gnu-debuglink="$file.debug" "$file")

# A static library is stripped of std's line tables, which would be most of it; names remain.
"$OBJCOPY" --strip-debug "$work/whole.o" "$work/plimsoll.o"
(cd "$work" && "$AR" -crsD libplimsoll.a plimsoll.o)

install -m 644 "$work/libplimsoll.a" "$folder/"
install -m 755 "$work/$file" "$folder/"
install -m 644 "$work/$file.debug" "$folder/.debug/"
ln -sf "$file" "$folder/$soname"
ln -sf "$soname" "$folder/libplimsoll.so"
