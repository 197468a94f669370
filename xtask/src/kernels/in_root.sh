# Runs a program of another Debian: in_root.sh ROOT PROGRAM [ARGUMENT...], in a mount namespace of its own.
set -euo pipefail
root=$1
shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
# PoCL's continuations say on standard error what they do.
{ chroot "$root" "$@" 2>&1 >&3 | sed '/^\[SubCFG\]/d' >&2; } 3>&1
