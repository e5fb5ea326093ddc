import { describe, expect, it } from "vitest";
import { type TestService, startTestService, writeFiles } from "../../../service.ts";
import { lastAccepted, runIngest, startGitService } from "../support.ts";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ingestUntilTrusted, recordedFiles } from "./recorded-files.ts";

describe("hidden", () => {
  const secret = "postgres://admin:kT9vQ2mX7pLw@db01.intern.net/main";
  const files = {
    "docs/a.md": `# A\n\n<!-- internal: ${secret} -->\n\nText. <!-- two -->\n`,
    "docs/b.html": "<main><p>Text.</p><p hidden>internal</p></main>",
  };

  it("what no reader sees is not sent, and is counted once for each kind", async () => {
    const service = await startTestService({ files });
    const { stderr, error } = await runIngest(service, ["docs"]);
    expect(error).toBeUndefined();
    expect(stderr).toContain("2 comments are not sent (first: docs/a.md line 3)");
    expect(stderr).toContain("1 hidden element is not sent (first: docs/b.html line 1: <p>)");
    expect(stderr).not.toContain("internal");
    expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toBe("# A\n\n\n\nText. \n");
    expect(lastAccepted(service, "docs/b.html")?.sections[0]?.text).toBe("Text.\n");
  });
});

describe("images", () => {
  const png = (text: string): Buffer =>
    Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);

  const files = {
    "docs/a.md": "# A\n\n![one](one.png)\n",
    "docs/b.md": "# B\n\n![two](two.png) ![gone](gone.png)\n",
    "docs/c.md": "# C\n\nNo image.\n",
    "docs/one.png": png("one"),
    "docs/two.png": png("two"),
  };
  const upload = { images: "upload" } as const;

  async function next(service: TestService): Promise<[read: string[], done: string]> {
    const { stale } = await recordedFiles(service);
    const { stderr } = await runIngest(service, ["docs"], upload);
    return [
      stale,
      /(?:done: |nothing to send, )?([\d a-z,]*unchanged)/.exec(stderr)?.[1] ?? stderr,
    ];
  }

  it("are read again with their documents alone, where they changed", async () => {
    const service = await startTestService({ files });
    expect(await ingestUntilTrusted(service, upload)).toEqual([]);
    // Unchanged, and also missing, ones are not.
    expect((await runIngest(service, ["docs"], upload)).stderr).toContain("3 unchanged");
    // New times and the same content.
    writeFiles(service.folder, { "docs/one.png": png("one") });
    expect(await next(service)).toEqual([["docs/a.md"], "3 unchanged"]);
    await ingestUntilTrusted(service, upload);
    // A changed, a new and a vanished one.
    writeFiles(service.folder, { "docs/one.png": png("other") });
    expect(await next(service)).toEqual([["docs/a.md"], "1 updated, 2 unchanged"]);
    await ingestUntilTrusted(service, upload);
    writeFiles(service.folder, { "docs/gone.png": png("here") });
    expect(await next(service)).toEqual([["docs/b.md"], "1 updated, 2 unchanged"]);
    await ingestUntilTrusted(service, upload);
    rmSync(join(service.folder, "docs/two.png"));
    expect(await next(service)).toEqual([["docs/b.md"], "1 updated, 2 unchanged"]);
    await ingestUntilTrusted(service, upload);
    // A content comparison reads documents with images again.
    writeFiles(service.folder, { "docs/one.png": png("third") });
    const { stderr } = await runIngest(service, ["docs"], { ...upload, checksum: true });
    expect(stderr).toContain("1 updated, 2 unchanged");
  });

  it("--since takes the documents of a changed, a new and a deleted image", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], upload);
    const since = { ...upload, since: "HEAD" };
    writeFiles(service.folder, { "docs/one.png": png("other") });
    expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
    service.commit();
    writeFiles(service.folder, { "docs/gone.png": png("here") });
    expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
    service.commit();
    rmSync(join(service.folder, "docs/two.png"));
    expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
  });
});

