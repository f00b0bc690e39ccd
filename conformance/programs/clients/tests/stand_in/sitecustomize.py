# SPDX-License-Identifier: Apache-2.0
# sitecustomize.py: Python loads it into each process at its start, so into the children of a test as well.
import runtime_stand_in  # noqa: F401
