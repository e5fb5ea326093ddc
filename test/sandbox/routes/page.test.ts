import { describe, expect, it } from "vitest";
import { defaultPairs } from "../../../src/sandbox/store/connectors.ts";
import { escapeHtml } from "../../../src/sandbox/routes/page.ts";
import { documentOf, start } from "../start.ts";

const hostile = `<img src=x onerror=alert(1)>"'&\u202e\u001b[31m`;

describe("the page", () => {
  it("shows connectors, documents and results, all as text, without a key", async () => {
    const pairs = [{ ...defaultPairs[0]!, name: hostile }];
    const { url, ingest, idle } = await start({ pairs });
    await ingest(
      documentOf({
        id: hostile,
        semantic_identifier: `wombat ${hostile}`,
        sections: [{ text: `wombat ${hostile}`, link: "javascript:alert(1)" }],
      }),
    );
    await idle();
    const response = await fetch(`${url}/?q=${encodeURIComponent(`wombat ${hostile}`)}`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).not.toContain("<img");
    expect(html).not.toContain("<script");
    expect(html).not.toMatch(/href="(?!https?:)/);
    // eslint-disable-next-line no-control-regex -- the very characters are looked for
    expect(html).not.toMatch(/[\u001b\u202e]/);
    expect(html.match(/&lt;img src=x onerror=alert\(1\)&gt;&quot;&#39;&amp;/g)).toHaveLength(5);
  });

  it("forbids everything but its own style, and no frame may hold it", async () => {
    const { url } = await start();
    const { headers } = await fetch(`${url}/`);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("loads nothing from elsewhere", async () => {
    const { url } = await start();
    const html = await (await fetch(`${url}/`)).text();
    expect(html).not.toMatch(/src=|url\(|@import|<link/);
  });

  it("searches for its own origin, not for another one", async () => {
    const { url, ingest, idle } = await start();
    await ingest(documentOf({ sections: [{ text: "wombat", link: "https://a" }] }));
    await idle();
    const own = await fetch(`${url}/search?q=wombat`, { headers: { origin: url } });
    expect(await own.json()).toMatchObject({
      results: [{ document_id: "a.md", link: "https://a" }],
    });
    expect(
      (await fetch(`${url}/search?q=wombat`, { headers: { origin: "https://evil.example" } }))
        .status,
    ).toBe(403);
    for (const query of ["", "?q=", `?q=${"x".repeat(5_000)}`, "?q=%22"]) {
      expect((await fetch(`${url}/search${query}`)).status).toBe(200);
    }
  });

  it("shows results as sentences with their heading, and no bare headings", async () => {
    const { url, ingest, idle } = await start();
    const text = "# Burrows\n\n## Digging\n\n**Wombats** dig at night.\n\n```sh\ndig\n```";
    await ingest(documentOf({ semantic_identifier: "Burrows", sections: [{ text }] }));
    await idle();
    const html = await (await fetch(`${url}/?q=burrows+dig`)).text();
    expect(html).toContain(
      '<ol><li>Burrows · Digging<span class="hit">Wombats dig at night.</span></li></ol>',
    );
  });

  it("escapes", () => {
    expect(escapeHtml("a\tb\n<&>\"'\u0000\u007f\u202e")).toBe("a\tb\n&lt;&amp;&gt;&quot;&#39;");
  });
});
