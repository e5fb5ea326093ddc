import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PairRecord } from "../../../src/api/schemas.ts";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { documentOf, raw, start } from "../start.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../../support.ts";
import { type Chromium, findChromium, startChromium } from "../../../scripts/chromium.js";
import { heldClock } from "../../held-clock.ts";
import { ask, choose, click, openPage, textOf, untilListed } from "./browser.ts";
import { lowContrast, overlaps } from "./layout.ts";

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

describe("texts", async () => {
  /** The browser's modules are no part of the program's types. */
  const load = (name: string): Promise<unknown> =>
    import(new URL(`../../../src/sandbox/page/browser/${name}`, import.meta.url).href);
  const { visible, readableId } = (await load("dom.js")) as {
    visible(text: string): string;
    readableId(id: string): string;
  };

  describe("the texts of the page", () => {
    it.each([
      ["a\tb\r\nc", "a\tb\nc"],
      ["\u001b[31m\u0000", "␛[31m␀"],
      ["\u007f\u0085", "␡[U+0085]"],
      ["\u202ecod.exe\u2069", "[U+202E]cod.exe[U+2069]"],
      ["שלום\u200f world", "שלום world"],
    ])("show what is hidden in %j", (text, shown) => {
      expect(visible(text)).toBe(shown);
    });

    it.each([
      ["docs%2Fann%C3%A9e.md", "docs/année.md"],
      ["100%", "100%"],
      ["a_b", "a_b"],
    ])("make the id %s readable", (id, readable) => {
      expect(readableId(id)).toBe(readable);
    });
  });
});

describe("answers", async () => {
  interface Turn {
    text: string;
    queries: string[];
    documents: Map<string, unknown>;
    citations: Map<number, string>;
    session: string | undefined;
    failure: string | undefined;
    isComplete: boolean;
    damaged: number;
  }

  /** The browser's module, which is no part of the program's types. */
  const module = new URL("../../../src/sandbox/page/browser/turn.js", import.meta.url).href;
  const { newTurn, linesOf, addLine, failureOf } = (await import(module)) as {
    newTurn(): Turn;
    linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string>;
    addLine(turn: Turn, line: string): void;
    failureOf(status: number, retryAfter: string | null, type: string, body: string): string;
  };

  /** The turn of a stream that arrives in pieces of so many bytes. */
  async function read(text: string, size = 7): Promise<Turn> {
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const turn = newTurn();
    for await (const line of linesOf(ReadableStream.from(pieces))) addLine(turn, line);
    return turn;
  }

  const packet = (obj: object): string => JSON.stringify({ placement: {}, obj });
  const answer = [
    `{"chat_session_id":"s1"}`,
    packet({ type: "message_delta", content: "Größe " }),
    packet({ type: "message_delta", content: "10 €" }),
    packet({ type: "stop" }),
  ];

  describe("the stream of an answer, read by the page", () => {
    it.each([
      ["events", answer.map((line) => `data: ${line}\n\n`).join("")],
      ["bare lines", answer.map((line) => `${line}\n`).join("")],
      ["bare lines without an end", answer.join("\n")],
      [
        "events with comments",
        `: hello\n\n${answer.map((line) => `data:${line}\r\n\r\n`).join("")}`,
      ],
    ])("is the same as %s", async (_, text) => {
      for (const size of [1, 7, 10_000]) {
        expect(await read(text, size)).toMatchObject({
          text: "Größe 10 €",
          session: "s1",
          isComplete: true,
          damaged: 0,
        });
      }
    });

    it("knows a cut stream, an error and a damaged line", async () => {
      expect(await read(answer.slice(0, 2).join("\n"))).toMatchObject({ isComplete: false });
      expect(await read(`{"error":"No model","error_code":"X"}\n`)).toMatchObject({
        failure: "No model",
      });
      expect(await read(`{"broken\n${answer.join("\n")}`)).toMatchObject({
        damaged: 1,
        isComplete: true,
      });
    });

    it("takes nothing but texts from a recording, whatever it holds", async () => {
      const hostile = { document_id: "a\ud800", semantic_identifier: {}, blurb: 5, updated_at: 9 };
      const turn = await read(
        [
          "null",
          "5",
          packet({
            type: "message_start",
            final_documents: [hostile, null, 5, { document_id: 1 }],
          }),
          packet({ type: "search_tool_documents_delta", documents: "none" }),
          packet({ type: "message_delta", content: { a: 1 } }),
          packet({ type: "search_tool_queries_delta", queries: [{ a: 1 }, "b"] }),
          packet({ type: "citation_info", citation_number: "1", document_id: {} }),
          packet({ type: "stop" }),
        ].join("\n"),
      );
      expect(turn).toMatchObject({ text: "", queries: ["", "b"], isComplete: true, damaged: 2 });
      expect(turn.citations.size).toBe(0);
      expect([...turn.documents.values()]).toEqual([
        { document_id: "a\ufffd", semantic_identifier: "", link: "", blurb: "", updated_at: "" },
      ]);
    });

    it("accepts every packet that the service sends", async () => {
      const file = join(projectFolder, "test", "fixtures", "wire", "every-packet.ndjson");
      const turn = await read(readFileSync(file, "utf8"), 1_000);
      expect(turn).toMatchObject({
        text: "Done.",
        queries: ["a", "b"],
        isComplete: true,
        damaged: 0,
      });
      expect([...turn.citations]).toEqual([[2, "https://example.com/a"]]);
      expect([...turn.documents.keys()]).toContain("handbook/leave-3.md");
    });

    it.each([
      [
        401,
        null,
        "application/json",
        `{"detail":"Not authenticated"}`,
        "status 401: Not authenticated.",
      ],
      [429, "1", "application/json", `{"detail":"Slow down."}`, "429: Slow down. Retry after 1 s."],
      [
        422,
        null,
        "application/json",
        `{"message":"1 validation error"}`,
        "422: 1 validation error.",
      ],
      [502, null, "text/html", "<html>Bad gateway</html>", "status 502: a web page."],
      [500, null, "", "", "status 500."],
      [200, null, "text/html", "<html>", "A web page came"],
      [200, null, "application/json", "{}", "not a stream"],
    ])("explains status %i", (status, retryAfter, type, body, message) => {
      expect(failureOf(status, retryAfter, type, body)).toContain(message);
    });
  });
});

