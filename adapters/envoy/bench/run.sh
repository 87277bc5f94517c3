#!/usr/bin/env bash
# Measures the module in Envoy 1.40.0 and prints the tables of docs/performance.md: about four minutes
# besides building. Wants a machine with little else to do: look at the load first.
#
#     adapters/envoy/bench/run.sh [ROUNDS [SECONDS]]
set -euo pipefail
cd "$(dirname "$0")/../../.."

make --no-print-directory envoy-module load-driver >&2
target=${CARGO_TARGET_DIR:-target}
cargo build --release --locked --quiet -p plimsoll-envoy --features time-picks \
    --target-dir "$target/time-picks"
echo "$(date -u +%F) $(uname -srm), $(nproc) cores, $(rustc --version), load$(uptime | sed 's/.*average//')"
python3 adapters/envoy/bench/run.py "$(adapters/envoy/fetch)" build/envoy \
    "$target/time-picks/release" build/bin "$@"
