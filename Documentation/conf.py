# SPDX-License-Identifier: GPL-2.0
# Sphinx: the site of the documentation ("make html"). The documents can be read in a repository browser too, which
# knows no toctree, so the table of contents is added here. The theme shows the sections of a document beside it, in
# place of the document's own list.

import re

project = "OHCA"
author = "the OHCA authors"
copyright = author
extensions = []
html_theme = "furo"
html_title = "OHCA"
html_show_sourcelink = False
html_show_copyright = False
exclude_patterns = ["_build", "man"]
highlight_language = "none"

CHAPTERS = [
    ("Use", ["userguide", "installing", "tutorial", "performance"]),
    ("Reference", ["hardware", "device", "control", "faults", "driver", "glossary"]),
    ("Development", ["architecture", "testing"]),
]


def contents():
    for caption, documents in CHAPTERS:
        yield "\n.. toctree::\n   :hidden:\n   :maxdepth: 2\n   :caption: " + caption + "\n\n"
        for document in documents:
            yield "   " + document + "\n"


def read_source(app, document, source):
    source[0] = re.sub(r"^\.\. contents::.*\n( +.*\n)*", "", source[0], flags=re.M)
    if document == "index":
        source[0] += "".join(contents())


def setup(app):
    app.connect("source-read", read_source)
