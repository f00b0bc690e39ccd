/* SPDX-License-Identifier: Apache-2.0 */
/* The book of rules as one page: needs no network and no other file; without scripts only search and copying are missing. */
#include <string.h>

#include "explain.h"
#include "rule_words.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1b1b;--dim:#5c5c5c;--paper:#fff;--box:#f4f4f2;--line:#d7d7d2;--link:#0b57a4;"
    "--bad:#fbe3e1;--good:#dff2e1}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e3;--dim:#a5a5a0;--paper:#17181a;--box:#222427;--line:#3a3d41;"
    "--link:#8ab8f0;--bad:#4a2323;--good:#1e3d25}}\n"
    "*{box-sizing:border-box}html{scroll-padding-top:4rem}\n"
    "body{margin:0 auto;max-width:70rem;padding:0 1rem 4rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);"
    "background:var(--paper)}\n"
    "a{color:var(--link)}h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}"
    "h3{margin:0;font-size:1.1rem;overflow-wrap:anywhere}h3 a{text-decoration:none}\n"
    ".search{position:sticky;top:0;padding:.6rem 0;background:var(--paper);border-bottom:1px solid var(--line)}\n"
    "#count{margin-left:.6rem;color:var(--dim)}\n"
    ".search input{width:100%;font:inherit;padding:.4rem .6rem;color:inherit;background:var(--box);"
    "border:1px solid var(--line);border-radius:.3rem}\n"
    "nav ul{columns:17rem;padding:0;list-style:none}nav li{overflow-wrap:anywhere}\n"
    "article{margin:1.2rem 0;padding:.8rem 1rem;border:1px solid var(--line);border-radius:.4rem}\n"
    "article:target{border-color:var(--link);border-width:2px}\n"
    "dl{display:grid;grid-template-columns:7.5rem 1fr;gap:.2rem .8rem;margin:.6rem 0}dt{color:var(--dim)}"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    ".forms{display:grid;grid-template-columns:1fr 1fr;gap:.8rem}.forms h4{margin:.3rem 0;font-weight:600}\n"
    "pre{margin:0;padding:.5rem .7rem;overflow-x:auto;background:var(--box);border-radius:.3rem;"
    "font:13px/1.5 ui-monospace,monospace}\n"
    "pre del,pre ins{display:inline-block;min-width:100%;text-decoration:none}del{background:var(--bad)}"
    "ins{background:var(--good)}\n"
    "button{float:right;font:inherit;font-size:.8rem}\n"
    "@media(max-width:45rem){.forms,dl{grid-template-columns:1fr}dt{margin-top:.3rem}}\n"
    "[hidden]{display:none}\n";

static const char script[] =
    "var box=document.getElementById('search'),count=document.getElementById('count'),calls=document.querySelector('nav'),"
    "rules=[].slice.call(document.querySelectorAll('article')),parts=[].slice.call(document.querySelectorAll('section'));\n"
    "function look(){var words=box.value.toLowerCase().split(/\\s+/),seen=0;rules.forEach(function(r){"
    "var t=r.textContent.toLowerCase(),ok=words.every(function(w){return t.indexOf(w)>=0});r.hidden=!ok;if(ok)seen++});"
    "parts.forEach(function(s){s.hidden=!s.querySelector('article:not([hidden])')});"
    "count.textContent=seen+' of '+rules.length+' rules';if(calls)calls.hidden=box.value!==''}\n"
    "box.addEventListener('input',look);look();\n"
    "window.addEventListener('hashchange',function(){var r=document.getElementById(location.hash.slice(1));"
    "if(r&&r.closest('[hidden]')){box.value='';look();r.scrollIntoView()}});\n"
    "if(navigator.clipboard)rules.forEach(function(r){[].forEach.call(r.querySelectorAll('.forms pre'),function(p){"
    "var b=document.createElement('button');b.type='button';b.textContent='copy';b.onclick=function(){"
    "navigator.clipboard.writeText(p.textContent)};p.parentNode.insertBefore(b,p.parentNode.firstChild)})});\n";

static void escaped(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(text[i], out);
        }
}

/* Is this the id of a rule that the page of this call has? */
static bool on_page(const char *text, size_t length, const char *call)
{
    char id[96];
    if (length >= sizeof id)
        return false;
    memcpy(id, text, length);
    id[length] = 0;
    const vmm_rule *rule = vmm_rule_find(id);
    return rule && (!call || text_same(call, rule->function));
}

/* Writes text with a link for each rule id that is on the page. */
static void linked(FILE *out, const char *text, const char *call)
{
    while (*text) {
        size_t n = strncmp(text, "VMM-", 4) == 0 ? strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") : 0;
        if (n && on_page(text, n, call)) {
            fprintf(out, "<a href=\"#%.*s\">%.*s</a>", (int)n, text, (int)n, text);
            text += n;
        } else {
            escaped(out, text++, 1);
        }
    }
}

static void entry(FILE *out, const char *name, const char *text, const char *call)
{
    if (!text[0])
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    linked(out, text, call);
    fputs("</dd>\n", out);
}

static void recorded(FILE *out, const char *machine, const char *sentence, bool first)
{
    (void)first;
    entry(out, machine, sentence, NULL);
}

