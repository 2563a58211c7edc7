#!/usr/bin/env bash
# installs.sh BUILD: installs both programs into a prefix that then moves, makes the packages, and uses what is in
# them: programs, built-in model, completions and manual pages.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "packaging: $*" >&2; exit 1; }

# uses PREFIX: the programs there do their work.
uses() {
  local prefix=$1
  mkdir -p "$work/tree"
  echo 'int a;' >"$work/tree/a.cpp"
  printf 'Subject: s\nWhy: w\n\n--- a.cpp\n+++ a.cpp\n@@ file @@\n-int a;\n+int b;\n' >"$work/1.patch"
  echo 1.patch >"$work/series"
  "$prefix/bin/patcher" apply --root "$work/tree" --series "$work/series" >/dev/null
  grep -qx 'int b;' "$work/tree/a.cpp" || fail 'the installed patcher did not patch'
  bash -c "source '$prefix/share/bash-completion/completions/patcher'
    COMP_WORDS=(patcher diff --st) COMP_CWORD=2; _patcher; [ \"\${COMPREPLY[*]}\" = --stat ]" || fail 'bash does not complete'
  head -n 1 "$prefix/share/zsh/site-functions/_patcher" | grep -qx '#compdef patcher' || fail 'zsh would not find it'
  grep -q '^complete -c patcher' "$prefix/share/fish/vendor_completions.d/patcher.fish" || fail 'fish has no completion'

  "$prefix/bin/engine" run -p Hello -n 4 >/dev/null 2>"$work/err" || { cat "$work/err"; fail 'the installed engine did not run'; }
  # Its model is the installed one and no other that is still about.
  local config=$prefix/share/engine/model/config.json
  mv "$config" "$work/config.json" && echo '{' >"$config"
  "$prefix/bin/engine" info >/dev/null 2>"$work/err" && fail 'the engine read another model than the installed one'
  grep -qF "share/engine/model" "$work/err" || { cat "$work/err"; fail 'the error does not name the installed model'; }
  mv "$work/config.json" "$config"
}

# reads PREFIX: the manual pages are fit for man, and name what they are of.
reads() {
  local program page
  for program in patcher engine; do
    page=$1/share/man/man1/$program.1
    [ -s "$page" ] || page+=.gz
    [ -s "$page" ] || fail "there is no manual page of $program"
    command -v man lexgrog >/dev/null || continue
    lexgrog "$page" | grep -q ": \"$program - " || fail "whatis would not find $program: $(lexgrog "$page" 2>&1)"
    MANWIDTH=110 man --warnings -E UTF-8 -l "$page" >"$work/page" 2>"$work/err"
    [ ! -s "$work/err" ] || { cat "$work/err"; fail "man warns of $program's page"; }
    "$1/bin/$program" --help | grep -oE '^ +--?[a-z-]+' | while read -r option; do
      grep -qF -e "$option" "$work/page" || fail "the page of $program lacks $option"
    done
  done
}

cmake --install "$build" --prefix "$work/first" --component patcher >/dev/null
cmake --install "$build" --prefix "$work/first" --component engine >/dev/null
mv "$work/first" "$work/moved"
uses "$work/moved"
reads "$work/moved"

(cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1) || { cat "$work/log"; fail 'cpack failed'; }
[ "$(ls "$work"/packages/*.tar.gz | wc -l)" = 2 ] || fail 'not one .tar.gz a program'
for name in patcher engine; do
  deb=$(ls "$work"/packages/*"$name"*.deb)
  for library in libc6 'libstdc++6' libfmt; do
    dpkg-deb -f "$deb" Depends | grep -qF "$library" || fail "$deb does not depend on $library"
  done
  dpkg-deb -x "$deb" "$work/deb"
done
uses "$work/deb/usr"
reads "$work/deb/usr"
echo 'packaging: installed and packaged programs work'
