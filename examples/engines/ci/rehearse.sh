#!/bin/sh
# Three workers upload docs to a sandbox. Then a run with an empty folder must find nothing to send.
set -eu
scratch=$(mktemp -d)
knowctl sandbox --data "$scratch/sandbox" 2> "$scratch/log" &
sandbox=$!
trap 'kill "$sandbox"' EXIT
until grep -q 'Ctrl-C here ends' "$scratch/log"; do
  kill -0 "$sandbox"
  sleep 0.2
done

upload() {
  knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2 --quiet "$@"
}

knowctl state share --yes
pids=
for worker in 1 2 3; do
  upload --claim --run rehearsal --state "$scratch/$worker" &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done

upload --dry-run --exit-code --state "$scratch/later"
