import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { projectFolder } from "../../support.ts";
import { createFolder, fileIn, readOkAsync } from "../folder.ts";

// A text as pandoc and LibreOffice wrote it, and one of Ghostscript, to which qpdf gave passwords.
const fixture = (name: string): Uint8Array =>
  readFileSync(join(projectFolder, "test", "fixtures", "documents", "office", name));

const fields = {
  title: "Core Title",
  primary_owners: [{ display_name: "Jo Doe" }, { display_name: "Al Roe" }],
};

describe("files that programs wrote", () => {
  it.each(["pandoc.docx", "libreoffice.docx"])("%s", async (name) => {
    const { document } = await readOkAsync(fixture(name), { sections: "headings" }, name);
    expect(document).toMatchObject(fields);
    expect(document.sections).toMatchObject([
      { text: "Core Title\n\nJo Doe\n\nAl Roe" },
      {
        text: expect.stringMatching(
          /^First heading\n\nText with a \[link\]\(https:\/\/example\.com\/?\) and note\[\^1\]\. `?code`? a\*b\n\n- one\n- two\n  - nested\n\n1\. n1\n2\. n2\n\n\| A \| B \|\n\| --- \| --- \|\n\| 1 \| 2 \|\n\n\[\^1\]: The note text\.$/,
        ),
      },
      { text: expect.stringMatching(/^First heading > Second\b/) },
    ]);
    expect(document.sections.at(-1)).toMatchObject({
      text: "First heading > Second\n\n```\ncode block\n# not heading\n```\n\n> quote",
    });
  });

  it.each(["ghostscript.pdf", "owner-password.pdf"])("%s", async (name) => {
    const { document } = await readOkAsync(fixture(name), {}, name);
    expect(document).toMatchObject(fields);
    expect(document.sections).toEqual([
      { text: "Page 1\n\nFirst heading\n\nText of the first page,\non two lines." },
      { text: "Page 2\n\nThe second page" },
    ]);
  });

  it("a password is asked for by nobody", async () => {
    const root = createFolder({ "a.pdf": fixture("password.pdf") });
    await expect(readDocument(fileIn(root, "a.pdf"), compileSettings({ root }))).rejects.toThrow(
      "a.pdf: cannot be read: it is password-protected",
    );
  });
});
