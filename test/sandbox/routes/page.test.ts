import { describe, expect, it } from "vitest";
import { raw, start } from "../start.ts";

describe("the page", () => {
  it("is served without a key, and loads only its own files", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/`);
    const html = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    const addresses = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address]) => address!);
    expect(addresses).toEqual(["/page/icon.svg", "/page/style.css", "/page/main.js"]);
    for (const address of addresses) expect((await fetch(url + address)).status).toBe(200);
    // No script and no style within the page, which its policy would refuse.
    expect(html).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son\w+=/);
  });

  it("forbids everything but its own files, and no frame may hold it", async () => {
    const { url } = await start();
    const { headers } = await fetch(`${url}/`);
    expect(headers.get("content-security-policy")).toBe(
      `default-src 'none'; script-src ${url}/page/; style-src ${url}/page/; img-src ${url}/page/; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("allows this origin where the address is IPv6, which a policy cannot name", async () => {
    const { port } = await start();
    const head = `GET / HTTP/1.1\r\nhost: [::1]:${port}\r\nconnection: close\r\n\r\n`;
    expect(await raw(port, head)).toContain("script-src 'self'; style-src 'self';");
  });

  it("refers to no other place in any of its files", async () => {
    const { url } = await start();
    const names = ["main.js", "style.css", "icon.svg"];
    for (const name of names) {
      const file = await fetch(`${url}/page/${name}`);
      expect(file.headers.get("x-content-type-options")).toBe("nosniff");
      const text = await file.text();
      expect(text.length, name).toBeGreaterThan(100);
      expect(text.replaceAll('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
        /https?:\/\/|url\(|@import/,
      );
      // Every module that is imported is served.
      for (const [, path] of text.matchAll(/from "\.\/([\w.-]+)"/g)) {
        if (!names.includes(path!)) names.push(path!);
      }
    }
    expect(names).toHaveLength(10);
    expect((await fetch(`${url}/page/assets.ts`)).status).toBe(404);
    expect((await fetch(`${url}/page/__proto__`)).status).toBe(404);
  });

  it("contains the public key, and never another one", async () => {
    const open = await start({ key: "sandbox" });
    expect(await (await fetch(open.url)).text()).toContain('name="sandbox-key" content="sandbox"');
    const closed = await start({ key: "CANARY-own-key" });
    const html = await (await fetch(closed.url)).text();
    expect(html).toContain('name="sandbox-key" content=""');
    expect(html).not.toContain("CANARY");
  });
});
