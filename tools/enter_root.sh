#!/usr/bin/env bash
# Runs a command in a root of tools/roots.sh: ROOT COMMAND [ARGUMENT...]. It sees
# this clone, the cache and /tmp under their own paths, and starts in this folder.
#
# A user namespace of its own makes the caller root in it: nothing is mounted, or
# registered with the kernel, outside of it. Programs for aarch64 run by QEMU there,
# whatever starts them (Linux 6.7 and later; before, only roots of this processor).
set -euo pipefail

if [[ "$1" != --inside ]]; then
  exec unshare --user --map-root-user --mount "$0" --inside "$@"
fi
root="$2"
shift 2

readonly QEMU=/usr/bin/qemu-aarch64-static
# Bytes of the header of an ELF file for aarch64, and which of them count. F: the
# kernel opens QEMU now, from here, and not in the root.
readonly MAGIC='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
readonly MASK='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

if [[ "$(< "${root}/ARCHITECTURE")" == arm64 ]]; then
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  printf '%s' ":phasic-aarch64:M::${MAGIC}:${MASK}:${QEMU}:F" \
    > /proc/sys/fs/binfmt_misc/register
fi
cache="${XDG_CACHE_HOME:-}"
if [[ "${cache}" != /* ]]; then cache="${HOME}/.cache"; fi
for folder in /dev /proc /sys /tmp "$(cd "$(dirname "$0")/.." && pwd -P)" \
  "${cache}/phasic"; do
  mkdir -p "${root}${folder}"
  mount --rbind "${folder}" "${root}${folder}"
done
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec chroot "${root}" /bin/sh -c 'cd "$0" && exec "$@"' "${PWD}" "$@"
