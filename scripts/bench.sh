#!/usr/bin/env bash
# The figures of docs/figures.md: criterion benches of the rooms, the safety check, and the command line beside its peers
# where the peer bench is there (PEERBENCH, else ../shared/peerbench). A busy machine gives ratios at best.
#   bench.sh          all
#   bench.sh rooms    criterion alone
#   bench.sh whole    the programs as wholes
set -euo pipefail
cd "$(dirname "$0")/.."
what="${1:-all}"
peerbench="${PEERBENCH:-../shared/peerbench}"
heading() { printf '\033[1m-- %s\033[0m\n' "$1"; }

heading "machine: $(nproc) cores, $(free -h | awk '/^Mem/ {print $2}'), $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg)"

if [ "$what" != whole ]; then
  heading "rooms (criterion)"
  cargo bench --workspace --exclude pocketpilot --benches
fi
[ "$what" != rooms ] || exit 0

heading "programs, release build"
cargo build --release -p pilot-cli -p pilot-evals
release="$PWD/target/release"

heading "safety check and all cases, wall clock, 5 runs each"
for command in "$release/pilot evals" "$release/evals"; do
  for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    $command >/dev/null
    printf '%s: %d ms\n' "${command##*/}" $((($(date +%s%N) - start) / 1000000))
  done
done

if [ ! -f "$peerbench/bench.py" ]; then
  echo "bench: the peer bench is not there ($peerbench); loop, start and memory beside peers were skipped"
  exit 0
fi
heading "start, steps and memory beside a bare loop with two durable commits a step (floor)"
work=target/peerbench
mkdir -p "$work"
cp -ru "$peerbench/." "$work/"
chmod -R u+w "$work"
[ -x "$work/venv/bin/python3" ] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q psutil==7.2.2; }
peers="floor pilot"
[ ! -x "$work/peers/nanobot/venv/bin/nanobot" ] || peers="$peers nanobot"
for steps in 1 100 300; do
  for _ in 1 2 3; do
    for peer in $peers; do
      PILOT_BIN="$release/pilot" python3 "$work/bench.py" --peer "$peer" --steps "$steps" >>"$work/rows.jsonl"
      tail -n 1 "$work/rows.jsonl"
    done
  done
done
PILOT_BIN="$release/pilot" python3 "$work/bench.py" --peer pilot --steps 1000 --timeout 600
