#!/usr/bin/env bash
# The command line of ./climb, as far as it goes without building: launcher_test.sh SOURCE. Speaks TAP.
set -u
climb=$1/climb
count=0

# check WHAT STATUS FRAGMENT ARGUMENT...: the exit status, and a fragment of what is printed.
check() {
  local what=$1 expected=$2 fragment=$3 output status verdict=ok
  shift 3
  output=$("$climb" "$@" 2>&1 </dev/null)
  status=$?
  [ "$status" = "$expected" ] && [[ $output == *"$fragment"* ]] || verdict='not ok'
  count=$((count + 1))
  echo "$verdict $count - $what"
  [ "$verdict" = ok ] || printf '# status %s: %s\n' "$status" "${output//$'\n'/ }"
}

check 'help is printed' 0 'Usage: ./climb' --help
check 'help of the runner is asked for with other arguments' 0 'Usage: ./climb' local_volatility --help
check 'a GPU is named by its architecture' 2 "not 'H200'" --gpu H200
check 'book takes no stray argument' 2 "no argument '--fast'" book --fast
check 'the book is opened by no other name' 2 "no argument '--open'" book --open now
check 'a port is a number' 2 "not 'www'" serve www
check 'a port is not too large' 2 "not '65536'" serve 65536
check 'an unknown sanitizer is refused' 2 "not 'memory'" test --sanitize memory
check 'a missing sanitizer is refused' 2 "not ''" test --sanitize
check 'what there is to record is listed' 0 'ata_large' --record --list
check 'recording takes one machine' 2 'record: ' --record one two
check 'an unknown recording is refused' 2 "no 'atta'" --record --only atta
check 'exercises are listed' 0 '04_tiled' exercise --list
check 'an exercise is a stage' 2 "no stage '99'" check ata 99
check 'a hint needs a working copy' 2 'makes one' hint ata 04_tiled --copies "$(dirname "$0")/nowhere"

# A user without root and without sudo, on a machine where nothing is installed.
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for tool in bash env dirname cat grep tail; do ln -s "$(command -v $tool)" "$tools/$tool"; done
printf '#!/bin/sh\necho 1000\n' >"$tools/id"
printf '#!/bin/sh\nexit 1\n' >"$tools/dpkg-query"
chmod +x "$tools/id" "$tools/dpkg-query"
cp "$climb" "$tools/climb"
climb=$tools/climb
PATH=$tools check 'without root, the command to ask for is printed' 1 \
  'ask for: apt-get install --yes --no-install-recommends g++ ninja-build' --list
PATH=$tools check 'tests need more packages than runs' 1 'libgtest-dev' test

# A machine where all is installed, with a build and a runner that say what they are asked for.
ln -s "$(command -v sed)" "$tools/sed"
mkdir -p "$tools/.venv/bin" "$tools/build/common/climb"
printf '  ' >"$tools/build/configured"
printf '#!/bin/sh\necho install ok installed\n' >"$tools/dpkg-query"
printf '#!/bin/sh\n' >"$tools/.venv/bin/meson"
cat >"$tools/ninja" <<'END'
#!/bin/sh
case "$*" in
  *' -n '*) echo 'ninja explain: there is something to do' ;;
  *common/climb/climb*) ;;
  *) shift 2; echo "built: $*" ;;
esac
END
cat >"$tools/build/common/climb/climb" <<'END'
#!/bin/sh
case "$*" in
  *--targets*unknown*) exit 2 ;;
  *--targets*alone*) printf 'one\ntwo\n' ;;
  *--targets*) printf 'one\ntwo\n\nthree\nfour\n' ;;
  *) echo table; for status; do :; done; exit "$status" ;;
esac
END
chmod +x "$tools/dpkg-query" "$tools/.venv/bin/meson" "$tools/ninja" "$tools/build/common/climb/climb"

# check_order WHAT STATUS LINES ARGUMENT...: the exit status, and all that is built and shown, in order.
check_order() {
  local what=$1 expected=$2 lines=$3 output status verdict=ok
  shift 3
  output=$(PATH=$tools "$climb" "$@" 2>&1 </dev/null)
  status=$?
  output=$(grep -v '^The table is complete' <<<"$output")
  [ "$status" = "$expected" ] && [ "${output//$'\n'/; }" = "$lines" ] || verdict='not ok'
  count=$((count + 1))
  echo "$verdict $count - $what"
  [ "$verdict" = ok ] || printf '# status %s: %s\n' "$status" "${output//$'\n'/; }"
}

check_order 'what no table needs is built behind it' 0 'built: one two; table; built: three four' 0
check_order 'so it is where a stage differs' 1 'built: one two; table; built: three four' 1
check_order 'not after what the runner refuses' 2 'built: one two; table' 2
check_order 'nor after an interruption' 130 'built: one two; table' 130
check_order 'a table may need all' 0 'built: one two; table' alone 0
check_order 'nothing is built for bad input' 2 '' unknown 0
echo "1..$count"
