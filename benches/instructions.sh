#!/usr/bin/env bash
# Counts the instructions of each case and compares them with instruction-budgets.txt.
#
#   benches/instructions.sh             all cases; fails above a limit, or 2 % above what is recorded
#   benches/instructions.sh --record    writes down what was counted
#
# Each case runs under callgrind with two numbers of iterations; the difference of the counts is
# what the iterations took, so that start-up cancels out. Counts repeat to a tenth of an
# instruction or so with the same compiler. What an empty loop takes is subtracted. Peers are
# counted to compare with; they have no budget.
set -euo pipefail
cd "$(dirname "$0")"

record=
case ${1-} in
    '') ;;
    --record) record=yes ;;
    *) echo "usage: benches/instructions.sh [--record]" >&2; exit 2 ;;
esac
if ! command -v valgrind >/dev/null; then
    echo "valgrind is missing: it is in the Debian package valgrind" >&2
    exit 1
fi

cargo build --release --locked --quiet --bin count
binary=${CARGO_TARGET_DIR:-target}/release/count
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

few=64000
many=192000

# Writes the instructions of one case and number of iterations to a file.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" "$2" 2>&1 \
        | awk '/Collected/ { print $4 }' >"$scratch/${1//\//:}.$2"
}
export -f count
export binary scratch

"$binary" --list >"$scratch/cases"
while read -r name; do printf '%s\0%s\0%s\0%s\0' "$name" $few "$name" $many; done \
    <"$scratch/cases" | xargs -0 -n 2 -P "$(nproc)" bash -c 'count "$1" "$2"' count

while read -r name; do
    file=$scratch/${name//\//:}
    echo "$name $(cat "$file.$few") $(cat "$file.$many")"
done <"$scratch/cases" >"$scratch/counted"

# The snapshot check is what it adds to a plain reference; everything else, to the empty loop.
awk -v iterations=$((many - few)) -v record="$record" -v output="$scratch/budgets" '
    FNR == NR && /^#/ { head = head $0 "\n"; next }
    FNR == NR { limit[$1] = $2; recorded[$1] = $3; next }
    NF != 3 { print "no count of " $1 > "/dev/stderr"; exit failed = 1 }
    { names[++n] = $1; each[$1] = ($3 - $2) / iterations }
    END {
        if (failed) exit 1
        line = "%-44s %12s %10s %10s %s\n"
        printf line, "case", "instructions", "recorded", "limit", ""
        printf "%s", head > output
        for (i = 1; i <= n; ++i) {
            name = names[i]
            base = name == "empty" ? 0 : each[name == "snapshot-check" ? "plain-reference" : "empty"]
            own = each[name] - base
            if (own < 0 && own > -0.005) own = 0
            if (!(name in limit)) limit[name] = recorded[name] = "-"
            verdict = "ok"
            if (name ~ /^peer/) verdict = "for comparison"
            else if (limit[name] != "-" && own > limit[name]) verdict = "ABOVE THE LIMIT"
            else if (recorded[name] == "-") verdict = "not recorded"
            else if (own > recorded[name] * 1.02 + 0.01) verdict = "ABOVE WHAT IS RECORDED"
            if (verdict ~ /LIMIT/ || verdict ~ /ABOVE/ && record == "") bad = 1
            printf line, name, sprintf("%.2f", own), recorded[name], limit[name], verdict
            printf "%-44s %6s %10.2f\n", name, limit[name], own > output
        }
        exit bad
    }
' instruction-budgets.txt "$scratch/counted" && status=0 || status=$?

if [ -n "$record" ] && [ -s "$scratch/budgets" ]; then
    cp "$scratch/budgets" instruction-budgets.txt
    echo "recorded in benches/instruction-budgets.txt"
fi
exit "$status"
