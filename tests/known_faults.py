# SPDX-License-Identifier: Apache-2.0
"""Keeps the table of known faults in tests/README.md equal to the tests that carry their numbers.

    known_faults.py           fails when a fault has neither a test nor a reason, or a test names one that is not listed
    known_faults.py --write   fills in the names of the tests

A test carries a number as the tag [fault-44] (Catch2) or in its function's name: fault_44_some_words (Python; several
numbers may follow each other). A fault without a test has its reason in the last column, which begins with "Not here".
"""
import pathlib
import re
import sys

BEGIN = "<!-- known faults: last column written by tests/known_faults.py -->\n"
END = "<!-- end of known faults -->"
here = pathlib.Path(__file__).parent


def tests_by_fault():
    found = {}
    case = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
    for path in sorted(here.rglob("*_test.cpp")):
        for title, tags in case.findall(path.read_text()):
            title = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', title)).replace('\\"', '"')
            title = re.sub(r"^faults? [\d, ]+(?:and \d+)?: ", "", title)
            for number in re.findall(r"\[fault-(\d+)\]", tags):
                found.setdefault(int(number), []).append(title)
    function = re.compile(r"def (?:test_)?fault((?:_\d+)+)_(\w+)\(")
    for path in sorted(here.rglob("*.py")):
        for numbers, name in function.findall(path.read_text()):
            for number in numbers.strip("_").split("_"):
                found.setdefault(int(number), []).append(f"{path.stem}: {name.replace('_', ' ')}")
    return found


readme = here / "README.md"
text = readme.read_text()
before, rest = text.split(BEGIN)
table, after = rest.split(END)
found = tests_by_fault()
listed, missing, out = set(), [], []
for line in table.splitlines():
    row = re.match(r"\| (\d+) \| (.*?) \|(.*)\|$", line)
    if not row:
        out.append(line)
        continue
    number, fault, shown = int(row[1]), row[2], row[3]
    listed.add(number)
    reason = re.search(r"Not here.*", shown)
    parts = ["; ".join(f"`{name}`" for name in found.get(number, [])), reason[0].strip() if reason else ""]
    if not any(parts):
        missing.append(number)
    out.append(f"| {number} | {fault} | {'. '.join(p for p in parts if p)} |")
if missing:
    sys.exit(f"tests/README.md: no test and no reason for the known faults {missing}")
if unknown := sorted(set(found) - listed):
    sys.exit(f"tests/README.md does not list the known faults {unknown} that tests name")
written = "\n".join(out) + "\n"
if written == table:
    sys.exit(0)
if "--write" not in sys.argv:
    sys.exit("tests/README.md: the table of known faults is not up to date; run tests/known_faults.py --write")
readme.write_text(before + BEGIN + written + END + after)
