# SPDX-License-Identifier: Apache-2.0
"""The pages of the tree as the source of a site: prepare.py PAGES SITE HEADERS CONFIG PAGE.

    PAGES    becomes what mkdocs reads: the tree's Markdown in the folders that it has in the tree, and rules/ from docs/rulebook.md
    SITE     where mkdocs is to write the site
    HEADERS  the folder that Doxygen reads
    CONFIG   becomes mkdocs.yml with these folders and the menu
    PAGE     the simulator for browsers (make web), which becomes try/index.html; without a file there the menu has no such entry

Every link is rewritten to where its page is; a link to a file that is no page is reported, and ends the run.
"""
import os
import re
import shutil
import sys
from glob import glob

LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
HERE = os.path.dirname(os.path.abspath(__file__))

# The menu: a heading, and pages or (title, page). What is missing from it is found by links and by the search.
MENU = [
    ("Home", [("What it is", "index.md"), ("Try it here", "try/index.html"), ("Questions", "docs/README.md"), ("Changes", "CHANGELOG.md")]),
    ("Lessons", "conformance/corpus/lessons"),
    ("Guides", [
        ("The shell", "docs/shell.md"), ("Scripts", "docs/scripts.md"), ("A C program", "docs/library.md"),
        ("Run a CUDA program", "docs/exec.md"), ("Check a CUDA program", "docs/check.md"), ("Unmodified programs", "docs/unmodified.md"),
        ("The CUDA runtime", "docs/runtime.md"), ("PyTorch and JAX", "docs/frameworks.md"), ("Python tests", "docs/python.md"),
        ("In CI", "docs/ci.md"), ("Traces as a page", "docs/view.md"), ("In a browser", "docs/web.md"), ("Traces for other viewers", "docs/export.md"),
        ("NVML", "docs/nvml.md"), ("Common mistakes", "docs/mistakes.md"), ("Messages", "docs/messages.md"),
        ("Exercises", "conformance/corpus/exercises/README.md"), ("Systems", "docs/systems.md")]),
    ("The model", [
        ("Host memory", "docs/host-memory.md"), ("In-flight work", "docs/in-flight.md"), ("Ordering", "docs/ordering.md"),
        ("Aliases", "docs/aliases.md"), ("Sharing", "docs/sharing.md"), ("Fabric", "docs/fabric.md"), ("Multicast", "docs/multicast.md"),
        ("DMA-BUF", "docs/dmabuf.md"), ("Fault injection", "docs/fault-injection.md")]),
    ("Drivers", [
        ("Surprising answers", "docs/driver-580.md"), ("Your driver", "docs/gpu.md"), ("The CUDA backend", "docs/cuda.md"),
        ("Waivers", "docs/waivers.md"), ("Programs tried", "docs/clients.md"), ("Entry points", "docs/entry-points.md")]),
    ("Rule book", "rules"),
    ("API", "api"),
    ("Contribute", [
        ("How to", "CONTRIBUTING.md"), ("Design", "docs/design.md"), ("Glossary", "docs/glossary.md"), ("Packaging", "docs/packaging.md"),
        ("Stability", "docs/stability.md"), ("Measurements", "docs/bench.md"), ("Fuzzing", "docs/fuzzing.md"),
        ("Campaigns", "docs/campaigns.md"), ("Checks", "docs/debug.md"),
        ("Mutants", "docs/mutation.md")]),
]

PAGES_OF = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "conformance/**/*.md", "packaging/**/*.md"]
FILES_OF = ["docs/**/*.png", "LICENSE"]


# The first page of the API's reference; the generator's own lists kinds of things that C does not have.
REFERENCE = """# The C API

`cuvmm/vmm.h` has the functions, structures and numbers of the CUDA driver API, renamed by one scheme: `cuMemMap(ptr, ...)` is
`vmm_mem_map(sys, ptr, ...)`. [A C program](docs/library.md) shows how to use the library.

- [Functions](api/functions.md), each with its rules
- [Structures](api/classes.md)
- [Headers](api/files.md): one for each family of calls, and `vmm_fd.h`, `vmm_kernel.h` and `cuvmm_mark.h`
"""


def slug(heading):
    """As GitHub and the rule book make an anchor of a heading."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def cut_rules(text):
    """docs/rulebook.md by its calls: {page: text}, and which page has which anchor."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    pages, anchors = {}, {}
    introduction = parts[0].split("\n- [")[0]
    listed = [""]
    for heading, body in zip(parts[1::2], parts[2::2]):
        page = "rules/" + (slug(heading).strip("-_") or "others") + ".md"
        rules = re.findall(r"^### (.*)$", body, flags=re.M)
        body = re.sub(r"^### (.*)$", lambda m: f"## {m[1]}", body, flags=re.M)
        pages[page] = f"# {heading[0].upper() + heading[1:] if not heading.startswith('cu') else heading}\n{body}"
        anchors.update({slug(rule): page for rule in rules})
        anchors[slug(heading)] = page
        links = ", ".join(f"[{rule}]({os.path.basename(page)}#{slug(rule)})" for rule in rules)
        listed.append(f"- **[{heading}]({os.path.basename(page)})**: {links}")
    return introduction, "\n".join(listed) + "\n", pages, anchors


