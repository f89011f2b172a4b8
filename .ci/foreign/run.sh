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
service=
finish() {
  code=$?
  trap - EXIT
  if [ -n "$service" ] && kill -0 "$service" 2>/dev/null; then kill "$service" && wait "$service" || true; fi
  [ "$code" = 0 ] || { echo "the service's log:" >&2; grep -v "level=INFO" "$tmp/log" | tail -n 20 >&2 || true; }
  rm -rf "$tmp"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

flags=()
if "$bin" serve --help | grep -q -- --lifetime; then flags+=(--lifetime 12s); fi # so that a quote expires while somebody waits
mkfifo "$tmp/ready"
"$bin" serve --data "$tmp/data" --listen 127.0.0.1:0 --json "${flags[@]}" >"$tmp/ready" 2>"$tmp/log" &
service=$!
exec 3<"$tmp/ready" # kept open, so that the service may go on writing
if ! read -r -t 60 -u 3 ready; then
  echo "the service did not start" >&2
  exit 1
fi

node client.mjs "$@" <<<"$ready"

kill -TERM "$service"
wait "$service" || { echo "the service ended with $?" >&2; service=; exit 1; }
service=