describe("links", () => {
  const files = {
    "docs/from.md": "# From\n\n[a](target.md) [b](later.md) [c](sub/page)\n",
    "docs/other.md": "# Other\n\n[a](sub/page.md)\n",
    "docs/plain.md": "# Plain\n\nNo link.\n",
    "docs/target.md": "# Target\n\nText.\n",
    "docs/sub/page.md": "# Page\n\nText.\n",
  };
  const options = { link: "https://x.example/{slug}" };

  async function next(service: TestService): Promise<[read: string[], counts: string]> {
    const { stale } = await recordedFiles(service);
    const { stderr } = await runIngest(service, ["docs"], options);
    return [stale, /(?:\d+ \w+, )*\d+ unchanged/.exec(stderr)?.[0] ?? stderr];
  }

  function textOf(service: TestService, id: string): string {
    return lastAccepted(service, id)?.sections[0]?.text ?? "";
  }

  it("a changed, a renamed, a new and a vanished target change exactly their dependents", async () => {
    const service = await startTestService({ files });
    expect(await ingestUntilTrusted(service, options)).toEqual([]);
    // Another text: it is read, its dependents too, and it alone is sent.
    writeFiles(service.folder, { "docs/target.md": "# Target\n\nOther text.\n" });
    expect(await next(service)).toEqual([
      ["docs/from.md", "docs/target.md"],
      "1 updated, 4 unchanged",
    ]);
    await ingestUntilTrusted(service, options);
    // Another link in its front matter.
    writeFiles(service.folder, {
      "docs/sub/page.md": "---\nlink: https://y.example/p\n---\n# Page\n",
    });
    expect(await next(service)).toEqual([
      ["docs/from.md", "docs/other.md", "docs/sub/page.md"],
      "3 updated, 2 unchanged",
    ]);
    expect(textOf(service, "docs/other.md")).toContain("[a](https://y.example/p)");
    await ingestUntilTrusted(service, options);
    renameSync(join(service.folder, "docs/target.md"), join(service.folder, "docs/later.md"));
    const [read, counts] = await next(service);
    expect([read, counts]).toEqual([
      ["docs/from.md", "docs/target.md"],
      "1 created, 1 updated, 3 unchanged",
    ]);
    expect(textOf(service, "docs/from.md")).toContain(
      "[a](target.md) [b](https://x.example/docs/later) [c](https://y.example/p)",
    );
    await ingestUntilTrusted(service, options);
    rmSync(join(service.folder, "docs/later.md"));
    // The state still knows the documents of the files that are gone.
    const gone = ["docs/later.md", "docs/target.md"];
    expect((await next(service))[0]).toEqual(["docs/from.md", ...gone]);
    expect(textOf(service, "docs/from.md")).toContain("[b](later.md)");
  });

  it("an unchanged folder of many linked pages is not read", async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [
        `docs/${index}.md`,
        `[n](${(index + 1) % 120}.md) [p](./${(index + 119) % 120}) [gone](x${index}.md)\n`,
      ]),
    );
    const service = await startTestService({ files: pages });
    expect(await ingestUntilTrusted(service, options)).toEqual([]);
    const { stderr } = await runIngest(service, ["docs"], options);
    expect(stderr).toContain("120 unchanged");
    // A finding is reported when the file is read.
    expect(stderr).not.toContain("no file");
  });

  it("dead links are counted in one line", async () => {
    const service = await startTestService({ files });
    const { stderr } = await runIngest(service, ["docs"], options);
    expect(stderr).toContain(
      "warning: 1 link leads to no file and stays as written (first: docs/from.md:3: later.md)",
    );
  });

  it("--since takes the dependents of a changed, a renamed and a new file", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], options);
    const since = { ...options, since: "HEAD" };
    writeFiles(service.folder, {
      "docs/target.md": "---\nlink: https://y.example/t\n---\nText.\n",
    });
    expect((await runIngest(service, ["docs"], since)).stderr).toContain("2 updated");
    expect(textOf(service, "docs/from.md")).toContain("[a](https://y.example/t)");
    service.commit();
    service.git("mv", "docs/sub/page.md", "docs/later.md");
    expect((await runIngest(service, ["docs"], since)).stderr).toContain("1 created, 2 updated");
    expect(textOf(service, "docs/other.md")).toContain("[a](sub/page.md)");
  });
});

