#!/usr/bin/env bash
# Six origins, the example proxy in front of them, and a load: kills origins, brings them back,
# changes a weight, and compares who answered with who should have. Then three origins of different
# size that report how busy they are. Then five origins with sessions that stay where they are, while
# one origin dies and comes back. Then three zones, the nearest of which is too small for the
# load: how much of it stays there, natively and as in Envoy.
#
#     examples/demo.sh BUILD_DIR        BUILD_DIR holds the programs proxy, origin and load
#
# What is expected is computed here, from the cluster file's weights (or the origins' capacities) and
# Envoy's rule for priorities, and not asked of the proxy. What the proxy says itself (the column
# "share" of its admin page /hosts) is shown beside it and has to agree.
#
# Tolerance: round robin is not random. The library promises that no host is more than 6 picks ahead
# or behind, for each worker thread. A phase is a window of that sequence, which has two ends, and
# the proxy runs 2 threads: 2 x 2 x 6 = 24 picks, which of 20 000 requests are 0.12 points. Weights
# by reports stay until they are 1/128 off, which is 0.4 points at most: 1 point more is allowed.
# Sessions: where they go is no matter of chance, so each request of one has to find its origin. When
# an origin dies a Maglev table is filled anew, in turns, and some places of other origins change hands
# too: 1 in 50 is what is usual with five origins, 1 in 20 is allowed.
# How traffic divides among zones over time depends on the machine. Checked is only that the nearest
# zone gets something and not everything, and that natively its share stays within 30 points after
# four seconds. It is still on its way down by 6 or 7 then, where Envoy's swings by 30 to 70.
#
# Exit status: 0 if every phase agrees and no request failed, 1 otherwise.

set -euo pipefail
export LC_ALL=C

