#!/usr/bin/env bash
# Installs what is missing and nothing else: deps.sh build | test
#   build  what the app needs to be built and run
#   test   besides, what the window and browser tests need
set -euo pipefail
cd "$(dirname "$0")/.."
level="${1:-build}"

build_packages="build-essential pkg-config libwebkit2gtk-4.1-dev libayatana-appindicator3-dev librsvg2-dev libxdo-dev"
test_packages="webkit2gtk-driver xvfb openbox xdotool wmctrl x11-utils imagemagick dbus dbus-bin libglib2.0-bin dunst
  gnome-keyring libsecret-tools python3-gi gir1.2-gtk-3.0 fonts-noto-cjk xclip chromium"

system_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is not a Debian system; packages needed (Debian names): $*"
    return
  fi
  local missing=()
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    echo "deps: all $# system packages are there"
    return
  fi
  echo "deps: installing ${missing[*]}"
  local root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo)
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

rust() {
  command -v cargo >/dev/null || { echo "deps: Rust is missing; see https://rustup.rs"; exit 1; }
  cargo --version # rustup fetches the toolchain of rust-toolchain.toml here, if it is not there
}

node_packages() {
  command -v npm >/dev/null || { echo "deps: Node 20.19 or newer is missing"; exit 1; }
  # npm's own record of what it installed; newer than the lock means that nothing is to be done.
  if [ ui/node_modules/.package-lock.json -nt ui/package-lock.json ]; then
    echo "deps: npm packages are there"
  else
    echo "deps: npm ci in ui/"
    npm ci --prefix ui --no-fund --no-audit --loglevel=error
    touch ui/node_modules/.package-lock.json
  fi
}

mcp_servers() {
  # Real servers that the tests of outside tools call; their install scripts are not run.
  if [ tests/mcp/node_modules/.package-lock.json -nt tests/mcp/package-lock.json ]; then
    echo "deps: the MCP servers of the tests are there"
  else
    echo "deps: npm ci in tests/mcp/"
    npm ci --prefix tests/mcp --ignore-scripts --no-fund --no-audit --loglevel=error
    touch tests/mcp/node_modules/.package-lock.json
  fi
}

test_runner() {
  command -v cargo-nextest >/dev/null && return
  echo "deps: installing cargo-nextest"
  cargo install --locked cargo-nextest
}

# shellcheck disable=SC2086 # the lists are words
case "$level" in
build)
  system_packages $build_packages
  rust
  node_packages
  ;;
test)
  system_packages $build_packages $test_packages
  rust
  node_packages
  mcp_servers
  test_runner
  ;;
*)
  echo "usage: deps.sh build|test" >&2
  exit 2
  ;;
esac
