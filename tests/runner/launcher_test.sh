#!/usr/bin/env bash
# Tests the command line of ./climb, except for building: launcher_test.sh SOURCE. Prints TAP.
set -u
# These settings of the user would change the configuration.
unset STAIRCASE_WERROR CXX
climb=$1/climb
count=0

# check WHAT STATUS FRAGMENT ARGUMENT...: checks the exit status, and a fragment of the output.
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
check 'a submission is a file or a directory' 2 "nowhere' to grade" grade ata 04_tiled /nowhere
check 'the help on grading needs no build' 0 'without network' grade --help
check 'a hint needs a working copy' 2 'creates one' hint ata 04_tiled --copies "$(dirname "$0")/nowhere"

# The script is started by a link, and from a directory that CDPATH also contains.
links=$(mktemp -d)
trap 'rm -rf "$links"' EXIT
checkout=$(dirname "$climb")
ln -s "$climb" "$links/climb"
ln -s "$checkout" "$links/checkout"
climb=$links/climb check 'a symbolic link to climb works from anywhere' 0 '04_tiled' exercise --list
mkdir -p "$links/others/checkout"
cd "$links" || exit
export CDPATH=$links/others:$links
climb=checkout/climb check 'CDPATH does not change the directory of the checkout' 0 '04_tiled' exercise --list
unset CDPATH
cd "$checkout" || exit

# A user who is not root and has no sudo, on a machine without any installed packages.
tools=$(mktemp -d)
trap 'rm -rf "$links" "$tools"' EXIT
for tool in bash env dirname readlink cat cmp cp grep tail sed sort mktemp mount sh unshare; do ln -s "$(command -v $tool)" "$tools/$tool"; done
printf '#!/bin/sh\necho 1000\n' >"$tools/id"
printf '#!/bin/sh\nexit 1\n' >"$tools/dpkg-query"
chmod +x "$tools/id" "$tools/dpkg-query"
cp "$climb" "$tools/climb"
mkdir "$tools/packaging"
cp "$checkout/packaging/packages.txt" "$tools/packaging"
climb=$tools/climb
PATH=$tools check 'without root, the command to ask for is printed' 1 \
  'ask for: apt-get install --yes --no-install-recommends g++ ninja-build' --list
PATH=$tools check 'tests need more packages than runs' 1 'libgtest-dev' test
PATH=$tools check 'the slicer needs libraries that its packages do not bring' 1 'libgmp-dev' test
printf '#!/bin/sh\necho "g++:installed ninja-build:not-installed "\n' >"$tools/dpkg-query"
PATH=$tools check 'what is installed is not asked for' 1 '--no-install-recommends ninja-build pkg-config' --list
{
  printf '#!/bin/sh\nprintf "'
  grep -v '^#' "$tools/packaging/packages.txt" | while read -r purpose _ apt _; do [[ $purpose == *\? ]] || printf '%s:installed ' "$apt"; done
  printf '"\n'
} >"$tools/dpkg-query"
PATH=$tools check 'without root, a program runs without packages that it does not need' 1 'continuing without ccache, since' --list

# Other systems. No compiler is on this PATH.
rm "$tools/dpkg-query"
PATH=$tools check 'an unknown system is told what to look for' 1 'nor pacman; install what has these, then try again: program:g++' --list
for manager in 'dnf:try again: sudo dnf install ccache cli11-devel' 'pacman:try again: sudo pacman -S --needed ccache cli11'; do
  printf '#!/bin/sh\n' >"$tools/${manager%%:*}"
  chmod +x "$tools/${manager%%:*}"
  PATH=$tools check "${manager%%:*} is shown its command" 1 "${manager#*:}" --list
  PATH=$tools check "${manager%%:*} has no package of some" 1 'has no package with program:smpicxx' test
  rm "$tools/${manager%%:*}"
done

# A machine with all packages, with a build and a runner that print their arguments.
mkdir -p "$tools/.venv/bin" "$tools/build/common/climb"
printf '   false' >"$tools/build/configured"
{
  printf '#!/bin/sh\nprintf "'
  grep -v '^#' "$tools/packaging/packages.txt" | while read -r _ _ apt _; do printf '%s:installed ' "$apt"; done
  printf '"\n'
} >"$tools/dpkg-query"
printf '#!/bin/sh\n' >"$tools/.venv/bin/meson"
printf '#!/bin/sh\necho "$@" >>"${0%%/*}/../pip"\n' >"$tools/.venv/bin/pip"
cp "$checkout/requirements.txt" "$tools"
cp "$checkout/requirements.txt" "$tools/.venv"
mkdir "$tools/tests"
cp "$checkout/tests/requirements.txt" "$tools/tests"
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
chmod +x "$tools/dpkg-query" "$tools/.venv/bin/meson" "$tools/.venv/bin/pip" "$tools/ninja" "$tools/build/common/climb/climb"

# check_order WHAT STATUS LINES ARGUMENT...: checks the exit status, and everything that is built and shown, in order.
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

check 'setup takes no stray argument' 2 "no argument '--open'" setup --open
PATH=$tools check 'setup installs and builds nothing' 0 'Everything that ./climb needs is installed.' setup
PATH=$tools check 'what was installed from the same list is not installed again' 0 'Everything' setup
count=$((count + 1))
[ "$(wc -l <"$tools/.venv/pip")" = 1 ] || echo -n 'not '
echo "ok $count - each list of Python packages is installed once"

# In a checkout that this user cannot write, nothing is built, and an existing build is used.
check_read_only() {
  local what=$1 expected=$2 fragment=$3 output status verdict=ok
  shift 3
  # shellcheck disable=SC2016  # expanded by the shell in the other mount namespace
  output=$(PATH=$tools unshare --mount sh -c 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"' \
    "$tools" "$tools/climb" "$@" 2>&1 </dev/null)
  status=$?
  [ "$status" = "$expected" ] && [[ $output == *"$fragment"* ]] && [[ $output != *'line '* ]] || verdict='not ok'
  count=$((count + 1))
  echo "$verdict $count - $what"
  [ "$verdict" = ok ] || printf '# status %s: %s\n' "$status" "${output//$'\n'/ }"
}

if unshare --mount true 2>/dev/null; then
  printf '#!/bin/sh\ncase $* in *common/climb/climb*) ;; *) echo "ninja explain: there is something to do" ;; esac\n' >"$tools/ninja"
  check_read_only 'a checkout that cannot be written is named, and what to do' 3 "cannot write to '$tools'" 0
  printf '#!/bin/sh\n' >"$tools/ninja"
  check_read_only 'what is built can be used in a checkout that cannot be written' 0 'table' 0
  check_read_only 'another configuration cannot be made there' 3 'The build directory has to be configured' --gpu 90a 0
else
  count=$((count + 1))
  echo "ok $count - a checkout that cannot be written # SKIP mount namespaces need root"
fi
echo "1..$count"
