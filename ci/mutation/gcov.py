# SPDX-License-Identifier: Apache-2.0
"""gcov.py counts|lines NAME...: what gcov says of files of counters, as JSON. counts: {file: lines with a count}; lines: of all code,
{file: {"lines": [line], "functions": [[first line, last line]]}}."""
import json
import os
import subprocess
import sys

what, names = sys.argv[1], sys.argv[2:]
said = subprocess.run(["gcov", "--json-format", "--stdout", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
lines, functions = {}, {}
# Of a header each file that includes it may have other functions.
for file in (file for answer in said.stdout.splitlines() for file in json.loads(answer)["files"]):
    name = os.path.normpath(file["file"])
    lines.setdefault(name, set()).update(line["line_number"] for line in file["lines"] if what == "lines" or line["count"])
    functions.setdefault(name, set()).update((f["start_line"], f["end_line"]) for f in file["functions"])
if what == "lines":
    print(json.dumps({name: {"lines": sorted(of_file), "functions": sorted(functions[name])} for name, of_file in lines.items()}))
else:
    print(json.dumps({name: sorted(of_file) for name, of_file in lines.items()}))
