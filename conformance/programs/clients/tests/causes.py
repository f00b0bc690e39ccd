# SPDX-License-Identifier: Apache-2.0
# causes.py JUNIT.xml: what became of a file of tests, and for each test that did not pass the driver call that stopped it: the
# last one that libcuda.so.1 refused while it ran (CUVMM_EXPLAIN=1).
#
#     count <TAB> passed <TAB> failed <TAB> skipped
#     failed <TAB> test_profiler <TAB> cuProfilerStart VMM-ENTRY-ABSENT
import re
import sys
import xml.etree.ElementTree as tree

count = {"passed": 0, "failed": 0, "skipped": 0}
lines = []
for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    skipped = case.find("skipped")
    bad = case.find("failure")
    bad = case.find("error") if bad is None else bad
    kind = "failed" if bad is not None else "skipped" if skipped is not None else "passed"
    count[kind] += 1
    if kind == "passed":
        continue
    said = case.findtext("system-err") or ""
    refused = re.findall(r"^error (VMM-(?!LEAK)[A-Z0-9-]+): (cu\w+)", said, re.MULTILINE)
    why = " ".join(reversed(refused[-1])) if refused and kind == "failed" else (skipped if bad is None else bad).get("message")
    lines.append("\t".join((kind, case.get("name"), " ".join((why or "").split())[:100])))
print("\t".join(["count"] + [str(count[kind]) for kind in ("passed", "failed", "skipped")]))
print("\n".join(lines))
