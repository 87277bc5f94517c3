#!/bin/bash
# Runs every fuzz target for a while: fuzz/run.sh SECONDS
#
# Works with stable Rust: the flags that cargo-fuzz passes for coverage are stable ones, and the
# code under test has no unsafe blocks for a sanitizer to watch. A crash, ten seconds on one
# input or two gigabytes of memory end the run with a status other than 0; the input is then in
# fuzz/artifacts/TARGET/.
set -euo pipefail

seconds=${1:?usage: fuzz/run.sh SECONDS}
cd "$(dirname "$0")"

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --version 0.13.2 --locked

cargo fuzz build --fuzz-dir . --sanitizer none

for target in $(cargo fuzz list --fuzz-dir .); do
    mkdir -p "corpus/$target" "seeds/$target"
    dictionary=fields.dict
    [[ ! -f $target.dict ]] || dictionary=$target.dict
    echo "fuzz: $target for $seconds s"
    # The limit outside is for a target that ignores its own.
    timeout "$((seconds + 120))" cargo fuzz run "$target" --fuzz-dir . --sanitizer none \
        "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -dict="$dictionary" -verbosity=0 -print_final_stats=1
done
