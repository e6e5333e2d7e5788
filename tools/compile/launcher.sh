#!/bin/sh
# @NAME@ in one file: this script, then a packed Deno executable, then the packed program.
# The first run unpacks them into the cache; after that all that happens here is a few tests and an exec.
set -eu

runtime=@RUNTIME@
program=@PROGRAM@

fail() {
  echo "@NAME@: $*" >&2
  exit 1
}

# A cache is used only if the user owns it: its owner decides what runs. Sets $cache.
cache_in() {
  [ -n "$1" ] || return 1
  cache=$1/zester
  [ -d "$cache" ] || (umask 077 && mkdir -p "$cache") 2>/dev/null || return 1
  [ -O "$1" ] && [ -O "$cache" ]
}

complete() {
  [ -x "$cache/$runtime/deno" ] && [ -f "$cache/$program/@MAIN@" ]
}

# Reads `sha256sum -c` lines.
check_sums() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum -c - >/dev/null
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 -c - >/dev/null
  else
    fail "neither sha256sum nor shasum found: cannot check what was unpacked"
  fi
}

# unpack FOLDER FILE OFFSET BYTES, with the sums of its files on standard input. FILE shows that FOLDER is there.
unpack() {
  [ ! -f "$cache/$1/$2" ] || return 0
  mkdir "$stage/$1"
  tail -c "+$3" "$0" | head -c "$4" | tar -xzf - -C "$stage/$1" ||
    fail "cannot unpack $1 into $cache (is the disk full?)"
  (cd "$stage/$1" && check_sums) ||
    fail "$0 is damaged: what it unpacks is not what was packed. Get it again."
  # A crash of the machine must not leave a complete name on empty files.
  sync "$stage/$1"/* 2>/dev/null || :
  # With the folder as target, mv fails if another first run was faster, instead of moving into what that one made.
  mv "$stage/$1" "$cache/" 2>/dev/null || [ -f "$cache/$1/$2" ] || replace_damaged "$1"
}

# A folder gets its name when it is complete. One that is not any more was damaged from outside.
replace_damaged() {
  mv "$cache/$1" "$stage/damaged-$1" 2>/dev/null || :
  mv "$stage/$1" "$cache/" 2>/dev/null || :
}

unpack_all() {
  stage=$(mktemp -d "$cache/.unpacking.XXXXXX") || fail "cannot write to $cache"
  trap 'rm -rf "$stage"' EXIT
  trap 'exit 1' HUP INT TERM
  unpack "$runtime" deno @RUNTIME_OFFSET@ @RUNTIME_BYTES@ <<'SUMS'
@RUNTIME_SUMS@
SUMS
  unpack "$program" @MAIN@ @PROGRAM_OFFSET@ @PROGRAM_BYTES@ <<'SUMS'
@PROGRAM_SUMS@
SUMS
  rm -rf "$stage"
  trap - EXIT HUP INT TERM
  complete || fail "$cache: cannot be used: remove $cache/$runtime and $cache/$program"
}

cache_in "${XDG_CACHE_HOME:-}" || cache_in "${HOME:+$HOME/.cache}" || cache_in /var/cache ||
  fail "no cache folder of your own: set XDG_CACHE_HOME to one that you own"
complete || unpack_all

DENO_NO_UPDATE_CHECK=1
export DENO_NO_UPDATE_CHECK
exec "$cache/$runtime/deno" run @FLAGS@ "$cache/$program/@MAIN@" "$@"

