#!/usr/bin/env bash
# Times the engine against its peers and prints the tables of docs/performance.md.
#
#   benches/run.sh             all groups: a few minutes
#   benches/run.sh GROUP...    snapshot stalled pick cold rebuild threads c
#
# Wants a C++ compiler, and a machine with little else to do: look at the load first.
set -euo pipefail
cd "$(dirname "$0")"

cargo build --release --locked --quiet --bin paired
echo "$(date -u +%F) $(uname -srm), $(nproc) cores, $(rustc --version), load$(uptime | sed 's/.*average//')"
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | uniq
exec "${CARGO_TARGET_DIR:-target}/release/paired" "$@"
