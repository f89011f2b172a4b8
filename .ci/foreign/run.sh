#!/usr/bin/env bash
# Starts the service that BIN is, lets the foreign client use it, and stops it: run.sh BIN [part of a check's name]...
# Exits with 0 when every check passed and the service ended cleanly. The service's log goes to standard error when something failed.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 BIN [part of a check's name]..." >&2; exit 2; }
bin=$(realpath "$1")
shift
cd "$(dirname "$0")"
npm ci --silent --no-audit --no-fund

tmp=$(mktemp -d)
services=()
finish() {
  code=$?
  trap - EXIT
  for service in "${services[@]}"; do
    if kill -0 "$service" 2>/dev/null; then kill "$service" && wait "$service" || true; fi
  done
  [ "$code" = 0 ] || { echo "the services' logs:" >&2; grep -hv "level=INFO" "$tmp"/log.* | tail -n 20 >&2 || true; }
  rm -rf "$tmp"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

# serve NAME [flag]... starts a service and leaves the line that says where it is in $ready
serve() {
  local name=$1
  shift
  mkfifo "$tmp/$name"
  "$bin" serve --data "$tmp/data.$name" --listen 127.0.0.1:0 --json "$@" >"$tmp/$name" 2>"$tmp/log.$name" &
  services+=($!)
  exec {out}<"$tmp/$name" # kept open, so that the service may go on writing
  read -r -t 60 -u "$out" ready || { echo "the service $name did not start" >&2; exit 1; }
}

flags=()
if "$bin" serve --help | grep -q -- --lifetime; then flags+=(--lifetime 12s); fi # so that a quote expires while somebody waits
serve plain "${flags[@]}"
plain=$ready
serve faulty --fault slow-deposit=400ms --fault slow-fill=400ms --fault deposit-fails@3 --fault revert@2

node client.mjs "$@" <<<"$plain"$'\n'"$ready"

for service in "${services[@]}"; do
  kill -TERM "$service"
  wait "$service" || { echo "a service ended with $?" >&2; exit 1; }
done
services=()