describe("page", () => {
  const path = findChromium();
  if (path === undefined) {
    process.stderr.write(
      "No Chromium is found, so the sandbox's page is not tested. Install it, or set CHROMIUM to its path.\n",
    );
  }

  let chromium: Chromium;
  beforeAll(async () => {
    if (path !== undefined) chromium = await startChromium(path);
  });
  afterAll(() => chromium?.close());

  const leave = {
    id: "people/leave.md",
    semantic_identifier: "Leave",
    sections: [
      { text: "Leave > Annual\n\nEverybody has 28 days of annual leave a year." },
      { text: "Leave > Sick days\n\nCall before ten." },
    ],
  };
  const longest = {
    id: `archive/${"x".repeat(150)}.md`,
    semantic_identifier: "W".repeat(150),
    sections: [{ text: `Leave ${"annual".repeat(60)} annual leave.` }],
  };

  describe.skipIf(path === undefined)("the page", () => {
    it("loads without a complaint of the browser, from the sandbox alone", async () => {
      const { page, sandbox, problems, requests } = await openPage(chromium, [leave]);
      expect(problems).toEqual([]);
      expect(requests.length).toBeGreaterThan(8);
      expect(requests.filter((url) => !url.startsWith(`${sandbox.url}/`))).toEqual([]);
      // The policy does forbid what it names.
      await expect(page.evaluate(`document.body.innerHTML = "<b>x</b>"`)).rejects.toThrow(
        /TrustedHTML/,
      );
      await expect(page.evaluate(`fetch("http://127.0.0.1:9/")`)).rejects.toThrow(/fetch/);
    });

    it("shows an answer while it arrives, and the document of its source", async () => {
      const clock = heldClock(17);
      const { page, problems } = await openPage(chromium, [leave], { clock, tokenDelayMs: 1 });
      await page.type("How much annual leave?");
      await page.press("Enter");
      await page.until(`document.querySelector(".answer")?.textContent.includes("Everybody")`);
      await clock.pausing;
      expect(await textOf(page, ".answer")).not.toContain("a year");
      expect(await textOf(page, "article .sources")).toBe("");
      clock.release();
      await page.until(`document.querySelector("article .sources") !== null`);
      expect(await textOf(page, ".answer")).toContain(
        "Everybody has 28 days of annual leave a year.",
      );
      expect(await textOf(page, "#announcement")).toMatch(/^Answer: .*28 days.* 1 source\.$/s);
      await click(page, ".answer .cite");
      await page.until(`document.querySelector("dialog mark") !== null`);
      expect(await textOf(page, "#document-title")).toBe("Leave");
      expect(await textOf(page, "dialog mark")).toContain("28 days of annual leave");
      expect(await textOf(page, "#document-facts")).toContain("people/leave.md");
      expect(await textOf(page, "#document-text")).toContain("Call before ten.");
      expect(problems).toEqual([]);
    });

    it("goes on in the same session, and starts a new one when asked to", async () => {
      const { page, sandbox } = await openPage(chromium, [leave], { dialect: "onyx" });
      await ask(page, "How much annual leave?");
      await ask(page, "And sick days?");
      await click(page, "#restart");
      await ask(page, "How much leave?");
      const sessions = sandbox.ledger.chats.map((each) => each["chat_session_id"]);
      expect(sessions).toEqual([undefined, expect.any(String), undefined]);
      expect(await page.evaluate(`document.querySelectorAll("article").length`)).toBe(1);
    });

    it("works with the keyboard alone, and shows where the focus is", async () => {
      const { page } = await openPage(chromium, [leave]);
      const focused = (): Promise<string> =>
        page.evaluate(`(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        const isVisible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
        const { id, textContent } = document.activeElement;
        return (isVisible ? "" : "unseen ") + (id || textContent);
      })()`);
      expect(await focused()).toBe("question");
      await page.type("How much annual leave?");
      await page.press("Enter");
      await page.until(`document.querySelector("article .sources") !== null`);
      const order = [];
      for (let step = 0; step < 9; step++) {
        await page.press("Tab");
        order.push(await focused());
      }
      const links = ["1", "Leave"];
      expect(order).toEqual([
        "send",
        "restart",
        ...links,
        "words",
        "pair",
        "Find",
        "Leave",
        "fault-latency",
      ]);
      await page.press("ArrowDown");
      await page.until(`document.querySelector("#fault-badge").innerText === "1 fault on"`);
      await page.press("ArrowUp");
      await page.until(`document.querySelector("#fault-badge").hidden`);
      await page.evaluate(`document.querySelector(".sources a").focus()`);
      await page.press("Enter");
      await page.until(`document.querySelector("dialog .text") !== null`);
      await page.press("Tab");
      expect(await focused()).toBe("close");
      await page.press("Escape");
      await page.until(`location.hash === ""`);
      expect(await focused()).toBe("Leave");
    });

    it("has a name and a role for everything that a screen reader meets", async () => {
      const { page } = await openPage(chromium, [leave]);
      await ask(page, "How much annual leave?");
      interface Node {
        ignored: boolean;
        role: { value: string };
        name?: { value: string };
      }
      const { nodes } = await page.send<{ nodes: Node[] }>("Accessibility.getFullAXTree");
      const found = nodes
        .filter(({ ignored }) => !ignored)
        .map(({ role, name }) => `${role.value} ${name?.value ?? ""}`);
      const controls =
        /^(button|link|textbox|searchbox|combobox|switch|region|article|dialog)( .*)?$/;
      expect(found.filter((each) => controls.test(each) && each.endsWith(" "))).toEqual([]);
      expect(found).toEqual(
        expect.arrayContaining([
          "textbox Ask a question",
          "button Ask",
          "region Ask a question",
          "article How much annual leave?",
          "link Source 1: Leave",
          "search ",
          "searchbox Find in the documents",
          "combobox Connector",
          "region Documents 1",
          "region Connectors",
          "region Faults",
          "combobox Too many requests",
          "status ",
        ]),
      );
    });

    it("fits into 400 to 1,600 pixels, light and dark", async () => {
      const { page } = await openPage(chromium, [leave, longest]);
      await ask(page, `How much annual leave? ${"y".repeat(100)}`);
      for (const width of [400, 800, 1000, 1600]) {
        await page.resize(width, 900);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        expect([width, await page.evaluate(overlaps)]).toEqual([width, []]);
      }
      for (const value of ["light", "dark"]) {
        const features = [{ name: "prefers-color-scheme", value }];
        await page.send("Emulation.setEmulatedMedia", { features });
        expect([value, await page.evaluate(lowContrast)]).toEqual([value, []]);
      }
      await page.resize(400, 900);
      await click(page, "#documents a");
      await page.until(`document.querySelector("dialog .text") !== null`);
      expect(await page.evaluate(`document.querySelector("dialog").scrollWidth`)).toBeLessThan(400);
    });

    it("switches faults on and off for the next request", async () => {
      const { page } = await openPage(chromium, [leave]);
      for (const [name, message] of [
        ["429", "The service answered with status 429: Injected fault 429. Retry after 1 s."],
        ["html", "A web page came in place of an answer, with status 200."],
        ["cut", "The connection was cut before the answer was complete."],
      ]) {
        await choose(page, `#fault-${name}`, "1");
        await page.until(`!document.querySelector("#fault-flag").hidden`);
        expect(await textOf(page, "#fault-text")).toBe(`--fault ${name}=1`);
        await ask(page, "How much annual leave?");
        expect(await textOf(page, "article .problem")).toContain(message);
        expect(await textOf(page, "#announcement")).toContain(message);
        await click(page, "#faults-off");
        await page.until(`document.querySelector("#fault-flag").hidden`);
        await click(page, "article .problem button");
        await page.until(`document.querySelector("article .sources") !== null`);
        await click(page, "#restart");
      }
      // An answer that never comes ends with Escape.
      await choose(page, "#fault-hang", "1");
      await page.until(`!document.querySelector("#fault-flag").hidden`);
      await page.type("How much annual leave?");
      await page.press("Enter");
      await page.until(`document.querySelector(".note")?.textContent.startsWith("Waiting")`);
      await page.press("Escape");
      await page.until(`document.querySelector("article .problem") !== null`);
      expect(await textOf(page, "article .problem")).toContain("You stopped this answer.");
    });

    it("shows hostile text as text", async () => {
      const attack = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
      const hidden = "\u202egnp.exe\u2066\u001b[31m\u0000\u0085";
      const name = `wombat ${attack}${hidden}`;
      const pairs = [{ ...defaultPairs[0]!, name }];
      const text = `# ${attack}\n\nThe wombat ${attack} digs ${hidden} holes. \`${attack}\` [x](javascript:alert(1))`;
      const sections = [{ text, link: "javascript:document.title='run'" }];
      const document = {
        id: name,
        semantic_identifier: name,
        sections,
        metadata: { [name]: name },
      };
      const { page, problems } = await openPage(chromium, [document], { pairs });
      await ask(page, `wombat ${attack} holes`);
      await click(page, ".sources a");
      await page.until(`document.querySelector("dialog .text") !== null`);
      const all = await page.evaluate<string>("document.body.textContent");
      expect(all).toContain(`wombat ${attack}[U+202E]gnp.exe[U+2066]␛[31m`);
      expect(await textOf(page, "#document-text")).toContain(
        `The wombat ${attack} digs [U+202E]gnp`,
      );
      expect(all).not.toMatch(
        /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b-\u001f\u007f-\u009f]/,
      );
      const made = `[...document.querySelectorAll("img, body script, [onerror], a[href^=javascript]")].length`;
      expect(await page.evaluate(made)).toBe(0);
      expect(await page.evaluate("document.title")).toBe("knowctl sandbox");
      expect(problems).toEqual([]);
    });

    it("asks for a key that is not the public one", async () => {
      const { page, problems } = await openPage(chromium, [], { key: "a-key-of-ones-own" });
      await page.until(`!document.querySelector("#unlock").hidden`);
      expect(problems).toEqual([]);
      for (const wrong of ["wrong", "ключ"]) {
        await page.evaluate(`document.querySelector("#status").textContent = ""`);
        await page.type(wrong);
        await page.press("Enter");
        await page.until(`document.querySelector("#status").innerText !== ""`);
        expect(await textOf(page, "#status")).toBe("The sandbox refused this key.");
      }
      await page.type("a-key-of-ones-own");
      await page.press("Enter");
      await page.until(`document.querySelector("#documents .first") !== null`);
      expect(await textOf(page, "#documents")).toContain("knowctl ingest FOLDER --cc-pair-id 2");
      expect(await textOf(page, "#status")).toBe("");
    });

    it("shows uploads without a reload, finds words, and says when the sandbox is gone", async () => {
      const { page, sandbox } = await openPage(chromium, [leave]);
      const look = `document.dispatchEvent(new Event("visibilitychange"))`;
      await page.evaluate(`document.querySelector("#documents a").focus()`);
      await sandbox.ingest(documentOf({ id: "b.md", semantic_identifier: "Wombats" }), 7);
      await page.evaluate(look);
      await untilListed(page, 2);
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave");
      expect(await textOf(page, "#connectors li:nth-child(6)")).toContain("1 document");
      await sandbox.idle();
      await page.evaluate(`document.querySelector("#words").focus()`);
      await page.type("annual");
      await page.press("Enter");
      await untilListed(page, 1);
      expect(await textOf(page, "#found")).toBe("1 document matches.");
      await sandbox.close();
      await page.evaluate(look);
      await page.until(`document.querySelector("#status").innerText.startsWith("No connection")`);
    });
  });
});