/* One form of the example; lines that the other form lacks are marked. */
static void form(FILE *out, const char *heading, const char *both, char mark)
{
    const char *element = mark == '-' ? "del" : "ins";
    fprintf(out, "<div><h4>%s</h4><pre>", heading);
    for (const char *line = both, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (*line != ' ' && *line != mark)
            continue;
        if (*line == mark)
            fprintf(out, "<%s>", element);
        escaped(out, line + 2, (size_t)(end - line) - 2);
        if (*line == mark)
            fprintf(out, "</%s>", element);
        fputc('\n', out);
    }
    fputs("</pre></div>\n", out);
}

static void example(FILE *out, const char *rule)
{
    struct rule_example found;
    struct text text = {0}, machine = {0};
    if (!rule_example_find(rule, &found))
        return;
    if (rule_example_part(&found, EXAMPLE_REASON, &text)) {
        fputs("<p>No script can break it: ", out);
        escaped(out, text.data, text.length);
        fputs("</p>\n", out);
    } else if (rule_example_part(&found, EXAMPLE_BOTH, &text)) {
        if (rule_example_part(&found, EXAMPLE_MACHINE, &machine)) {
            fputs("<p>In <code>my.profile</code>, which both open:</p>\n<pre>", out);
            escaped(out, machine.data, machine.length);
            fputs("</pre>\n", out);
        }
        fputs("<div class=\"forms\">\n", out);
        form(out, "Breaks it", text.data, '-');
        form(out, "Instead", text.data, '+');
        fputs("</div>\n", out);
    }
    text_free(&text);
    text_free(&machine);
}

static void contents(FILE *out)
{
    const char *function = "";
    size_t rules = 0;
    fputs("<nav aria-label=\"Calls\"><ul>\n", out);
    for (const vmm_rule *r = NULL; (r = rule_words_next(r)); rules++) {
        if (strcmp(function, r->function) == 0)
            continue;
        if (*function)
            fprintf(out, " (%zu)</li>\n", rules);
        rules = 0;
        function = r->function;
        fprintf(out, "<li><a href=\"#call-%s\">%s</a>", function, rule_words_calls(function));
    }
    fprintf(out, " (%zu)</li>\n</ul></nav>\n", rules);
}

void rulebook_html_start(FILE *out, const char *call)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>cuvmm: the rule book</title>\n"
          "<style>\n", out);
    fputs(style, out);
    fprintf(out, "</style>\n</head>\n<body>\n<h1>The rule book</h1>\n"
                 "<p>What calls of CUDA virtual memory management ask for, rule by rule: what the documents say, what recorded "
                 "machines answered, and what is a choice of this project, each apart. Within a call the rules stand in the "
                 "order in which they are checked. A message of <code>cuvmm</code> names its rule; put it into the search "
                 "box. Each pair of scripts is run by the tests: paste one into <code>cuvmm run -</code>, or use "
                 "<code>cuvmm explain RULE --broken | cuvmm run -</code>.</p>\n"
                 "<div class=\"search\"><label for=\"search\">Search: rule, call, result or words</label> "
                 "<span id=\"count\"></span><input id=\"search\" type=\"search\" autocomplete=\"off\"></div>\n");
    if (!call)
        contents(out);
    fputs("<main>\n", out);
}

/* A section ends where the next one begins, or with the page. */
void rulebook_html_section(FILE *out, const char *function, bool first)
{
    fprintf(out, "%s<section id=\"call-%s\">\n<h2>%s</h2>\n", first ? "" : "</section>\n", function,
            rule_words_calls(function));
}

void rulebook_html_rule(FILE *out, const vmm_rule *rule, const char *call)
{
    struct text kind = {0}, result = {0}, observed = {0};
    text_add(&kind, "%s rule, %s", explain_class(rule->rule_class), explain_origin(rule->origin));
    rule_words_result(rule, &result);
    text_add(&observed, "%s Driver 580.159.04: %s.", rule->observed[0] ? rule->observed : "not measured.",
             explain_behaviour(rule->driver_580));
    fprintf(out, "<article id=\"%s\">\n<h3><a href=\"#%s\">%s</a></h3>\n<p>", rule->id, rule->id, rule->id);
    linked(out, rule->message, call);
    fputs("</p>\n<dl>\n", out);
    entry(out, "Calls", rule_words_calls(rule->function), call);
    entry(out, "Argument", rule->argument, call);
    entry(out, "Result", result.data, call);
    entry(out, "Kind", kind.data, call);
    entry(out, "Matters where", rule->needs, call);
    entry(out, "Why", rule->explanation, call);
    entry(out, "Fix", rule->way_out, call);
    entry(out, "Documents", rule->documents[0] ? rule->documents : "silent.", call);
    entry(out, "Observed", observed.data, call);
    rule_words_each_recorded(out, rule->id, recorded);
    fputs("</dl>\n", out);
    example(out, rule->id);
    fputs("</article>\n", out);
    text_free(&kind);
    text_free(&result);
    text_free(&observed);
}

void rulebook_html_end(FILE *out)
{
    fputs("</section>\n</main>\n<script>\n", out);
    fputs(script, out);
    fputs("</script>\n</body>\n</html>\n", out);
}
