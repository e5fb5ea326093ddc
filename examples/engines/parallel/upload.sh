#!/bin/sh
# Uploads docs in shards with GNU parallel: sh upload.sh SHARDS [FLAGS OF parallel]
#
#   sh upload.sh 16                        on all cores of this machine
#   sh upload.sh 16 --resume-failed        after a failure or a kill: the shards that are not done
#   sh upload.sh 16 --sshlogin a,b --workdir /srv/handbook --env KNOWCTL_BASE_URL --env KNOWCTL_API_KEY
set -eu
shards=$1
shift

code=0
seq "$shards" | parallel --joblog upload.joblog --line-buffer "$@" \
  knowctl ingest docs --cc-pair-id 2 --id-prefix handbook/ --quiet \
  --shard "{}/$shards" --report "shard-{}.json" || code=$?

# Of shards on other hosts: --return and --cleanup fetch the reports here.
knowctl report merge shard-*.json --report run.html
exit "$code"
