#!/usr/bin/env bash
# Plays the main job with a real model: the one that POCKETPILOT_BASE_URL names, or a small one that a start script beside
# the checkout (../shared/llm/start.sh) serves on this computer. Looks at calls, paths and the disk, never at wording.
# `make test-llm` builds the program before.
set -euo pipefail
cd "$(dirname "$0")/.."
start=../shared/llm/start.sh
if [ -z "${POCKETPILOT_BASE_URL:-}" ]; then
  if [ ! -f "$start" ]; then
    echo "test-llm: skipped: no model. Set POCKETPILOT_BASE_URL and POCKETPILOT_MODEL."
    exit 0
  fi
  echo "test-llm: starting the model (the first time it is fetched, about 1 GB)"
  pid=$(bash "$start" 18081 | tail -n 1)
  trap 'kill "$pid" 2>/dev/null || true' EXIT
  export POCKETPILOT_BASE_URL=http://127.0.0.1:18081/v1 POCKETPILOT_MODEL="${POCKETPILOT_MODEL:-local}"
fi
work=$(mktemp -d)
goals=(
  "First call list_files. Then call analyze_table with path '.'. Then call write_file with path reports/totals.md and the totals by currency that analyze_table gave."
  "Summarise the invoices in this folder"
  "汇总这个文件夹里的发票"
)
failed=0
for n in "${!goals[@]}"; do
  folder="$work/ws$n"
  cp -r demo-workspace "$folder"
  code=0
  POCKETPILOT_DATA_DIR="$work/data$n" target/debug/pilot --json run "${goals[$n]}" --workspace "$folder" --provider env --approve never \
    >"$work/run$n.jsonl" 2>"$work/run$n.err" || code=$?
  calls=$(grep -o '"type":"tool_started"[^}]*"tool":"[a-z_]*"' "$work/run$n.jsonl" | grep -o '[a-z_]*"$' | tr -d '"' | tr '\n' ' ' || true)
  echo "test-llm: goal $((n + 1)): exit $code, calls: ${calls:-none}"
  if ! diff -r demo-workspace "$folder" >/dev/null; then
    echo "test-llm: FAILED: the folder changed without an approval"
    failed=1
  fi
  # Only the explicit goal must come to its card; a small model may wander with the others, but never write.
  if [ "$n" = 0 ] && { [ "$code" != 3 ] || [[ "$calls" != *analyze_table* ]]; }; then
    echo "test-llm: FAILED: the explicit goal did not reach a card after analyze_table"
    tail -n 3 "$work/run$n.err"
    failed=1
  fi
done
echo "$((${#goals[@]} - failed)) passed, $failed failed"
exit "$failed"
