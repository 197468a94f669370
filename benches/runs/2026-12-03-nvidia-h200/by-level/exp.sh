cd .cache/gpu; export FEMTO_CACHE=/tmp/fc CUDA_CACHE_PATH=/tmp/fc/cuda
xz -dc femto.xz > /tmp/femto; chmod +x /tmp/femto
one() { # name knobs case degree n extra...
  local name=$1 k=$2 c=$3 d=$4 n=$5; shift 5
  echo "== $name $k: $(FK=$k timeout 100 /tmp/femto solve $c --set space.degree=$d --set "mesh.box.cells=[$n,$n]" --set 'solver.preconditioner="jacobi"' --set solver.max_iterations=3 --no-output -v --device cuda:0 "$@" 2>&1 | grep -oE 'measured .*|error.*|preconditioner [0-9.]* m?s' | grep -v 'no convergence' | tr '\n' ' ')"
}
for p in fp64 fp32; do
for c in el hills; do
for dn in 2:57 3:31 4:20; do
E0=; case "$p ${dn%:*}" in "fp64 2") ks="levels=0 levels=1 levels=1+blocks=4 levels=1+blocks=5 levels=1+blocks=6";; "fp64 3") ks="levels=0 levels=1 levels=1+blocks=2 levels=1+elements=64";; "fp64 4") ks="levels=0 levels=1 levels=1+elements=16 levels=1+elements=16+blocks=3";; *) ks="levels=0 levels=1 levels=1+blocks=3 levels=1+elements=64 levels=1+blocks=5";; esac
for k in $ks; do
one "elasticity $c ${dn%:*} $p" $k $c.toml ${dn%:*} ${dn#*:} --set "run.precision=\"$p\""
done; done; done
done 2>&1 | tee $OUT/elastic.txt
for dn in 1:280 2:99 3:54 4:35; do
for k in levels=0 levels=1 levels=1+blocks=4 levels=1+elements=64; do
one "scalar hills ${dn%:*}" $k scalar.toml ${dn%:*} ${dn#*:}
done; done 2>&1 | tee $OUT/scalar.txt
