#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No link of the documentation is dead: the file is there, and where an anchor is named, a heading that makes it. Links to other
# sites are not followed.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/links.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The anchors of a page, a line each, as those who show Markdown make them from headings outside of code.
anchors() {
    awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed 's/[^a-z0-9_ -]//g; s/ /-/g'
}

# FILE<tab>LINK for each link of a page, outside of code.
links() {
    awk -v file="$1" '/^```/ { code = !code }
        !code {
            while (match($0, /\]\([^)]*\)/)) {
                print file "\t" substr($0, RSTART + 2, RLENGTH - 3)
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' "$1"
}

pages=(README.md docs/*.md conformance/corpus/rulebook/README.md)
for page in "${pages[@]}"; do
    links "$page"
done | sort -u >"$work/links"

declare -A known # the anchors of each page that links lead to
while IFS=$'\t' read -r page link; do
    case $link in
    http://* | https://* | mailto:*) continue ;;
    esac
    file=${link%%#*}
    target=$page
    [ -z "$file" ] || case $page in */*) target=${page%/*}/$file ;; *) target=$file ;; esac
    if [ ! -e "$target" ]; then
        echo "$page: $link: no such file"
    elif [[ $link == *#* ]]; then
        [ "${known[$target]+yes}" ] || known[$target]=$'\n'$(anchors "$target")$'\n'
        [[ ${known[$target]} == *$'\n'"${link#*#}"$'\n'* ]] || echo "$page: $link: no heading makes this anchor"
    fi
done <"$work/links" >"$work/dead"

if [ ! -s "$work/dead" ] && [ "$(wc -l <"$work/links")" -gt 100 ]; then
    echo "ok 1 - no link of the documentation is dead"
else
    echo "not ok 1 - no link of the documentation is dead"
    sed 's/^/#   /' "$work/dead"
fi

# Every page of this folder is asked for in its index.
for page in docs/*.md; do
    [ "$page" = docs/README.md ] || grep -qF "($(basename "$page")" docs/README.md || echo "$page"
done >"$work/unlisted"
if [ ! -s "$work/unlisted" ]; then
    echo "ok 2 - docs/README.md leads to every page"
else
    echo "not ok 2 - docs/README.md leads to every page"
    sed 's/^/#   /' "$work/unlisted"
fi
echo "1..2"
[ ! -s "$work/dead" ] && [ ! -s "$work/unlisted" ]