def collect():
    pages = {}
    for pattern in PAGES_OF:
        for path in sorted(glob(pattern, recursive=True)):
            if path != "docs/rulebook.md" and not path.startswith("docs/site/"):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                # A task's title is also a line of `cuvmm exercise`, where it is a part of a sentence.
                pages[path] = text[:2] + text[2:3].upper() + text[3:] if path.endswith("/task.md") else text
    return pages


def rewrite(source, target, text, places, anchors, broken):
    """Links of a page that stood at source and will stand at target."""
    def link(match):
        opening, path, anchor, closing = match.groups()
        if "://" in path or path.startswith("mailto:") or not path:
            return match[0]
        to = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if to == "docs/rulebook.md":
            at = anchors.get((anchor or "")[1:])
            if anchor and not at:
                broken.append(f"{source}: {path}{anchor}")
            to, anchor = (at, anchor) if at and not anchor[1:] == slug(at) else (at or "rules/index.md", None)
        elif os.path.isdir(to) and to + "/README.md" in places:
            to = places[to + "/README.md"]
        elif to in places:
            to = places[to]
        elif not any(to in glob(pattern, recursive=True) for pattern in FILES_OF):
            broken.append(f"{source}: {path}")
        return opening + os.path.relpath(to, os.path.dirname(target) or ".") + (anchor or "") + closing

    text = re.sub(r"<img src=\"([^\"]+)\"", r'<img src="../\1"', text) if source.startswith("docs/") else text
    parts = re.split(r"(^```.*?^```$|^    [^\n]*$)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else LINK.sub(link, part) for i, part in enumerate(parts))


def entry(title, page, pages):
    return [f"      - {title}: {page}"] if page in pages else []


def menu(pages):
    lines = ["nav:"]
    for title, what in MENU:
        lines.append(f"  - {title}:")
        if what == "api":
            lines += ["      - Overview: reference.md", "      - Functions: api/functions.md", "      - Structures: api/classes.md",
                      "      - Headers: api/files.md"]
        elif isinstance(what, str):
            lines += [f"      - {page}" for page in sorted(p for p in pages if os.path.dirname(p) == what and p.endswith((".md")))]
        else:
            for name, page in what:
                lines += entry(name, page, pages)
    return lines


def main():
    target, site, headers, config, simulator = sys.argv[1:]
    shutil.rmtree(target, ignore_errors=True)
    pages, broken = collect(), []
    with open("docs/rulebook.md", encoding="utf-8") as file:
        introduction, listed, rules, anchors = cut_rules(file.read())
    places = {path: "index.md" if path == "README.md" else path for path in pages}
    written = {}
    for path, text in pages.items():
        written[places[path]] = rewrite(path, places[path], text, places, anchors, broken)
    written.update(rules)
    written["reference.md"] = REFERENCE
    written["rules/index.md"] = rewrite("docs/rulebook.md", "rules/index.md", introduction, places, anchors, broken) + listed
    for path, text in written.items():
        os.makedirs(os.path.dirname(os.path.join(target, path)) or target, exist_ok=True)
        with open(os.path.join(target, path), "w", encoding="utf-8") as file:
            file.write(text)
    with open(target + "-rules", "w", encoding="utf-8") as file:
        file.writelines(f"{anchor} {page}\n" for anchor, page in anchors.items())
    for pattern in FILES_OF:
        for path in glob(pattern, recursive=True):
            os.makedirs(os.path.dirname(os.path.join(target, path)) or target, exist_ok=True)
            shutil.copy(path, os.path.join(target, path))
    shutil.copy(os.path.join(HERE, "site.css"), target)
    reachable = set(written)
    if os.path.exists(simulator):
        os.makedirs(os.path.join(target, "try"))
        shutil.copy(simulator, os.path.join(target, "try/index.html"))
        reachable.add("try/index.html")
    with open(os.path.join(HERE, "mkdocs.yml"), encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    lines += ["  - mkdoxy:", "      projects:", "        api:", f"          src-dirs: {headers}", "          full-doc: true",
              "          doxy-cfg:", "            FILE_PATTERNS: '*.h'", "            RECURSIVE: true", "            OPTIMIZE_OUTPUT_FOR_C: true",
              "            EXTRACT_ALL: true", "            JAVADOC_AUTOBRIEF: true", f"            INPUT_FILTER: awk -v RULES={target}-rules -f {HERE}/filter.awk",
              "            MACRO_EXPANSION: true", "            PREDEFINED: 'VMM_API='", "            WARNINGS: false", f"            STRIP_FROM_PATH: {headers}",
              f"docs_dir: {target}", f"site_dir: {site}"] + menu(reachable)
    with open(config, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    for one in broken:
        print(f"site: broken link: {one}", file=sys.stderr)
    return 1 if broken else 0


sys.exit(main())
