"""Reads documents with programs of others, and with the standard library where a format is simple.

Usage: read_pages.py READER FOLDER MAIN; MAIN is the element with the text of a page, e.g. `main` or
`.content`. Takes a JSON array of [path, format] on stdin, paths below FOLDER.
Prints one JSON object a line: {"path", "text"}, or {"path", "problem"}. Ends with status 3 where the
reader is not installed. Runs no conf.py, no macro and no extension of a project.
"""

import json
import os
import pathlib
import posixpath
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

# Elements whose text is no part of a page's main text.
HIDDEN = {"script", "style", "head", "nav", "header", "footer", "aside", "template", "form", "button", "noscript", "svg", "dialog", "menu", "select", "textarea", "iframe", "object", "canvas"}
# Classes and ids of lists of headings that a generator makes (Docusaurus, Sphinx, kramdown,
# Python-Markdown, Hugo), and of texts that only a screen reader speaks.
UNSEEN = {"table-of-contents", "toctree-l2", "markdown-toc", "toc", "TableOfContents", "sr-only", "visually-hidden"}
VOID = {"br", "img", "hr", "input", "meta", "link", "source", "wbr", "area", "base", "col", "embed", "track"}
INLINE = {"a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "tt", "u", "font", "mark", "kbd", "var"}
MAIN = sys.argv[3]
MISSING = 3


class Page(HTMLParser):
    """The text of a page: of its main part where it has one."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.ended = None
        self.all = []
        self.main = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        # Fonts draw icons with a title.
        label = {"img": "alt", "i": "title"}.get(tag)
        if label is not None:
            self.handle_data(" " + (attributes.get(label) or "") + " ")
        if tag in VOID:
            self.handle_data(" ")
            return
        is_main = MAIN in (tag, attributes.get("role")) or MAIN[1:] in (attributes.get("class") or "").split()
        names = {attributes.get("id"), *(attributes.get("class") or "").split()}
        role = attributes.get("role")
        # The reader opens a tab.
        is_closed = "hidden" in attributes and role != "tabpanel"
        # An aside of the main part is a note: Starlight.
        is_note = tag == "aside" and any(each[1] for each in self.open)
        is_hidden = (tag in HIDDEN and not is_note) or UNSEEN & names or is_closed or role in ("navigation", "search", "banner", "contentinfo")
        # Styles set the texts of roles apart, but not the pieces of code.
        is_apart = tag == self.ended == "span" and not any(each[0] in ("pre", "code") for each in self.open)
        if tag not in INLINE or is_apart:
            self.handle_data(" ")
        self.open.append((tag, is_main, is_hidden))

    def handle_endtag(self, tag):
        if any(each[0] == tag for each in self.open):
            while self.open.pop()[0] != tag:
                pass
        if tag not in INLINE:
            self.handle_data(" ")
        self.ended = tag

    def handle_data(self, data):
        self.ended = None
        if any(each[2] for each in self.open):
            return
        self.all.append(data)
        if any(each[1] for each in self.open):
            self.main.append(data)


def html_text(html):
    page = Page()
    # A message of Asciidoctor about a file that is not here.
    html = re.sub(r"Unresolved (include )?directive in \S+ - \S+", " ", html)
    page.feed(html)
    page.close()
    main = "".join(page.main)
    return main if main.strip() else "".join(page.all)


def text_of(path):
    return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")


def run(command, folder, seconds=60, **options):
    """Runs a program; ends it with all that it started where nothing new came into the folder for so long."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **{**quiet, **options})
    count, since = -1, time.monotonic()
    while process.poll() is None:
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            made = sum(len(names) for _, _, names in os.walk(folder))
            if made != count:
                count, since = made, time.monotonic()
            elif time.monotonic() - since > seconds:
                os.killpg(process.pid, signal.SIGKILL)


def in_batches(files, size, convert, made):
    """Calls convert(batch, folder), then made(folder, number) for the text of each; one that stops a batch is tried alone."""
    waiting = [files[at : at + size] for at in range(0, len(files), size)]
    while waiting:
        batch = waiting.pop(0)
        missing = []
        with tempfile.TemporaryDirectory() as folder:
            convert(batch, folder)
            for number, file in enumerate(batch):
                problem = pathlib.Path(folder, f"{number}.problem")
                text = made(folder, number)
                if text is not None:
                    yield file[0], text, None
                elif problem.exists() or len(batch) == 1:
                    yield file[0], None, text_of(problem) if problem.exists() else "no text, or not in time"
                else:
                    missing.append(file)
        waiting = [part for part in (missing[:1], missing[1:]) if part] + waiting


def made_with(ending, clean=lambda text: text):
    def made(folder, number):
        found = sorted(pathlib.Path(folder).glob(f"{number}{ending}"))
        return "\n".join(clean(text_of(each)) for each in found) if found else None

    return made


without_front_matter = re.compile(r"\A\ufeff?---\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S)

# Extensions that sites use: attributes, footnotes, definition lists.
pandoc_formats = {"md": "commonmark_x", "html": "html", "rst": "rst", "docx": "docx", "odt": "odt", "epub": "epub", "ipynb": "ipynb"}


def pandoc(files, root):
    def convert(batch, folder):
        lines = []
        for number, (path, format) in enumerate(batch):
            if format == "md":
                body = pathlib.Path(folder, f"{number}.md")
                body.write_text(without_front_matter.sub("", text_of(path)), encoding="utf-8")
                path = body
            lines.append(f"{number} {pandoc_formats[format]} {path}\n")
        pages = pathlib.Path(folder, "pages")
        pages.write_text("".join(lines), encoding="utf-8")
        script = pathlib.Path(__file__).with_name("pandoc.lua")
        command = ["pandoc", "+RTS", "-M2G", "-RTS", "--quiet", "-f", "markdown", "-t", "plain", "-L", str(script), os.devnull]
        run(command, folder, 120, env={**os.environ, "PAGES": str(pages), "OUT": folder}, cwd=root)

    return in_batches(files, 100, convert, made_with(".txt"))


def libreoffice(files, root):
    # Help of LibreOffice, "Filter options for CSV": each sheet in a file of its own, as shown.
    csv = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
    targets = {"docx": "txt:Text (encoded):UTF8", "odt": "txt:Text (encoded):UTF8", "xlsx": csv, "pptx": "pdf"}
    endings = {"xlsx": "-*.csv", "pptx": ".pdf"}
    with tempfile.TemporaryDirectory() as profile:
        for format in sorted({format for _, format in files}):

            def convert(batch, folder):
                named = [os.path.join(folder, f"{number}.{format}") for number in range(len(batch))]
                for (path, _), name in zip(batch, named):
                    shutil.copyfile(path, name)
                command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to", targets[format], "--outdir", folder, *named]
                run(command, folder)

            def made(folder, number):
                if format != "pptx":
                    return made_with(endings.get(format, ".txt"))(folder, number)
                pdf = os.path.join(folder, f"{number}.pdf")
                return pdf_text("pdftotext", pdf) if os.path.exists(pdf) else None

            yield from in_batches([file for file in files if file[1] == format], 40, convert, made)


def pdf_text(program, path):
    command = {"pdftotext": ["pdftotext", "-enc", "UTF-8", path, "-"], "mutool": ["mutool", "draw", "-q", "-F", "txt", path]}[program]
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode("utf-8", "replace")


def antora_attributes(path):
    """Attributes of the Antora component that a page belongs to."""
    for folder in pathlib.Path(path).resolve().parents:
        file = folder / "antora.yml"
        if file.exists():
            part = re.search(r"\n  attributes:\n((?:(?:    .*)?\n)*)", file.read_text(encoding="utf-8"))
            found = re.findall(r"^    ([\w-]+):[ \t]*(.*?)(?:[ \t]+#.*)?$", part[1] if part else "", re.M)
            return tuple(f"{key}={value.strip(chr(34) + chr(39))}" for key, value in found)
    return ()


def adoc_text(html):
    """Without what only Antora would resolve: included files, and references without a text."""
    html = re.sub(r"link:[^\s\[]+\[role=include\]", " ", html)
    html = re.sub(r'<a [^>]*class="[^"]*\binclude\b[^>]*>[^<]*</a>', " ", html)
    html = re.sub(r'<a [^>]*href="[^"]*">[^<]*\.html[^<]*</a>', " ", html)
    return html_text(html)


def options_of(attributes):
    return [word for each in ("nofooter", "showtitle", *attributes) for word in ("-a", each)]


def asciidoctor(files, root):
    groups = {}
    for file in files:
        groups.setdefault(antora_attributes(file[0]), []).append(file)
    for attributes, group in groups.items():

        def convert(batch, folder):
            # Safe mode would refuse a target folder elsewhere. No page is read from the network.
            command = ["asciidoctor", "-q", "-S", "unsafe", "-R", root, "-D", folder, *options_of(("icons=font", *attributes))]
            run([*command, *(path for path, _ in batch)], folder)
            for number, (path, _) in enumerate(batch):
                page = os.path.join(folder, os.path.splitext(os.path.relpath(path, root))[0] + ".html")
                if os.path.exists(page):
                    os.replace(page, os.path.join(folder, f"{number}.page"))

        yield from in_batches(group, 100, convert, made_with(".page", adoc_text))


def asciidoc(files, root):
    def convert(batch, folder):
        (path, _), = batch
        run(["asciidoc", "-b", "html5", "-s", *options_of(antora_attributes(path)), "-o", os.path.join(folder, "0.html"), path], folder)

    return in_batches(files, 1, convert, made_with(".html", adoc_text))


def sphinx(files, root):
    """All pages at once, by the text builder, without the project's configuration."""
    with tempfile.TemporaryDirectory() as out:
        names = [os.path.splitext(os.path.relpath(path, root))[0] for path, _ in files]
        first = "index" if "index" in names else names[0]
        command = ["sphinx-build", "-C", "-Q", "-b", "text", "-D", f"root_doc={first}", "-D", "exclude_patterns=**/node_modules", "-d", os.path.join(out, ".trees"), root, out]
        run(command, out, 300)
        for (path, _), name in zip(files, names):
            page = os.path.join(out, name + ".txt")
            yield (path, text_of(page), None) if os.path.exists(page) else (path, None, "not built")


def each(read):
    """A reader of one file at a time."""

    def reader(files, root):
        for path, format in files:
            try:
                yield path, read(path, format), None
            except Exception as error:
                yield path, None, f"{type(error).__name__}: {error}"

    return reader


def docutils(path, format):
    from docutils import core

    settings = {"report_level": 3, "halt_level": 6, "warning_stream": False, "raw_enabled": False, "syntax_highlight": "none", "input_encoding": "utf-8", "output_encoding": "unicode", "_disable_config": True}
    html = core.publish_string(pathlib.Path(path).read_bytes(), source_path=path, writer_name="html5", settings_overrides=settings)
    # Roles and directives of Sphinx are errors here.
    html = re.sub(r'<(aside|div) class="system-message[^>]*>.*?</\1>|<span class="problematic".*?</span>', " ", html, flags=re.S)
    return html_text(html)


def markdown_it(path, format):
    from markdown_it import MarkdownIt

    return html_text(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(without_front_matter.sub("", text_of(path))))


def words_of(xml, texts, breaks, hidden=()):
    """The text of the elements `texts` (of every element where that is None); `breaks` divide words."""
    parts = []

    def walk(element):
        name = element.tag.rsplit("}", 1)[-1]
        if name in hidden:
            return
        if name in breaks:
            parts.append(" ")
        if texts is None or name in texts:
            parts.append(element.text or "")
        for child in element:
            walk(child)
            if texts is None:
                parts.append(child.tail or "")
        if name in breaks:
            parts.append(" ")

    walk(ElementTree.fromstring(xml))
    return "".join(parts)


def epub_text(file):
    names = {"c": "urn:oasis:names:tc:opendocument:xmlns:container", "o": "http://www.idpf.org/2007/opf"}
    package = ElementTree.fromstring(file.read("META-INF/container.xml")).find(".//c:rootfile", names).get("full-path")
    root = ElementTree.fromstring(file.read(package))
    items = {item.get("id"): item for item in root.iterfind(".//o:item", names)}
    chapters = [items.get(each.get("idref")) for each in root.iterfind(".//o:itemref", names)]
    hrefs = [item.get("href") for item in chapters if item is not None and "nav" not in (item.get("properties") or "").split()]
    places = [posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(href))) for href in hrefs]
    return "\n".join(html_text(file.read(place).decode("utf-8", "replace")) for place in places)


