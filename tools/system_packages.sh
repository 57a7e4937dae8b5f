#!/usr/bin/env bash
# The programs that the tests use and that no Python package brings, from Debian's packages; run as root.
set -euo pipefail
missing=()
command -v chromedriver >/dev/null || missing+=(chromium chromium-driver)  # the HTML report is tested in a browser
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)  # commits are tested on a real server
if ((${#missing[@]})); then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
fi
