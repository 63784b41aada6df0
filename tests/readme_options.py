# SPDX-License-Identifier: Apache-2.0
"""Keeps the option tables of README.md equal to what `mongocdc options --markdown` prints.

    readme_options.py MONGOCDC          fails when they differ
    readme_options.py MONGOCDC --write  writes them
"""
import pathlib
import subprocess
import sys

BEGIN = "<!-- options: written by tests/readme_options.py -->\n"
END = "<!-- end of options -->"

readme = pathlib.Path(__file__).parent.parent / "README.md"
text = readme.read_text()
printed = subprocess.run([sys.argv[1], "options", "--markdown"], check=True, capture_output=True, text=True).stdout
before, rest = text.split(BEGIN)
present, after = rest.split(END)
if present == printed:
    sys.exit(0)
if "--write" in sys.argv:
    readme.write_text(before + BEGIN + printed + END + after)
    sys.exit(0)
sys.exit("README.md: the option tables are not those of `mongocdc options --markdown`; run tests/readme_options.py --write")