describe("the configuration of a site", () => {
  it("that changes sends the pages whose links it makes", async () => {
    const files = { "mkdocs.yml": "site_url: https://a.example/\n", "docs/a.md": "# A\n\nText.\n" };
    const service = await startTestService({ files });
    const options = { linkStyle: "mkdocs" as const };
    expect((await runIngest(service, ["docs"], options)).stderr).toContain("1 created");
    expect(lastAccepted(service, "docs/a.md")?.sections[0]?.link).toBe("https://a.example/a/");
    expect((await runIngest(service, ["docs"], options)).stderr).toContain("1 unchanged");
    writeFiles(service.folder, { "mkdocs.yml": "site_url: https://b.example/\n" });
    expect((await runIngest(service, ["docs"], options)).stderr).toContain("1 updated");
    expect(lastAccepted(service, "docs/a.md")?.sections[0]?.link).toBe("https://b.example/a/");
  });

  it("that changes sends the pages that ask it for nothing but their link", async () => {
    const path = "versioned_docs/version-1.0/a.md";
    const files = { "docusaurus.config.js": "", "versions.json": '["1.0"]', [path]: "Text.\n" };
    const service = await startTestService({ files });
    const options = { linkStyle: "docusaurus", linkBase: "https://x.example" } as const;
    expect((await runIngest(service, ["."], options)).stderr).toContain("1 created");
    expect(lastAccepted(service, path)?.sections[0]?.link).toBe("https://x.example/docs/a");
    writeFiles(service.folder, { "versions.json": '["2.0", "1.0"]' });
    expect((await runIngest(service, ["."], options)).stderr).toContain("1 updated");
    expect(lastAccepted(service, path)?.sections[0]?.link).toBe("https://x.example/docs/1.0/a");
  });
});

describe("notes", () => {
  it("a note of a vault that appears, changes or moves changes the pages that embed it", async () => {
    const files = { ".obsidian/app.json": "{}", "a/One.md": "# One\n\n![[Two]]\n" };
    const service = await startTestService({ files });
    const next = async (): Promise<[counts: string | undefined, text: string | undefined]> => {
      const { stderr } = await runIngest(service, ["."], {});
      const counts = /done: (.*?) in /.exec(stderr)?.[1];
      return [counts, lastAccepted(service, "a/One.md")?.sections[0]?.text];
    };
    expect(await next()).toEqual(["1 created", "# One\n\n\n"]);
    writeFiles(service.folder, { "b/new/Two.md": "First.\n", "c/x.md": "# X\n\nText.\n" });
    expect(await next()).toEqual(["2 created, 1 updated", "# One\n\nFirst.\n"]);
    writeFiles(service.folder, { "b/new/Two.md": "Second.\n" });
    expect(await next()).toEqual(["2 updated, 1 unchanged", "# One\n\nSecond.\n"]);
    renameSync(join(service.folder, "b/new/Two.md"), join(service.folder, "c/Two.md"));
    writeFiles(service.folder, { "c/Two.md": "Third.\n" });
    expect(await next()).toEqual(["1 created, 1 updated, 1 unchanged", "# One\n\nThird.\n"]);
    expect(await next()).toEqual(["3 unchanged", "# One\n\nThird.\n"]);
    // Nearer to the top than the one that was found.
    writeFiles(service.folder, { "b/Two.md": "Fourth.\n" });
    expect(await next()).toEqual(["1 created, 1 updated, 2 unchanged", "# One\n\nFourth.\n"]);
  });

  it("--since takes the pages that embed a note by name, where a note of that name appears", async () => {
    const service = await startGitService({
      files: {
        ".gitignore": ".knowctl\n",
        "docs/a/One.md": "# One\n\n![[Cafe\u{301}]] ![[new/Two]]\n",
        "docs/a/Other.md": "# Other\n\n![[three]]\n",
        "docs/b/c/Caf\u{e9}.md": "First.\n",
      },
    });
    const next = async (files: Record<string, string>): Promise<string | undefined> => {
      writeFiles(service.folder, files);
      service.commit();
      const { stderr } = await runIngest(service, ["docs"], { since: "HEAD~1" });
      return /done: (.*?) in /.exec(stderr)?.[1];
    };
    await runIngest(service, ["docs"], {});
    expect(await next({ "docs/b/CAFE\u{301}.md": "Second.\n" })).toBe("1 created, 1 updated");
    expect(lastAccepted(service, "docs/a/One.md")?.sections[0]?.text).toContain("Second. ![[new/");
    expect(await next({ "docs/x/new/Two.md": "Two.\n" })).toBe("1 created, 1 updated");
    expect(lastAccepted(service, "docs/a/One.md")?.sections[0]?.text).toContain("Second. Two.");
    expect(await next({ "docs/x/y.md": "Nothing else.\n" })).toBe("1 created");
  });
});
