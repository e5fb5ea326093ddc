import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deadLink } from "../../../../src/checks/lint/rules/dead-links.ts";
import { missingAnchor } from "../../../../src/checks/lint/rules/links.ts";
import { labelsIn, rolesOf } from "../../../../src/checks/lint/page/roles.ts";
import { expectLinear } from "../../../cost.ts";
import { check, lint, openPages } from "./pages.ts";

const b = "B\n=\n\n.. _part-of-b:\n\nPart\n----\n\nText.\n\n.. figure:: b.png\n   :name: fig-b\n";

describe("references of Sphinx to labels", () => {
  const a =
    "A\n=\n\n:ref:`part-of-b`, :ref:`text <Part-of-B>`, :numref:`fig-b`, :ref:`genindex` and :ref:`gone`.\n\n" +
    ".. See :ref:`in-comment`\n   and :ref:`in-comment-too`.\n\n``:ref:`in-code` `` ::\n\n   :ref:`in-block`\n\n" +
    "- :std:ref:`text\n  <part-of-c>` :ref:`Manual <tools:x>` :ref:`from-program`\n";
  const files = {
    "docs/conf.py": "extensions = ['myst_parser']\n",
    "docs/a.rst": a,
    "docs/b.rst": b,
    "tools/x.py": '"""\nTool.\n\n.. _from-program:\n"""\n',
  };

  it("are findings where no page has the label", async () => {
    expect(await lint(missingAnchor, files)).toEqual([
      "docs/a.rst:4:87: no page has the label gone",
      "docs/a.rst:14:4: no page has the label part-of-c; similar: part-of-b",
      "docs/a.rst:14:30: no page has the label tools:x",
    ]);
    const { "docs/conf.py": _conf, ...plain } = files;
    expect(await lint(missingAnchor, plain)).toEqual([]);
  });

  it("may be of another project, if they resemble none of this one", async () => {
    const conf = "intersphinx_mapping = {'tools': ('https://tools.example', None)}\n";
    expect(await lint(missingAnchor, { ...files, "docs/conf.py": conf })).toEqual([
      "docs/a.rst:14:4: no page has the label part-of-c; similar: part-of-b",
    ]);
  });

  it("find the titles of sections where an extension makes labels of them", async () => {
    const conf = "extensions = ['sphinx.ext.autosectionlabel']\n";
    const text = "A\n=\n\n:ref:`Part`, :ref:`b:Part`, :ref:`b:Gone`\n";
    const [docs, page] = ["docs/conf.py", "docs/a.rst"];
    expect(await lint(missingAnchor, { ...files, [docs]: conf, [page]: text })).toEqual([
      "docs/a.rst:4:35: no page has the label b:Gone",
    ]);
    expect(await lint(missingAnchor, { ...files, [page]: text })).toHaveLength(3);
  });

  it("are those of roles in MyST as well", async () => {
    const text =
      "# A\n\n{ref}`part-of-b`, {ref}`text <gone>` and `` {ref}`code` ``\n\n(own)=\n## Own\n\n{ref}`own`\n";
    const { "docs/a.rst": _a, ...others } = files;
    expect(await lint(missingAnchor, { ...others, "docs/a.md": text })).toEqual([
      "docs/a.md:3:31: no page has the label gone",
    ]);
  });
});

describe("references of Sphinx to pages", () => {
  const text =
    "A\n=\n\n:doc:`b`, :doc:`/sub/c`, :doc:`text <sub/gone>`, :doc:`/gone` and :doc:`other:x`\n\n:doc:`../../b` :doc:`../no`\n";
  const files = {
    "docs/conf.py": "extensions = ['myst_parser']\n",
    "docs/a.rst": text,
    "docs/b.rst": b,
    "docs/sub/c.md": "# C\n\n{doc}`../b` {doc}`no`\n",
  };

  it("are dead links where there is no page, and the text stays as it is", async () => {
    expect(await lint(deadLink, files)).toEqual([
      "docs/a.rst:4:38: the reference leads to no page: sub/gone",
      "docs/a.rst:4:56: the reference leads to no page: /gone",
      "docs/a.rst:4:73: the reference leads to no page: other:x",
      "docs/a.rst:6:22: the reference leads to no page: ../no",
      "docs/sub/c.md:3:19: the reference leads to no page: no",
    ]);
    const [page] = await openPages(files);
    expect(page?.document?.sections[0]?.text).toContain("text, /gone and other:x");
    expect(page?.document?.sections[0]?.text).toMatch(/\[\w+\]\(b\.rst\) \.\.\/no/);
  });

  it("may be of another project, and to what a build makes", async () => {
    const conf =
      "extensions = ['myst_parser']\nintersphinx_mapping = {'other': ('https://other.example', None)}\n";
    expect(await lint(deadLink, { ...files, "docs/conf.py": conf })).toEqual([
      "docs/a.rst:4:38: the reference leads to no page: sub/gone",
      "docs/a.rst:4:56: the reference leads to no page: /gone",
      "docs/a.rst:6:22: the reference leads to no page: ../no",
    ]);
    expect(await lint(deadLink, { ...files, ".gitignore": "/docs/sub/gone.rst\n" })).toHaveLength(
      4,
    );
  });
});

describe("a hostile site of Sphinx", () => {
  const conf = { "conf.py": "" };

  it.each(["{ref}`a` <!-- ", "{ref}`a` ", "% {ref}`a`\n", " ", "(a)=\n", ":name: a\n"])(
    "costs no more than its size: %j",
    async (piece) => {
      const [page] = await openPages({ ...conf, "a.md": "# A\n\nText {ref}`gone`.\n" });
      const small = page!;
      expectLinear(60_000, (size) => {
        const source = piece.repeat(size / piece.length);
        const parsed = { ...small.parsed, body: "Text." };
        rolesOf({ ...small, source, parsed });
        expect([...labelsIn(source)].length).toBeLessThan(size);
      });
    },
  );

  it("keeps no check waiting with pipes", async () => {
    const text = "A\n=\n\n:ref:`gone`, :ref:`from-part`\n";
    const pages = await openPages({ ...conf, "a.rst": text, "x.inc": ".. _from-part:\n" });
    const { root } = pages[0]!.settings;
    rmSync(join(root, "conf.py"));
    for (const name of ["conf.py", "tool.py"]) execFileSync("mkfifo", [join(root, name)]);
    expect(check(missingAnchor, pages).map(({ message }) => message)).toEqual([
      "no page has the label gone",
    ]);
  });
});
