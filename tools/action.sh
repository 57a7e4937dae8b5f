#!/usr/bin/env bash
# The work of action.yml: install the tool, replay the vectors, write all reports, and end as the run does.
# Inputs come as variables, never as text of this script.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
environment="${RUNNER_TEMP:-${TMPDIR:-/tmp}}/iceberg-conformance-environment"

if [ -z "${ICEBERG_CONFORMANCE_PYTHON:-}" ]; then
  "${PYTHON:-python3}" -m venv "$environment"
  ICEBERG_CONFORMANCE_PYTHON="$environment/bin/python"
  "$ICEBERG_CONFORMANCE_PYTHON" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements-run.lock"
  # The tool itself needs no building: it runs from where this file is.
  "$ICEBERG_CONFORMANCE_PYTHON" -c 'import pathlib, sys, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "iceberg_conformance.pth").write_text(sys.argv[1] + "\n")' "$here"
fi

tool() { "$ICEBERG_CONFORMANCE_PYTHON" -m conformance "$@"; }

reports="${REPORTS:-iceberg-conformance}"
mkdir -p "$reports"
arguments=()
[ -z "${EXPECT:-}" ] || arguments+=(--expect "$EXPECT")
if [ -n "${ARGUMENTS:-}" ]; then
  # Words as a shell sees them, quotes included, and nothing of them is run.
  while IFS= read -r -d '' word; do arguments+=("$word"); done \
    < <("$ICEBERG_CONFORMANCE_PYTHON" -c 'import shlex, sys; sys.stdout.write("".join(w + "\0" for w in shlex.split(sys.argv[1])))' "$ARGUMENTS")
fi
case "$ADAPTER" in
  *[!A-Za-z0-9@._-]*) ;;                                          # a command
  reference) ;;
  *) tool engines install "$ADAPTER" ;;                           # an engine that comes with the tool
esac

status=0
tool run --adapter "$ADAPTER" "${arguments[@]+"${arguments[@]}"}" --results "$reports/results.jsonl" \
  --report "html:$reports/report.html" --report "junit:$reports/junit.xml" --report "sarif:$reports/report.sarif" \
  --report "badge:$reports/badge.json" || status=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "results=$reports/results.jsonl"
    echo "html=$reports/report.html"
    echo "junit=$reports/junit.xml"
    echo "sarif=$reports/report.sarif"
    echo "badge=$reports/badge.json"
  } >> "$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$reports/results.jsonl" ]; then
  tool report "$reports/results.jsonl" --format markdown >> "$GITHUB_STEP_SUMMARY"
fi
exit "$status"
