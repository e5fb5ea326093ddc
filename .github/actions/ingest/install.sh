#!/usr/bin/env bash
# Installs knowctl for the action into the runner's temporary folder, where ingest.js looks for it.
set -euo pipefail
version=${INPUT_VERSION:-}
if [ -z "$version" ]; then
  version=$(node -p 'require(process.argv[1]).version' "$GITHUB_ACTION_PATH/../../../package.json")
fi
# A version and nothing else: npm also takes addresses, folders and flags in this place.
case $version in
  [0-9]*) ;;
  *) version=refused/ ;;
esac
case $version in
  *[!0-9A-Za-z.+-]*)
    echo '::error title=knowctl action::input version: expected a version such as 0.1.0'
    exit 2
    ;;
esac
exec npm install --prefix "$RUNNER_TEMP/knowctl" --no-save --no-audit --no-fund --ignore-scripts \
  "knowctl@$version"
