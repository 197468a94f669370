#!/bin/sh
# Measures the committed set of GPU benchmarks with a femto that is already built:
#   benches/run_gpu.sh FEMTO FOLDER [PART...]
# Parts, with seconds on an H200 with 16 processor cores that compile (estimates where marked ~):
#   kernels      BK1, BK5, BK3 element-local, 5e7 nodes, both data levels (~60), and factors in single
#                precision
#   operators    BP1, BP3, BP5 on L-vectors, 5e7 unknowns, both data levels (~110)
#   cg           iterations of BP5, degrees 2 to 7 (45); cg-high: degrees 8 to 10 (~30)
#   ladders      every published step, N = 1 to 15, 5e7 nodes (~130), with figures
#   ladders-4096 the same of 4096 elements (~90); ladders-512 (~90)
#   simplices    Knepley, Rupp, Terrel 2016, section 6: every schedule on triangles and tetrahedra (~100)
# Without parts: kernels operators cg cg-high ladders ladders-4096 simplices.
# DEVICE=opencl:0 measures another device, NREPS=21 more samples; ladders and simplices take 5 samples of
# at least 5 ms.
set -eu
femto=$1
folder=$2
shift 2
parts=${*:-kernels operators cg cg-high ladders ladders-4096 simplices}
device=${DEVICE:-cuda:0}
nreps=${NREPS:-11}
mkdir -p "$folder"
{
    echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "system: $(uname -srm)"
    "$femto" --version
    "$femto" devices
} > "$folder/machine.txt" 2>&1

# One bench: name of the file, arguments.
bench() {
    file=$folder/$1.csv
    shift
    echo "femto bench $* --device $device" | tee -a "$folder/command.txt" >&2
    "$femto" bench "$@" --device "$device" --kept --csv "$file" > "$file.txt" || true
    rm "$file.txt"
}

# Operators are compiled on all cores before the first row.
rows() {
    name=$1
    shift
    bench "$name" "$@" --nreps "$nreps" --compile-first
}

# All ladders of one size, each with its figure.
ladder() {
    size=$1
    for benchmark in bk1 bk5 bk3; do
        bench "ladder-$size-$benchmark" $benchmark --ladder --degree 1..15 --elements "$size" \
            --nreps 5 --figure "$folder/ladder-$size-$benchmark.svg"
    done
}

"$femto" roofline --device "$device" --json > "$folder/roofline.json"
for part in $parts; do
    case $part in
        kernels)
            rows bk5 bk5 --data-level partial,on_the_fly --degree 1..15 --elements large
            rows bk5-single bk5 --data-level partial --factors single --degree 1..15 --elements large
            rows bk1 bk1 --data-level partial --degree 1..15 --elements large
            rows bk3 bk3 --data-level partial --degree 1..15 --elements large
            ;;
        operators)
            rows bp bp1 bp3 bp5 --data-level on_the_fly,partial --degree 2..10 --dofs 5e7
            rows bp-degree1 bp1 bp3 bp5 --data-level on_the_fly --degree 1 --dofs 1e7
            ;;
        cg) rows cg bp5 --cg --degree 2..7 --dofs 5e7 ;;
        cg-high) rows cg-high bp5 --cg --degree 8..10 --dofs 5e7 ;;
        ladders) ladder large ;;
        ladders-4096) ladder 4096 ;;
        ladders-512) ladder 512 ;;
        simplices) bench simplices simplices --nreps 5 ;;
        *) echo "run_gpu.sh: no part $part" >&2; exit 2 ;;
    esac
done
