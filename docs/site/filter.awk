# SPDX-License-Identifier: Apache-2.0
# A header of api/vmm/ for Doxygen: its comments are plain ones, with drawings and lists by indentation.
#
#   /* Text before a declaration        ->  /** Text
#   int x;  / * a member * /            ->  int x; /**< a member * /
#   a drawing, indented by 3            ->  a block of code, between \verbatim and \endverbatim
#   [VMM-MAP-OVERLAP]                   ->  the rule's place in the rule book
# RULES, a file: lines of a rule's id in small letters and its page.
BEGIN { while ((getline row < RULES) > 0) { split(row, part, " "); page[part[1]] = part[2] } }
function ends_drawing() {
    if (drawing) { print " * \\endverbatim"; drawing = 0 }
}
/^\/\* SPDX-License-Identifier/ { print ""; next }
{
    line = $0
    # The first comment says what the header is: "address.h - reservations and mappings."
    if (!headed && line ~ /^\/\* [a-z0-9_]+\.h - /) { sub(/^\/\* [a-z0-9_]+\.h - /, "/* \\file\n * \\brief ", line); headed = 1 }
    opens = line ~ /^\/\* /
    if (opens) { sub(/^\/\* /, "/** ", line); comment = 1; after_blank = 0 }
    if (comment && !opens) {
        body = line
        sub(/^ \* ?/, "", body)
        blank = line ~ /^ \*$/
        # A drawing begins after an empty line, and ends at one, or where the text is back at the margin.
        if (!drawing && after_blank && body ~ /^  +[^ -]/) { print " * \\verbatim"; drawing = 1 }
        if (drawing && (blank || body !~ /^  /)) ends_drawing()
        after_blank = blank
    }
    closes = comment && line ~ /\*\/[ \t]*$/
    if (closes && drawing) { sub(/ *\*\/[ \t]*$/, "", line); print line; ends_drawing(); print " */"; comment = 0; next }
    if (closes) comment = 0
    if (!comment && !opens && line ~ /[;,] +\/\* .*\*\/$/) sub(/\/\* /, "/**< ", line)
    if (!drawing) line = link(line)
    print line
}
# VMM-NAME-NAME in a comment is a link to the rule.
function link(text,   out, id, named) {
    if (text !~ /^ \*|\/\*/) return text
    out = ""
    while (match(text, /VMM-[A-Z0-9]+(-[A-Z0-9]+)+/)) {
        id = substr(text, RSTART, RLENGTH)
        named = tolower(id) in page ? "[" id "](../" page[tolower(id)] "#" tolower(id) ")" : id
        out = out substr(text, 1, RSTART - 1) named
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}