if [ $# -ne 1 ] || [ ! -x "$1/proxy" ]; then
    echo "usage: $0 BUILD_DIR (with the programs proxy, origin and load)" >&2
    exit 2
fi
build=$1
here=$(cd "$(dirname "$0")" && pwd)

threads=2
requests=20000
picks_off=24
points_off=0
priority_factor=140 # Envoy's overprovisioning factor, which the cluster file leaves at its default

cluster=cluster
names=(a1 a2 b1 b2 c1 c2) # in the order of the cluster file
capacities=()             # requests per second, of origins that report their load
sessions=                 # how many, of the act that has some
delay_ms=                 # how long an origin takes for an answer
proxy_options=()          # besides those that every act has
up=(1 1 1 1 1 1)
ports=()
origin_pids=()
proxy_pid=
load_pid=
failures=0
all_requests=0
retries=0

green='' red='' bold='' plain=''
if [ -t 1 ]; then
    green=$'\e[32m' red=$'\e[31m' bold=$'\e[1m' plain=$'\e[0m'
fi

work=$(mktemp -d)
stop_all() {
    for pid in "${origin_pids[@]}" $proxy_pid $load_pid; do
        kill "$pid" 2>>"$work/noise" || true
    done
    wait 2>>"$work/noise" || true
    origin_pids=() proxy_pid='' load_pid=''
}
clean_up() {
    stop_all
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# Waits up to 10 seconds for a command to succeed.
wait_for() { # WHAT COMMAND...
    local what=$1
    shift
    for _ in $(seq 200); do
        if "$@"; then
            return
        fi
        sleep 0.05
    done
    echo "waited in vain for $what" >&2
    exit 1
}

port_is_known() { grep -q 'port [0-9]' "$1"; }

# The N-th "port NUMBER" of a file.
port_in() { grep -o 'port [0-9]*' "$1" | sed -n "${2}s/port //p"; }

start_origin() { # INDEX PORT
    local name=${names[$1]}
    : >"$work/$name.out"
    "$build/origin" --name "$name" --listen "127.0.0.1:$2" \
        ${capacities[$1]:+--capacity "${capacities[$1]}"} \
        ${delay_ms:+--delay-ms "$delay_ms"} >"$work/$name.out" &
    origin_pids[$1]=$!
    wait_for "origin $name" port_is_known "$work/$name.out"
    ports[$1]=$(port_in "$work/$name.out" 1)
}

kill_origin() { # INDEX
    kill -KILL "${origin_pids[$1]}"
    wait "${origin_pids[$1]}" 2>>"$work/noise" || true
    unset "origin_pids[$1]"
}

# The committed cluster file, with the ports that the origins were given.
write_cluster() {
    local substitutions=()
    for i in "${!names[@]}"; do
        substitutions+=(-e "s/1808$((i + 1))/${ports[$i]}/")
    done
    sed "${substitutions[@]}" "$here/$cluster.yaml" >"$work/cluster.yaml"
}

start_proxy() {
    : >"$work/proxy.out"
    "$build/proxy" --cluster "$work/cluster.yaml" --threads "$threads" \
        --health-path /healthz --health-interval-ms 200 "${proxy_options[@]}" >"$work/proxy.out" &
    proxy_pid=$!
    wait_for "the proxy" port_is_known "$work/proxy.out"
    port=$(port_in "$work/proxy.out" 1)
    admin=$(port_in "$work/proxy.out" 2)
    cat "$work/proxy.out"
}

# All origins, with a proxy in front.
start_all() {
    local i
    ports=()
    for i in "${!names[@]}"; do
        start_origin "$i" 0
    done
    write_cluster
    start_proxy
}

# An admin page without its head. Bash opens the connection itself: no curl needed.
page() { # PATH
    exec 3<>"/dev/tcp/127.0.0.1/$admin"
    printf 'GET %s HTTP/1.1\r\nHost: admin\r\n\r\n' "$1" >&3
    sed '1,/^\r$/d' <&3
    exec 3>&-
}

# Whether the proxy's idea of each host's health is ours.
health_is_known() {
    local i healthy
    page /hosts >"$work/hosts"
    for i in "${!names[@]}"; do
        healthy=0
        if grep -q "127.0.0.1:${ports[$i]} *healthy" "$work/hosts"; then
            healthy=1
        fi
        if [ "$healthy" != "${up[$i]}" ]; then
            return 1
        fi
    done
}

weight_is_read() { page /stats | grep -q '^proxy.reloads: 1$'; }

reports_are_weighed() { page /stats | grep -q "^plimsoll.weights_usable: ${#names[@]}\$"; }

# A line for each host, "NAME PRIORITY WEIGHT UP", from the cluster file in use or, where hosts
# report their load, from their capacities.
hosts() {
    local i
    for i in "${!capacities[@]}"; do
        echo "${names[$i]} 0 ${capacities[$i]} ${up[$i]}"
    done
    awk -v names="${names[*]}" -v up="${up[*]}" '
        BEGIN { split(names, name, " "); split(up, is_up, " ") }
        $1 == "priority:" { priority = $2 }
        $1 == "load_balancing_weight:" { n++; print name[n], priority, $2, is_up[n] }
    ' "$work/cluster.yaml"
}

# A line for each host, "NAME PERCENT": a priority can take factor x healthy hosts / hosts of the
# requests, at most all; priority 1 gets what priority 0 cannot take; inside a priority the healthy
# hosts share by weight.
expected() {
    hosts | awk -v factor="$priority_factor" '
        {
            name[NR] = $1; priority[NR] = $2; weight[NR] = $3 * $4
            hosts[$2]++; healthy[$2] += $4; sum[$2] += $3 * $4
        }
        END {
            load[0] = factor * healthy[0] / hosts[0]
            load[0] = load[0] > 100 ? 100 : load[0]
            load[1] = 100 - load[0]
            for (i = 1; i <= NR; i++)
                printf "%s %.6f\n", name[i], load[priority[i]] * weight[i] / sum[priority[i]]
        }'
}

# The same as the proxy says it: the share is the second last word of a line, before the "%".
said() {
    page /hosts >"$work/hosts"
    for i in "${!names[@]}"; do
        awk -v name="${names[$i]}" -v address="127.0.0.1:${ports[$i]}" \
            '$3 == address { print name, $(NF - 1) }' "$work/hosts"
    done
}

# Prints what was expected and seen of each host; fails if they are too far apart.
compare() { # FILES: expected, said, the load's output, hosts
    awk -v picks="$picks_off" -v points="$points_off" \
        -v green="$green" -v red="$red" -v plain="$plain" '
        FILENAME ~ /expected$/ { expected[$1] = $2; next }
        FILENAME ~ /said$/ { said[$1] = $2; next }
        FILENAME ~ /load$/ {
            split($2, second, "="); split($3, third, "=")
            if ($1 == "origin") seen[second[2]] = third[2]
            if ($1 == "total") n = second[2]
            next
        }
        FNR == 1 {
            tolerance = 100 * picks / n + points
            print "  host  priority  weight  state  expected %  proxy says %   seen %  difference"
        }
        {
            share = 100 * seen[$1] / n
            difference = share - expected[$1]
            gap = said[$1] - expected[$1]
            wrong = difference > tolerance || difference < -tolerance
            wrong = wrong || said[$1] == "" || gap > 0.01 + points || gap < -0.01 - points
            deviating += wrong
            printf "  %-4s  %8d  %6d  %-5s  %10.3f  %12.3f  %7.3f  %s%+10.3f%s\n",
                $1, $2, $3, $4 ? "up" : "down", expected[$1], said[$1], share,
                wrong ? red : "", difference, wrong ? plain : ""
        }
        END {
            verdict = deviating ? red deviating " hosts deviate" : green "as expected"
            printf "  %d requests, tolerance %.3f points: %s%s\n", n, tolerance, verdict, plain
            exit deviating > 0
        }' "$@"
}

# Who answered in each quarter of a second, in percent.
print_slices() { # THE LOAD'S OUTPUT
    awk -v names="${names[*]}" '
        $1 == "slice" {
            split($2, start, "="); split($3, origin, "="); split($4, n, "=")
            count[start[2], origin[2]] += n[2]; sum[start[2]] += n[2]
        }
        END {
            split(names, name, " ")
            printf "  %5s", "ms"
            for (i = 1; i in name; i++) printf "  %6s", name[i]
            for (ms = 0; ms < 1750 && sum[ms] > 0; ms += 250) {
                printf "\n  %5d", ms
                for (i = 1; i in name; i++) printf "  %6.2f", 100 * count[ms, name[i]] / sum[ms]
            }
            printf "\n"
        }' "$1"
}

# What each zone answered in each piece of so many ms, in percent, and how many answers that were.
# The first letter of an origin's name is its zone.
zone_slices() { # THE LOAD'S OUTPUT, MS
    awk -v step="$2" '
        $1 == "slice" {
            split($2, start, "="); split($3, origin, "="); split($4, n, "=")
            at = start[2] - start[2] % step
            count[at, substr(origin[2], 1, 1)] += n[2]; sum[at] += n[2]
        }
        END {
            for (ms = 0; ms < 8000; ms += step) {
                percent = sum[ms] > 0 ? 100 / sum[ms] : 0
                printf "%5d  %6.2f  %6.2f  %6.2f  %d\n", ms, percent * count[ms, "a"],
                    percent * count[ms, "b"], percent * count[ms, "c"], sum[ms]
            }
        }' "$1"
}

# Says how much the share of the nearest zone varied after four seconds, and fails if it got
# nothing or everything, or varied by more than so many points. Where the machine stood still, and
# only a few were answered, there is nothing to see.
sum_up() { # BEHAVIOR POINTS
    zone_slices "$work/load.$1" 250 | awk -v behavior="$1" -v points="$2" -v red="$red" \
        -v plain="$plain" '
        $1 < 4000 || $5 < 200 { next }
        { n++; sum += $2 }
        n == 1 || $2 < least { least = $2 }
        n == 1 || $2 > most { most = $2 }
        n > 1 { moved += $2 > before ? $2 - before : before - $2 }
        { before = $2 }
        END {
            wrong = n < 2 || sum <= 0 || sum >= 100 * n || most - least > points
            printf "  %s: from 4 s on zone a gets %.1f to %.1f %%, a spread of %.1f points;",
                behavior, least, most, most - least
            printf " it moves by %.1f in 250 ms%s\n", (n > 1 ? moved / (n - 1) : 0),
                (wrong ? red ", which is wrong" plain : "")
            exit wrong
        }'
}

# Every request has to be answered, and with 200.
count_failures() { # THE LOAD'S OUTPUT
    local total bad
    total=$(sed -n 's/^total requests=\([0-9]*\).*/\1/p' "$1")
    bad=$(awk -F'[= ]' '/^failed/ || (/^status/ && $3 != 200) { n += $NF }
        END { print n + 0 }' "$1")
    all_requests=$((all_requests + total))
    if [ "$bad" -gt 0 ]; then
        failures=$((failures + 1))
        echo "  $red$bad requests failed$plain"
        grep -E '^(failed|status)' "$1"
    fi
}

run_load() { # OUTPUT ARGUMENT...
    local output=$1
    shift
    "$build/load" --target "127.0.0.1:$port" --connections 8 "$@" >"$output"
}

# Sends requests while nothing changes, and compares.
phase() { # TITLE
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
    wait_for "the health checks" health_is_known
    run_load "$work/load" --requests "$requests" --seconds 10
    hosts >"$work/hosts_in_use"
    expected >"$work/expected"
    said >"$work/said"
    compare "$work/expected" "$work/said" "$work/load" "$work/hosts_in_use" ||
        failures=$((failures + 1))
    count_failures "$work/load"
}

# Does something while a load runs, and shows the split over time.
transition() { # TITLE COMMAND...
    printf '\n%s%s%s, half a second into a load; %% of the answers:\n' "$bold" "$1" "$plain"
    shift
    run_load "$work/load" --seconds 1.75 --slice-ms 250 &
    load_pid=$!
    sleep 0.5
    "$@"
    wait "$load_pid"
    load_pid=
    print_slices "$work/load"
    count_failures "$work/load"
}

start_both() {
    start_origin 1 "${ports[1]}"
    start_origin 3 "${ports[3]}"
}

change_weight() {
    # The first weight of the file is a1's.
    sed -i '0,/load_balancing_weight: 3/s//load_balancing_weight: 1/' "$work/cluster.yaml"
    kill -HUP "$proxy_pid"
}

# What the hosts last said of their load.
print_reports() {
    page /weights | awk -v names="${names[*]}" '
        BEGIN { split(names, name, " "); print "  host  utilization  reported weight" }
        NR > 1 { printf "  %-4s  %11.3f  %15.1f\n", name[NR - 1], $6, $8 }'
}

# Asks for each session once, over one connection, and writes a line "SESSION ORIGIN" for each.
ask_sessions() { # OUTPUT
    local i
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    for ((i = 1; i <= sessions; i++)); do
        printf 'GET / HTTP/1.1\r\nHost: demo\r\nX-Session: session-%d\r\n' "$i"
        if [ "$i" -eq "$sessions" ]; then
            printf 'Connection: close\r\n'
        fi
        printf '\r\n'
    done >&3
    tr -d '\r' <&3 | awk 'tolower($1) == "x-origin:" { print ++n, $2 }' >"$1"
    exec 3>&-
    all_requests=$((all_requests + sessions))
    if [ "$(wc -l <"$1")" -ne "$sessions" ]; then
        failures=$((failures + 1))
        echo "  ${red}of $sessions requests $(wc -l <"$1") were answered by an origin$plain"
    fi
}

# How many sessions each origin had, and how many moved when one died; fails if any session was at two
# origins, if too many moved, or if one did not come back.
compare_sessions() { # THE ORIGIN THAT DIED, FILES: before (twice), without it, after
    awk -v dead="$1" -v names="${names[*]}" -v green="$green" -v red="$red" -v plain="$plain" '
        FNR == 1 { file++ }
        { at[file, $1] = $2; had[file, $2]++ }
        file == 1 { n++ }
        END {
            for (i = 1; i <= n; i++) {
                strays += at[1, i] != at[2, i]
                lost += at[1, i] != at[4, i]
                if (at[1, i] == dead) { its++; left += at[3, i] != dead }
                else moved += at[1, i] != at[3, i]
            }
            split(names, name, " ")
            printf "  host  sessions  without %s  with it again\n", dead
            for (i = 1; i in name; i++)
                printf "  %-4s  %8d  %10d  %13d\n", name[i], had[1, name[i]], had[3, name[i]],
                    had[4, name[i]]
            printf "  of %d sessions %d were at two origins; %d of %d left %s; %d of %d others moved;",
                n, strays, left, its, dead, moved, n - its
            printf " %d did not come back: ", lost
            wrong = n == 0 || its == 0 || strays > 0 || left < its || moved > (n - its) / 20 || lost > 0
            print (wrong ? red "that is wrong" : green "as expected") plain
            exit wrong
        }' "${@:2}"
}

# A load that zone a is too small for, with one behavior. So many connections, each of them waiting
# as long as an origin takes, are the same load on every machine: about 3100 requests a second.
run_zones() { # BEHAVIOR
    proxy_options=(--region local --zone a --behavior "$1")
    start_all
    run_load "$work/load.$1" --connections 64 --seconds 8 --slice-ms 250
    count_failures "$work/load.$1"
    count_retries
    stop_all
}

count_retries() { retries=$((retries + $(page /stats | sed -n 's/^proxy.retries: //p'))); }

start_all
phase "All hosts are up: priority 0 takes everything, and its hosts share by weight"
transition "a2 is killed" kill_origin 1
up[1]=0
phase "a2 is down: 3 of 4 hosts x 1.4 is more than all, so priority 0 still takes everything"
transition "b2 is killed, too" kill_origin 3
up[3]=0
phase "a2 and b2 are down: 2 of 4 hosts x 1.4 is 70 %, and priority 1 gets 30 %"
transition "a2 and b2 are started again" start_both
up[1]=1 up[3]=1
phase "All hosts are up again"
transition "a1's weight becomes 1, and the proxy gets a SIGHUP" change_weight
wait_for "the reload" weight_is_read
phase "a1 has weight 1"

count_retries
stop_all

cluster=orca
names=(10k 20k 30k)
capacities=(10000 20000 30000)
up=(1 1 1)
points_off=1
printf '\nThree other origins, with their capacities for names:\n'
start_all
printf '\n%sThey report their load%s, which has just begun; %% of the answers:\n' "$bold" "$plain"
run_load "$work/load" --seconds 1.75 --slice-ms 250
print_slices "$work/load"
count_failures "$work/load"
wait_for "the reports" reports_are_weighed
print_reports
phase "Each host gets requests by its capacity, which only its reports tell"
count_retries
stop_all

cluster=maglev
names=(s1 s2 s3 s4 s5)
capacities=()
up=(1 1 1 1 1)
sessions=500
printf '\nFive other origins, and %d sessions, named by the header x-session:\n' "$sessions"
start_all
printf '\n%sEach session stays with its origin%s, by maglev; s3 is killed and comes back:\n' "$bold" "$plain"
wait_for "the health checks" health_is_known
ask_sessions "$work/sessions.first"
ask_sessions "$work/sessions.again"
kill_origin 2
up[2]=0
wait_for "the health checks" health_is_known
ask_sessions "$work/sessions.without"
start_origin 2 "${ports[2]}"
up[2]=1
wait_for "the health checks" health_is_known
ask_sessions "$work/sessions.back"
compare_sessions s3 "$work"/sessions.{first,again,without,back} || failures=$((failures + 1))
count_retries
stop_all

cluster=localities
names=(a1 b1 b2 c1 c2)
capacities=(1200 1200 1200 1200 1200)
delay_ms=20
printf '\nThree zones, five origins for 1200 requests a second each; first native, then Envoy:\n'
run_zones native
run_zones envoy
printf '\n%sZone a is the nearest, and too small%s: one origin of 5; %% of the answers by zone:\n' \
    "$bold" "$plain"
printf '            native                    envoy\n'
printf '  %5s  %6s  %6s  %6s   %6s  %6s  %6s\n' ms a b c a b c
paste -d ' ' <(zone_slices "$work/load.native" 500 | cut -c -29) \
    <(zone_slices "$work/load.envoy" 500 | cut -c 6-29) | sed 's/^/  /'
sum_up native 30 || failures=$((failures + 1))
sum_up envoy 100 || failures=$((failures + 1))

printf '\n%d requests, %d of them retried on another host. ' "$all_requests" "$retries"
if [ "$failures" -gt 0 ]; then
    echo "$red$failures checks failed.$plain"
    exit 1
fi
echo "${green}Every phase is as expected, and no request failed.$plain"
