# SPDX-License-Identifier: Apache-2.0
"""Runs universalmutator on C files: lines of JSON in, {"file", "lines"}; lines of JSON out, {"file", "mutants"}.

Runs with the Python of the virtual environment that ci/clients-python made, or with any other: tool.py FOLDER takes the package
from that folder. A mutant is [number of the line, text].
"""
import contextlib
import json
import sys

sys.path[:0] = sys.argv[1:]

from universalmutator import mutator  # noqa: E402

RULES = ["universal.rules", "c_like.rules", "c.rules"]

for request in map(json.loads, sys.stdin):
    with contextlib.redirect_stdout(sys.stderr):
        made = mutator.mutants_regexp(request["lines"], ruleFiles=RULES, ignorePatterns=[], ignoreStringOnly=True)
    print(json.dumps({"file": request["file"], "mutants": [[mutant[0], mutant[1]] for mutant in made]}))
