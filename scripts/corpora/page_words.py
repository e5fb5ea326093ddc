"""Reads pages without the tool: reStructuredText by docutils, HTML and DOCX by the standard
library, PDF by pdftotext, AsciiDoc by asciidoctor.

Takes a JSON array of [path, format] on stdin. Prints one JSON object a line: {"path", "text"}, or
{"path", "problem"}. Ends with status 3 where docutils is needed and missing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

# Elements whose text is no part of a page's main text.
HIDDEN = {"script", "style", "head", "nav", "header", "footer", "aside", "template", "form", "button", "noscript", "svg", "dialog", "menu", "select", "textarea", "iframe", "object", "canvas"}
VOID = {"br", "img", "hr", "input", "meta", "link", "source", "wbr", "area", "base", "col", "embed", "track"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.all = []
        self.main = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "img":
            self.handle_data(" " + (attributes.get("alt") or "") + " ")
        if tag in VOID:
            self.handle_data(" ")
            return
        is_main = tag == "main" or attributes.get("role") == "main"
        is_hidden = tag in HIDDEN or "hidden" in attributes or attributes.get("role") in ("navigation", "search", "banner", "contentinfo")
        if tag not in ("a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "tt"):
            self.handle_data(" ")
        self.open.append((tag, is_main, is_hidden))

    def handle_endtag(self, tag):
        if any(each[0] == tag for each in self.open):
            while self.open.pop()[0] != tag:
                pass
        if tag not in ("a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "tt"):
            self.handle_data(" ")

    def handle_data(self, data):
        if any(each[2] for each in self.open):
            return
        self.all.append(data)
        if any(each[1] for each in self.open):
            self.main.append(data)


def html_text(path, clean=lambda text: text):
    page = Page()
    with open(path, encoding="utf-8", errors="replace") as file:
        page.feed(clean(file.read()))
    page.close()
    main = "".join(page.main)
    return main if main.strip() else "".join(page.all)


def docx_text(path):
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    fallback = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
    parts = []

    def walk(element):
        if element.tag in (word + "del", word + "moveFrom", fallback):
            return
        if element.tag == word + "t":
            parts.append(element.text or "")
        elif element.tag in (word + "p", word + "tab", word + "br"):
            parts.append(" ")
        for child in element:
            walk(child)

    with zipfile.ZipFile(path) as file:
        for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
            if name in file.namelist():
                walk(ElementTree.fromstring(file.read(name)))
    return "".join(parts)


def pdf_text(path):
    command = ["pdftotext", "-enc", "UTF-8", path, "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def antora_attributes(path):
    """Attributes of the Antora component that a page belongs to, as options of asciidoctor."""
    for folder in pathlib.Path(path).resolve().parents:
        file = folder / "antora.yml"
        if file.exists():
            part = re.search(r"\n  attributes:\n((?:(?:    .*)?\n)*)", file.read_text(encoding="utf-8"))
            found = re.findall(r"^    ([\w-]+):[ \t]*(.*?)(?:[ \t]+#.*)?$", part[1] if part else "", re.M)
            return tuple(f"{key}={value.strip(chr(34) + chr(39))}" for key, value in found)
    return ()


def clean_adoc(text):
    """Without what only Antora would resolve: included files, and references without a text."""
    text = re.sub(r"Unresolved directive in \S+ - \S+|link:[^\s\[]+\[role=include\]", " ", text)
    text = re.sub(r'<a [^>]*class="[^"]*\binclude\b[^>]*>[^<]*</a>', " ", text)
    text = re.sub(r'<a [^>]*href="[^"]*">[^<]*\.html[^<]*</a>', " ", text)
    # Styles set the texts of roles apart.
    return text.replace("</span><span", "</span> <span")


def convert_adoc(paths):
    """Converts pages with asciidoctor into texts by path; without the program, into none."""
    if shutil.which("asciidoctor") is None:
        return {}
    groups = {}
    for path in paths:
        # An extension makes tabs of these examples: they have no number.
        has_tabs = "\n[tabs" in pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
        tabs = ("example-caption!",) if has_tabs else ()
        groups.setdefault(antora_attributes(path) + tabs, []).append(path)
    texts = {}
    for attributes, group in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.commonpath([os.path.dirname(each) for each in group])
            # Safe mode would refuse a target folder elsewhere. No page is read from the network.
            options = [word for each in ("nofooter", "showtitle", "icons=font", *attributes) for word in ("-a", each)]
            command = ["asciidoctor", "-q", "-S", "unsafe", "-R", root, "-D", folder, *options, *group]
            subprocess.run(command, capture_output=True)
            for each in group:
                made = os.path.join(folder, os.path.splitext(os.path.relpath(each, root))[0] + ".html")
                if os.path.exists(made):
                    texts[each] = html_text(made, clean_adoc)
    return texts


def prepare_rst():
    from docutils import nodes, utils
    from docutils.parsers.rst import Directive, directives, roles

    # Sphinx computes the text of these from code or from other pages.
    empty = ("index", "currentmodule", "highlight", "default-role", "meta", "tabularcolumns", "autosummary", "module", "py:module", "py:currentmodule", "rst-class", "cssclass", "role", "contents", "sectionauthor", "moduleauthor", "codeauthor", "program", "default-domain", "c:namespace", "c:namespace-push", "c:namespace-pop", "cpp:namespace", "cpp:namespace-push", "cpp:namespace-pop", "testsetup", "testcleanup", "hlist-columns", "title", "sectnum", "js:module", "graphviz", "digraph", "graph", "inheritance-diagram", "uml", "mermaid")
    code = ("code-block", "sourcecode", "code", "literalinclude", "prompt", "doctest", "testcode", "testoutput", "productionlist", "parsed-literal", "highlight-block", "ansible-output", "math")

    class Any(Directive):
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True

        class Options(dict):
            def __bool__(self):
                return True

            def __missing__(self, key):
                return lambda value: value

            def __getitem__(self, key):
                return lambda value: value

        option_spec = Options()

        def run(self):
            if self.name in empty or self.name.startswith("auto"):
                return []
            if self.name in code:
                return [nodes.literal_block("", "\n".join(self.content))]
            if self.name == "toctree":
                titles = [line.split("<")[0] for line in self.content if "<" in line]
                return [nodes.paragraph("", " ".join([self.options.get("caption", "")] + titles))]
            found = nodes.container()
            # The argument says for which output, or in which scope.
            if self.arguments and self.name not in ("only", "ifconfig"):
                texts, messages = self.state.inline_text(self.arguments[0], self.lineno)
                found += nodes.paragraph("", "", *texts)
            self.state.nested_parse(self.content, self.content_offset, found)
            return [found]

    def any_role(name, rawtext, written, lineno, inliner, options=None, content=None):
        # docutils marks an escape by a null character.
        text = utils.unescape(written)
        # The title of another page.
        if name in ("doc", "ref", "std:doc", "std:ref") and not text.endswith(">"):
            return [], []
        shown = text.split("<")[0].strip() if text.endswith(">") and "<" in text and not text.startswith("<") else text
        # Sphinx lets these have a text and a place, unlike docutils.
        if name in ("pep", "rfc") and shown == text:
            shown = f"{name} {shown}"
        if shown.startswith("~"):
            shown = shown.split(".")[-1]
        return [nodes.inline("", shown.lstrip("!"))], []

    known_directive, known_role = directives.directive, roles.role
    ours = set(empty) | set(code) | {"toctree", "only", "ifconfig"}

    def directive(name, module, document):
        if name.lower() in ours:
            return Any, []
        found, _ = known_directive(name, module, document)
        return found or Any, []

    directives.directive = directive
    roles.role = lambda name, module, lineno, reporter: (name not in ("pep", "rfc") and known_role(name, module, lineno, reporter)[0] or any_role, [])


def rst_text(path):
    from docutils import core, nodes

    with open(path, encoding="utf-8") as file:
        source = file.read()
    settings = {"report_level": 5, "halt_level": 6, "warning_stream": False, "raw_enabled": True, "syntax_highlight": "none", "file_insertion_enabled": True, "docinfo_xform": False, "doctitle_xform": False}
    document = core.publish_doctree(source, source_path=path, settings_overrides=settings)
    hidden = (nodes.comment, nodes.system_message, nodes.substitution_definition, nodes.raw, nodes.pending)
    parts = []

    def walk(node):
        if isinstance(node, hidden):
            return
        if isinstance(node, nodes.Text):
            parts.append(node.astext())
            return
        # Fields that say how a page is built.
        if isinstance(node, nodes.field) and node[0].astext() in ("orphan", "tocdepth", "nocomments", "nosearch"):
            return
        if isinstance(node, nodes.image):
            parts.append(" " + node.get("alt", "") + " ")
        for child in node.children:
            walk(child)
        if not isinstance(node, nodes.Inline):
            parts.append(" ")

    walk(document)
    return "".join(parts)


readers = {"html": html_text, "docx": docx_text, "pdf": pdf_text, "rst": rst_text}
wanted = json.load(sys.stdin)
if any(format == "rst" for _, format in wanted):
    try:
        prepare_rst()
    except ImportError:
        sys.exit(3)
converted = convert_adoc([path for path, format in wanted if format == "adoc"])
readers["adoc"] = lambda path: converted[path]
for path, format in wanted:
    try:
        print(json.dumps({"path": path, "text": readers[format](path)}), flush=True)
    except Exception as error:
        print(json.dumps({"path": path, "problem": f"{type(error).__name__}: {error}"}), flush=True)
