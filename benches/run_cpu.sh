#!/bin/sh
# Measures the committed set of CPU benchmarks on this machine, in about half an hour:
#   benches/run_cpu.sh [FOLDER]
# FOLDER defaults to benches/runs/<date>-<machine>. Keep the machine quiet meanwhile.
# A quick look at something smaller: DEGREE=1,2 DOFS=1e4 NREPS=3 benches/run_cpu.sh /tmp/look
set -eu
degree=${DEGREE:-1..8}
dofs=${DOFS:-1.5e6}
threads=${THREADS:-1,2}
nreps=${NREPS:-21}

cd "$(dirname "$0")/.."
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
machine=$(printf '%s' "${processor:-$(uname -m)}" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-')
folder=${1:-benches/runs/$(date +%Y-%m-%d)-${machine%-}}
mkdir -p "$folder"
: > "$folder/command.txt"

cargo build --release --quiet -p femto-cli
femto=${CARGO_TARGET_DIR:-target}/release/femto

{
    echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "commit: $(git rev-parse HEAD)$(git diff --quiet HEAD || echo ', with changes')"
    echo "system: $(uname -srm)"
    echo "compiler: $(rustc --version)"
    echo "load before: $(cat /proc/loadavg)"
    echo "huge pages: $(cat /sys/kernel/mm/transparent_hugepage/enabled)"
    "$femto" devices
    lscpu
} > "$folder/machine.txt" 2>&1

# The JSON of one femto command, as the file that its first argument names.
measure() {
    file=$folder/$1.json
    shift
    echo "femto $*" | tee -a "$folder/command.txt" >&2
    "$femto" "$@" --json > "$file"
}

# The set, as the CSV and JSON files that the first argument names.
bench() {
    name=$1
    shift
    measure "$name" bench bp1 bp3 bp5 --degree "$degree" --dofs "$dofs" --threads "$threads" \
        --nreps "$nreps" --csv "$folder/$name.csv" "$@"
}

measure roofline roofline --threads "$threads"
bench bench --mesh sine --data-level on_the_fly,partial
bench bench-curved --mesh curved --data-level partial
bench bench-cg --mesh sine --data-level on_the_fly --cg
measure simplices bench simplices --device host --cells 1e6 --threads "$threads" --nreps "$nreps" \
    --csv "$folder/simplices.csv"
echo "$folder" >&2
