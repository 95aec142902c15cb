#!/usr/bin/env bash
# Get what the browser tests drive: Debian's chromium, and axe-core for accessibility.
# What can't be had is written, with the reason, to .browser/missing; the tests name it, and
# tests/skips.txt says which reasons CI accepts.
set -uo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .browser
rm -f .browser/missing

without() {
    echo "make browser: $1" | tee -a .browser/missing >&2
}

if ! command -v chromium >/dev/null; then
    if ! command -v apt-get >/dev/null; then
        without "chromium is not installed, and there is no apt-get here"
    elif [ "$(id -u)" != 0 ]; then
        without "chromium is not installed, and apt-get needs root here"
    elif ! { apt-get update -qq && apt-get -o DPkg::Lock::Timeout=300 install -y -qq chromium; } >&2; then
        without "chromium is not installed, and apt-get could not install it"
    fi
fi
if [ ! -f .browser/node_modules/axe-core/axe.min.js ]; then
    if ! command -v npm >/dev/null; then
        without "axe-core is not fetched, and there is no npm here"
    elif ! npm install --silent --prefix .browser axe-core@4 >&2; then
        without "axe-core is not fetched, and npm could not fetch it"
    fi
fi
