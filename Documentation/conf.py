# SPDX-License-Identifier: GPL-2.0
# Sphinx: the site of the documentation ("make html"). The documents can be read in a repository browser too, which
# knows no toctree, so the table of contents is added here. The theme shows the sections of a document beside it, in
# place of the document's own list. Links to other documents name their sources, which the browser shows; here they
# become links to pages. Programs are included as docutils does, and coloured here.

import os
import re
import shutil

from docutils import nodes

project = "OHCA"
author = "the OHCA authors"
copyright = author
extensions = []
html_theme = "furo"
html_title = "OHCA"
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
exclude_patterns = ["_build", "man"]
highlight_language = "none"

CHAPTERS = [
    ("Learn", ["firstqp", "tutorial", "glossary"]),
    ("Use", ["userguide", "kernel", "installing", "ci", "faults", "performance", "comparison"]),
    ("Reference", ["control", "driver", "hardware"]),
    ("Internals", ["architecture", "device", "testing"]),
]


def contents():
    for caption, documents in CHAPTERS:
        yield "\n.. toctree::\n   :hidden:\n   :maxdepth: 2\n   :caption: " + caption + "\n\n"
        for document in documents:
            yield "   " + document + "\n"


def read_source(app, document, source):
    text = re.sub(r"^\.\. contents::.*\n( +.*\n)*", "", source[0], flags=re.M)
    text = re.sub(r"<([a-z]+)\.rst(#[^>]*)?>`__", r"<\1.html\2>`__", text)
    text = re.sub(r"^\.\. include:: (examples/.*)\n   :literal:$",
                  r".. literalinclude:: \1\n   :language: c\n   :tab-width: 4", text, flags=re.M)
    source[0] = text
    if document == "index":
        source[0] += "".join(contents())


# A part of a program ends before the blank line that follows it.
def strip_literals(app, doctree):
    for node in doctree.findall(nodes.literal_block):
        node.rawsource = node.astext().strip("\n")
        node.children = [nodes.Text(node.rawsource)]


def copy_examples(app, error):
    if not error and app.builder.format == "html":
        shutil.copytree(os.path.join(app.srcdir, "examples"), os.path.join(app.outdir, "examples"), dirs_exist_ok=True)


def setup(app):
    app.connect("source-read", read_source)
    app.connect("doctree-read", strip_literals)
    app.connect("build-finished", copy_examples)