def slides_text(file):
    slides = [name for name in file.namelist() if re.fullmatch(r"ppt/(slides|notesSlides)/[^/]*\.xml", name)]
    return "\n".join(words_of(file.read(name), {"t"}, {"p", "br"}, {"Fallback"}) for name in slides)


def docx_text(file):
    parts = [name for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml") if name in file.namelist()]
    return "\n".join(words_of(file.read(name), {"t"}, {"p", "tab", "br"}, {"del", "moveFrom", "Fallback"}) for name in parts)


def odt_text(file):
    breaks = {"p", "h", "s", "tab", "line-break", "list-item", "table-cell", "note"}
    hidden = {"annotation", "tracked-changes", "note-citation", "table-of-content", "alphabetical-index", "automatic-styles", "scripts", "font-face-decls", "forms", "sequence-decls", "binary-data", "object", "desc", "title"}
    return words_of(file.read("content.xml"), None, breaks, hidden)


def notebook_text(path):
    book = json.loads(text_of(path))
    parts = []
    for cell in book.get("cells", []):
        parts.append("".join(cell.get("source", [])))
        for output in cell.get("outputs", []):
            parts.append("".join(output.get("text", [])) + "".join(output.get("data", {}).get("text/plain", [])))
    return "\n".join(parts)


def standard_library(path, format):
    if format == "html":
        return html_text(text_of(path))
    if format == "ipynb":
        return notebook_text(path)
    with zipfile.ZipFile(path) as file:
        return {"docx": docx_text, "odt": odt_text, "epub": epub_text, "pptx": slides_text}[format](file)


def openpyxl(path, format):
    import openpyxl as library

    book = library.load_workbook(path, read_only=True, data_only=True)
    return "\n".join(" ".join(str(value) for value in row if value is not None) for sheet in book.worksheets for row in sheet.iter_rows(values_only=True))


programs = {"pandoc": pandoc, "libreoffice": libreoffice, "asciidoctor": asciidoctor, "asciidoc": asciidoc, "sphinx": sphinx}
by_program = {"libreoffice": "soffice", "sphinx": "sphinx-build", "poppler": "pdftotext", "mupdf": "mutool"}
libraries = {"docutils": docutils, "markdown-it": markdown_it, "openpyxl": openpyxl}
readers = {
    **programs,
    **{name: each(read) for name, read in libraries.items()},
    "python": each(standard_library),
    "poppler": each(lambda path, format: pdf_text("pdftotext", path)),
    "mupdf": each(lambda path, format: pdf_text("mutool", path)),
}


def is_installed(name):
    if name in libraries:
        try:
            __import__(name.replace("-", "_"))
        except ImportError:
            return False
        return True
    return name == "python" or shutil.which(by_program.get(name, name)) is not None


def main(name, root):
    if not is_installed(name):
        sys.exit(MISSING)
    sys.setrecursionlimit(10_000)
    for path, text, problem in readers[name](json.load(sys.stdin), root):
        print(json.dumps({"path": path, "text": text} if problem is None else {"path": path, "problem": problem.strip()[:300]}), flush=True)


main(*sys.argv[1:3])
