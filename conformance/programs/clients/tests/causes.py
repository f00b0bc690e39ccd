# SPDX-License-Identifier: Apache-2.0
# causes.py JUNIT.xml: what became of a file of tests, and for each test that did not pass what stopped it: the CUDA runtime, which
# answers cudaErrorNotSupported, else the last call that libcuda.so.1 refused while it ran (CUVMM_EXPLAIN=1), else what the test says.
#
#     count <TAB> passed <TAB> failed <TAB> skipped
#     failed <TAB> test_profiler <TAB> cuProfilerStart VMM-ENTRY-ABSENT
import re
import sys
import xml.etree.ElementTree as tree

RUNTIME = re.compile(r"cudaErrorNotSupported|Cudart Error: 801")
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
    message = (skipped if bad is None else bad).get("message") or ""
    if kind == "failed" and RUNTIME.search(message + (bad.text or "") + said):
        why = "the CUDA runtime inside cuda.bindings"
    elif kind == "failed" and refused:
        why = " ".join(reversed(refused[-1]))
    else:
        why = message
    lines.append("\t".join((kind, case.get("name"), " ".join(why.split())[:100])))
print("\t".join(["count"] + [str(count[kind]) for kind in ("passed", "failed", "skipped")]))
print("\n".join(lines))
