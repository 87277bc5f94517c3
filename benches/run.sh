#!/usr/bin/env bash
# Times the engine against its peers and prints the tables of docs/performance.md.
#
#   benches/run.sh             all groups: a few minutes
#   benches/run.sh GROUP...    snapshot stalled weighted evenness pick cold least_request rebuild
#                              reports localities hashing threads c
#   benches/run.sh --pingora GROUP...    with pingora's round robin in weighted and evenness: wants
#                                        cmake, and several minutes more to build
#
# Wants a C++ compiler, and a machine with little else to do: look at the load first.
set -euo pipefail
cd "$(dirname "$0")"

features=()
if [ "${1-}" = --pingora ]; then
    shift
    if ! command -v cmake >/dev/null; then
        echo "cmake is missing: it is in the Debian package cmake" >&2
        exit 1
    fi
    features=(--features pingora)
fi

cargo build --release --locked --quiet "${features[@]}" --bin paired
echo "$(date -u +%F) $(uname -srm), $(nproc) cores, $(rustc --version), load$(uptime | sed 's/.*average//')"
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | uniq
exec "${CARGO_TARGET_DIR:-target}/release/paired" "$@"
