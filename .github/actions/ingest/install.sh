#!/usr/bin/env bash
# Installs knowctl into $RUNNER_TEMP/knowctl, where ingest.js looks for it: from the checkout of this
# action, or from the tarball or registry that the workflow names.
#
# Nobody owns the bare name `knowctl` on the public registry. Whoever registers it could run code
# beside a key, so this script never installs that name from a registry.
set -euo pipefail

# Messages never repeat an input, because the runner executes commands in what a step prints.
fail() {
  printf '::error title=knowctl action::%s\n' "$1"
  exit 2
}

tarball=${INPUT_TARBALL:-} registry=${INPUT_REGISTRY:-} scope=${INPUT_SCOPE:-} version=${INPUT_VERSION:-}
checkout=$GITHUB_ACTION_PATH/../../..
place=$RUNNER_TEMP/knowctl
flags=(--no-audit --no-fund --ignore-scripts)

matches() { [[ $1 =~ $2 ]]; }

# Each pattern also keeps out flags, line breaks and other kinds of npm package names.
check_inputs() {
  if [ -n "$tarball" ] && [ -n "$registry$scope$version" ]; then
    fail 'input tarball excludes registry, scope and version'
  fi
  if [ -n "$scope" ] && ! matches "$scope" '^@[a-z0-9][a-z0-9._-]*$'; then
    fail 'input scope: expected an npm scope such as @your-org'
  fi
  if [ -n "$version" ] && ! matches "$version" '^[0-9][0-9A-Za-z.+-]*$'; then
    fail 'input version: expected a version such as 1.0.0'
  fi
  local url='^(https://|http://(127\.0\.0\.1|localhost)[:/])[0-9A-Za-z._~:/%-]+$'
  if [ -n "$registry" ] && ! matches "$registry" "$url"; then
    fail 'input registry: expected an https address'
  fi
  if [ -n "$registry" ] && ! node -e 'new URL(process.argv[1])' "$registry" 2>/dev/null; then
    fail 'input registry: expected an https address'
  fi
  if [ -n "$registry$version" ] && [ -z "$scope" ]; then
    fail 'the bare name knowctl is not installed from a registry; give the input scope'
  fi
}

install_tarball() {
  case $tarball in
    https://*.tgz) matches "$tarball" '^[^[:space:]]+$' || fail 'input tarball: expected an address without spaces' ;;
    *.tgz)
      [ -f "$tarball" ] || fail 'input tarball: no such file in the workspace'
      cp -- "$tarball" "$place/knowctl.tgz"
      tarball=file:knowctl.tgz
      ;;
    *) fail 'input tarball: expected a file or an https address that ends with .tgz' ;;
  esac
  cd "$place"
  npm install "${flags[@]}" "knowctl@$tarball"
}

install_from_registry() {
  if [ -z "$version" ]; then
    version=$(node -p 'require(process.argv[1]).version' "$checkout/package.json")
  fi
  # A scope's registry serves that scope only; libraries come from the registry that npm uses anyway.
  if [ -n "$registry" ]; then echo "$scope:registry=$registry" >"$place/.npmrc"; fi
  cd "$place"
  # The alias keeps the folder's name, whatever the scope is.
  npm install "${flags[@]}" "knowctl@npm:$scope/knowctl@$version"
}

# Built apart from the checkout, which may be the workspace itself.
build_checkout() {
  [ -f "$checkout/package-lock.json" ] && [ -f "$checkout/bin/knowctl.cjs" ] ||
    fail 'knowctl is not published, and its source is not beside this action; give the input tarball, or scope and registry'
  local built=$place/node_modules/knowctl name
  mkdir -p "$built"
  for name in package.json package-lock.json .npmrc rolldown.config.js LICENSE bin scripts src; do
    cp -R "$checkout/$name" "$built/"
  done
  cd "$built"
  npm ci "${flags[@]}"
  node scripts/build.js
}

check_inputs
rm -rf "$place"
mkdir -p "$place"
# Without it npm takes the nearest folder above that has one, and neither .npmrc nor place here.
echo '{"private":true}' >"$place/package.json"
if [ -n "$tarball" ]; then
  install_tarball
elif [ -n "$registry$scope$version" ]; then
  install_from_registry
else
  build_checkout
fi
