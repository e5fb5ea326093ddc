#!/bin/sh
# Uploads docs with several workers on this machine: sh upload.sh WORKERS [FLAGS OF knowctl ingest]
# Run it on as many machines as you like, at the same time: all workers share one run.
set -eu
workers=$1
shift

pids=
for worker in $(seq "$workers"); do
  knowctl ingest docs --claim --id-prefix handbook/ --cc-pair-id 2 --quiet --report "worker-$worker.json" "$@" &
  pids="$pids $!"
done
code=0
for pid in $pids; do
  wait "$pid" || code=$?
done
exit "$code"
