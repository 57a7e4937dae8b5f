#!/usr/bin/env bash
# The programs that the tests use and that no Python package brings. Installs them from Debian's packages where it can.
set -euo pipefail
missing=()
command -v chromedriver >/dev/null || missing+=(chromium chromium-driver)  # the HTML report is tested in a browser
command -v zsh >/dev/null || missing+=(zsh)  # completion is tested in it
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)  # commits are tested on a real server
((${#missing[@]})) || exit 0
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
  echo "the tests need programs that are not here; as Debian's packages they are: ${missing[*]}" >&2
  exit 1
fi
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
