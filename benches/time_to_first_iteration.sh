#!/bin/sh
# Measures the time from a mesh file to the first iteration, and the memory, for about a million
# unknowns on deformed boxes, per degree and encoding of the file:
#   benches/time_to_first_iteration.sh [FOLDER]
# FOLDER, for the meshes and reports, defaults to a new one in the system's place for such.
# DEGREES="1 8" measures less; ALONG=20 asks for 20 unknowns along an axis instead of 100.
set -eu
degrees=${DEGREES:-1 2 4 8}
along=${ALONG:-100}

cd "$(dirname "$0")/.."
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cargo build --release --quiet -p femto-cli
femto=${CARGO_TARGET_DIR:-target}/release/femto

# A number of the report, in pretty JSON: one key per line.
number() { sed -n "s/^ *\"$1\": \([0-9.e-]*\),*\$/\1/p" "$2" | head -n 1; }
# A stage of the report.
stage() { grep -A 1 "\"name\": \"$1\"" "$2" | sed -n 's/^ *"seconds": \(.*\)$/\1/p'; }

printf '%6s %9s %7s %8s %8s %9s %8s %8s %9s %8s %10s %12s\n' degree unknowns file MB mesh_s \
    geometry_s space_s operator_s loads_s precond_s to_first_s peak_B/dof
for degree in $degrees; do
    # Cells along x; one less along y and z where that comes nearer.
    x=$(((along + degree / 2) / degree))
    y=$(((along - 1 + degree / 3) / degree))
    for encoding in binary ascii; do
        mesh=$folder/$degree-$encoding.msh
        option=$([ $encoding = ascii ] && echo --ascii || true)
        # shellcheck disable=SC2086
        "$femto" mesh box "$mesh" --cells $x $y $y $option --deform \
            'x + 0.03*sin(pi*(y + z))' 'y + 0.03*sin(pi*(x + z) + 1)' 'z + 0.03*sin(pi*(x + y) + 2)' \
            > "$folder/mesh.txt"
        cat > "$folder/$degree-$encoding.toml" <<CASE
[mesh]
file = "$degree-$encoding.msh"
[space]
degree = $degree
[form]
kind = "poisson"
[source]
value = 1
[[dirichlet]]
tags = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"]
value = 0
[solver]
tolerance = 0.9
CASE
        report=$folder/$degree-$encoding.json
        "$femto" solve "$folder/$degree-$encoding.toml" --json --no-roofline > "$report"
        awk -v degree="$degree" -v encoding="$encoding" -v bytes="$(wc -c < "$mesh")" \
            -v dofs="$(number all "$report")" -v peak="$(number peak_memory "$report")" \
            -v mesh="$(stage mesh "$report")" -v geometry="$(stage geometry "$report")" \
            -v space="$(stage space "$report")" -v operator="$(stage operator "$report")" \
            -v loads="$(stage loads "$report")" -v precond="$(stage preconditioner "$report")" \
            -v first="$(number to_first_iteration "$report")" 'BEGIN {
                printf "%6d %9d %7s %8.1f %8.3f %9.3f %8.3f %8.3f %9.3f %8.3f %10.3f %12.0f\n",
                    degree, dofs, encoding, bytes / 1e6, mesh, geometry, space, operator, loads,
                    precond, first, peak / dofs }'
    done
done
