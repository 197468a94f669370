#!/bin/sh
# Measures the committed set of GPU benchmarks with a femto that is already built, in about 12 minutes
# on an H200:
#   benches/run_gpu.sh FEMTO FOLDER [PART...]
# Parts: kernels (BK1, BK5, BK3 element-local, 5e7 nodes), operators (BP1, BP3, BP5 on L-vectors, 5e7
# unknowns), cg (iterations of BP5), ladders (every published step, 512 and 4096 elements; large for
# some degrees). DEVICE=opencl:0 measures another device, NREPS=21 more samples.
set -eu
femto=$1
folder=$2
shift 2
parts=${*:-kernels operators cg ladders}
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
    echo "femto bench $* --device $device --nreps $nreps" | tee -a "$folder/command.txt" >&2
    "$femto" bench "$@" --device "$device" --nreps "$nreps" --kept --csv "$file" > "$file.txt" || true
    rm "$file.txt"
}

"$femto" roofline --device "$device" --json > "$folder/roofline.json"
for part in $parts; do
    case $part in
        kernels)
            bench bk5-partial bk5 --data-level partial --degree 1..15 --elements large
            bench bk5-on_the_fly bk5 --data-level on_the_fly --degree 1..15 --elements large
            bench bk1 bk1 --data-level partial --degree 1..15 --elements large
            bench bk3 bk3 --data-level partial --degree 1..15 --elements large
            ;;
        operators)
            bench bp bp1 bp3 bp5 --data-level on_the_fly,partial --degree 2..10 --dofs 5e7
            bench bp-degree1 bp1 bp3 bp5 --data-level on_the_fly --degree 1 --dofs 1e7
            ;;
        cg) bench cg bp5 --cg --degree 2..10 --dofs 5e7 ;;
        ladders)
            bench ladder-small bk1 bk5 bk3 --ladder --degree 1..15 --elements 512,4096
            bench ladder-large bk1 bk5 bk3 --ladder --degree 3,7,11 --elements large
            ;;
        *) echo "run_gpu.sh: no part $part" >&2; exit 2 ;;
    esac
done
