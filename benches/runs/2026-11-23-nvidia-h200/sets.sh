set -u
S=$PWD/$1
mkdir -p /tmp/w && cd /tmp/w
xz -dc "$S/bin.tar.xz" | tar x
export XDG_CACHE_HOME=/tmp/w/cache HOME=/tmp/w
for b in old new; do ./femto-$b roofline --device cuda:0 --json > $OUT/roofline-$b.json 2>&1; done
mkdir -p csv
one() { n=$1; shift; for b in old new; do s=$(date +%s); timeout 90 ./femto-$b bench "$@" --device cuda:0 --kept --csv csv/$n-$b.csv > /dev/null 2>> bench.err; echo "$n $b rc $? $(( $(date +%s) - s )) s"; done; }
one bk5 bk5 --data-level partial,on_the_fly --degree 1,2,3,5,7,9,11,15 --elements large --nreps 9 --compile-first
one bk1 bk1 --data-level partial --degree 1,2,4,7,11,15 --elements large --nreps 9 --compile-first
one bk3 bk3 --data-level partial --degree 1,2,4,7,11,15 --elements large --nreps 9 --compile-first
one bp bp1 bp3 bp5 --data-level on_the_fly,partial --degree 1,2,4,7 --dofs 3e7 --nreps 7 --compile-first
one bpv bp2 bp4 bp6 --data-level on_the_fly --degree 1,2,4,7 --dofs 3e7 --nreps 7 --compile-first
one cg bp5 --cg --degree 2,4,7 --dofs 3e7 --nreps 9 --compile-first
one simplices simplices --nreps 5 --best
tail -5 bench.err
tar cJf $OUT/csv.tar.xz csv
