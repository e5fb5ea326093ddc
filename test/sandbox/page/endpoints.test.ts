import { describe, expect, it } from "vitest";
import type { PairRecord } from "../../../src/api/schemas.ts";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { documentOf, raw, start } from "../start.ts";

describe("its endpoints", () => {
  interface State {
    documents: { total: number; waiting: number };
    changes: number;
    connectors: { cc_pair_id: number; documents: number; waiting: number; received_at: unknown }[];
    faults: Record<string, unknown>;
  }

  describe("the endpoints of the page", () => {
    it.each([
      ["GET", "/sandbox/state"],
      ["GET", "/sandbox/documents"],
      ["GET", "/sandbox/document?id=a.md"],
      ["PUT", "/sandbox/faults"],
    ])("%s %s needs the key, and refuses other origins", async (method, path) => {
      const { url, send } = await start();
      expect((await fetch(url + path, { method })).status).toBe(401);
      const headers = { origin: "https://evil.example" };
      expect((await send(method, path, method === "PUT" ? {} : undefined, headers)).status).toBe(
        403,
      );
    });

    it("count the documents of each connector, after each change", async () => {
      const now = Date.UTC(2026, 0, 2);
      const clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0.5 };
      const { get, ingest, idle } = await start({ clock });
      const state = async (): Promise<State> => (await get("/sandbox/state")).json();
      const empty = await state();
      expect(empty.connectors.map(({ documents }) => documents)).toEqual([0, 0, 0, 0, 0, 0, 0]);
      await ingest(documentOf());
      await ingest(documentOf({ id: "b.md" }));
      await ingest(documentOf({ id: "b.md" }), 3);
      await idle();
      const full = await state();
      expect(full.documents).toEqual({ total: 2, waiting: 0 });
      expect(full.connectors.slice(0, 3)).toMatchObject([
        { cc_pair_id: 2, documents: 2, waiting: 0, received_at: "2026-01-02T00:00:00Z" },
        { cc_pair_id: 3, documents: 1, waiting: 0 },
        { cc_pair_id: 4, documents: 0, received_at: null },
      ]);
      expect(full.changes).toBeGreaterThan(empty.changes);
      expect((await state()).changes).toBe(full.changes);
    });

    it("name a connector without a name by what it has", async () => {
      const nameless = { ...defaultPairs[0]!, name: null };
      const bare: PairRecord = {
        ...nameless,
        cc_pair_id: 9,
        connector: { ...nameless.connector, name: null },
      };
      const { get } = await start({ pairs: [nameless, bare] });
      const { connectors } = (await get("/sandbox/state")).json() as { connectors: unknown[] };
      expect(connectors).toMatchObject([{ name: "Handbook uploads" }, { name: "Connector 9" }]);
    });

    it("list documents, the newest first, of one connector if asked", async () => {
      // Each document a second later: two in one millisecond are ordered by their first upload.
      let now = Date.UTC(2026, 0, 2);
      const clock = { now: () => (now += 1000), sleep: () => Promise.resolve(), random: () => 0.5 };
      const { get, ingest } = await start({ clock });
      for (const id of ["a.md", "b.md", "c.md"]) await ingest(documentOf({ id }));
      await ingest(documentOf({ id: "b.md" }), 3);
      const list = async (query: string) => {
        const { total, documents } = (await get(`/sandbox/documents?${query}`)).json() as {
          total: number;
          documents: { id: string; pairs: unknown }[];
        };
        return [total, ...documents.map(({ id }) => id)];
      };
      expect(await list("limit=2")).toEqual([3, "b.md", "c.md"]);
      expect(await list("pair=3")).toEqual([1, "b.md"]);
      expect(await list("pair=99")).toEqual([0]);
      for (const query of ["limit=x", "limit=0", "pair=x"]) {
        expect((await get(`/sandbox/documents?${query}`)).status).toBe(422);
      }
    });

    it("find documents by words, with a sentence and its heading", async () => {
      const { get, ingest, idle } = await start();
      const text = "# Burrows\n\n## Digging\n\n**Wombats** dig at night.\n\n```sh\ndig\n```";
      await ingest(documentOf({ semantic_identifier: "Burrows", sections: [{ text }] }));
      await ingest(documentOf({ id: "b.md" }), 3);
      await idle();
      const find = async (query: string): Promise<unknown> =>
        (await get(`/sandbox/documents?${query}`)).json();
      const found = { name: "Burrows", heading: "Digging", excerpt: "Wombats dig at night." };
      expect(await find("q=burrows+dig")).toMatchObject({ total: 1, documents: [found] });
      expect(await find("q=dig&pair=3")).toEqual({ total: 0, documents: [] });
      for (const query of ["q=%22", "q=NEAR(", `q=${"x".repeat(5_000)}`]) {
        expect(await find(query)).toEqual({ total: 0, documents: [] });
      }
    });

    it("show a whole document as it was sent", async () => {
      const { get, ingest } = await start();
      const sections = [{ text: "One.", link: "https://a/1" }, { text: "Two." }];
      const primary_owners = [{ display_name: "Ada" }, { email: "b@example.com" }];
      await ingest(documentOf({ id: "a b", sections, primary_owners, metadata: { team: "it" } }));
      const answer = await get("/sandbox/document?id=a_b");
      expect(answer.json()).toMatchObject({
        id: "a_b",
        link: "https://a/1",
        pairs: [{ cc_pair_id: 2, name: "Handbook uploads" }],
        sections,
        owners: ["Ada", "b@example.com"],
        metadata: { team: "it" },
      });
      expect((await get("/sandbox/document?id=none")).status).toBe(404);
    });
  });

  describe("the faults", () => {
    const faults = async (send: Awaited<ReturnType<typeof start>>["send"], body: unknown) =>
      await send("PUT", "/sandbox/faults", body);

    it("change from the next request on, and never touch their own switch", async () => {
      const { send, get } = await start();
      expect((await get("/api/tool")).status).toBe(200);
      const on = await faults(send, { statuses: { 429: 1 }, latency_ms: 1 });
      expect(on.json()).toEqual({
        latency_ms: 1,
        statuses: { 429: 1 },
        cut: 0,
        reset: 0,
        html: 0,
        hang: 0,
      });
      expect((await get("/api/tool")).status).toBe(429);
      expect(((await get("/sandbox/state")).json() as State).faults).toEqual(on.json());
      await faults(send, {});
      expect((await get("/api/tool")).status).toBe(200);
    });

    it("are those of --fault at first, and its object stays as it is", async () => {
      const given = { rates: { statuses: { 500: 1 } } };
      const { send, get } = await start({ faults: given });
      expect(((await get("/sandbox/state")).json() as State).faults).toMatchObject({
        statuses: { 500: 1 },
      });
      await faults(send, { html: 1 });
      expect((await get("/api/tool")).text).toContain("<html>");
      expect(given).toEqual({ rates: { statuses: { 500: 1 } } });
    });

    it.each([
      { cut: 2 },
      { cut: -1 },
      { cut: "1" },
      { latency_ms: 1e9 },
      { statuses: { 200: 1 } },
      { statuses: { __proto__x: 1 } },
      { rules: [] },
      [],
      null,
    ])("refuse %j", async (body) => {
      const { send, get } = await start();
      expect((await faults(send, body)).status).toBe(422);
      expect((await get("/api/tool")).status).toBe(200);
    });
  });
});

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
