/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell needs to query `cuvmm completion --words`. See completion.h. */
#include <string.h>

#include "completion.h"

/* readline replaces only the text after the last word-breaking character, such as ":" or "=", so that much of a
 * candidate is removed. A candidate that ends in "=" is not a complete word. */
static const char bash[] =
    "# bash completion of cuvmm; made by `cuvmm completion bash`.\n"
    "_cuvmm() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} words current broken= word\n"
    "    read -r -a words <<<\"$line\"\n"
    "    [[ $line == *[[:blank:]] ]] && words+=('')\n"
    "    current=${words[${#words[@]}-1]}\n"
    "    case $COMP_WORDBREAKS in\n"
    "    *:*) broken=${current%\"${current##*[:=]}\"} ;;\n"
    "    *=*) broken=${current%\"${current##*=}\"} ;;\n"
    "    esac\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r word _; do\n"
    "        COMPREPLY+=(\"${word#\"$broken\"}\")\n"
    "    done < <(\"${words[0]}\" completion --words \"${words[@]:1}\" 2>/dev/null)\n"
    "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n"
    "}\n"
    "complete -o default -F _cuvmm cuvmm\n";

static const char zsh[] =
    "#compdef cuvmm\n"
    "# zsh completion of cuvmm; made by `cuvmm completion zsh`.\n"
    "_cuvmm() {\n"
    "    local line\n"
    "    local -a lines plain open\n"
    "    lines=(\"${(@f)$($words[1] completion --words \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    for line in $lines; do\n"
    "        case ${line%%$'\\t'*} in\n"
    "        *=) open+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        ?*) plain+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    if (( $#open + $#plain == 0 )); then\n"
    "        _files\n"
    "        return\n"
    "    fi\n"
    "    _describe cuvmm plain -- open -S ''\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _cuvmm ]; then _cuvmm \"$@\"; else compdef _cuvmm cuvmm; fi\n";

static const char fish[] =
    "# fish completion of cuvmm; made by `cuvmm completion fish`.\n"
    "function __cuvmm_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    test (count $current) -gt 0; or set current ''\n"
    "    $words[1] completion --words $words[2..-1] $current 2>/dev/null\n"
    "end\n"
    "complete -c cuvmm -f -n 'count (__cuvmm_words) >/dev/null' -a '(__cuvmm_words)'\n";

static const struct {
    const char *name, *script;
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

const char *completion_shell(size_t index)
{
    return index < sizeof shells / sizeof shells[0] ? shells[index].name : NULL;
}

bool completion_script(FILE *out, const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, shell) != 0)
            continue;
        fputs(shells[i].script, out);
        return true;
    }
    return false;
}
