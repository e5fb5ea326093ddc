import { type AddressInfo, createServer } from "node:net";
import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { otherPrefixes, judgeAnswer } from "../../../src/commands/doctor/checks/answer.ts";
import { rawHeaders } from "../../api/support.ts";
import { holdTime } from "../../held-time.ts";
import { aimAt, runDoctor, serve } from "./support.ts";
import { type Arrival, judgeArrivals } from "../../../src/commands/doctor/checks/streaming.ts";
import {
  judgeDialect,
  lackingIn,
  presenceOf,
} from "../../../src/commands/doctor/checks/dialect.ts";
import { wrapWords } from "../../../src/output/terminal/width.ts";

describe("answer", () => {
  const html = (title: string, more = ""): string =>
    `<!doctype html><html><head><title>${title}</title></head><body>${more}</body></html>`;

  type Answer = [status: number, headers: Record<string, string>, body: string];

  const page = (status: number, body: string, headers: Record<string, string> = {}): Answer => [
    status,
    { "content-type": "text/html", ...headers },
    body,
  ];
  const json = (status: number, value: unknown): Answer => [
    status,
    { "content-type": "application/json" },
    JSON.stringify(value),
  ];

  function send(response: ServerResponse, [status, headers, body]: Answer): void {
    response.writeHead(status, headers).end(body);
  }

  describe("who answers instead of the service:", () => {
    it.each<[name: string, answer: Answer, exit: number, message: string, fix: string]>([
      [
        "the web interface",
        page(200, html("Search", '<div id="__next">')),
        8,
        "web interface",
        "base URL",
      ],
      [
        "the web interface, 404",
        page(404, html("404", '<script src="/_next/a.js">')),
        8,
        "web interface",
        "base URL",
      ],
      [
        "the container of the web interface",
        json(404, { message: "This API is only available in development mode. In production" }),
        8,
        "development mode",
        "container of the web interface",
      ],
      [
        "a trailing slash",
        [307, { location: "/manage/admin/connector/status" }, ""],
        8,
        "the same address without /api",
        "trailing slash",
      ],
      [
        "the web interface by redirect",
        [308, { location: "/app/manage" }, ""],
        8,
        "web interface",
        "web interface",
      ],
      [
        "another host",
        [301, { location: "https://new.example.com/api/x" }, ""],
        8,
        "another host",
        "https://new.example.com",
      ],
      [
        "a login by redirect",
        [302, { location: "https://sso.example.com/login?x=SECRET" }, ""],
        8,
        "login page",
        "for programs",
      ],
      [
        "a login page",
        page(200, html("Sign in", '<input type="password">')),
        8,
        "login page",
        "for programs",
      ],
      ["a captive portal", page(200, html("Guest Wi-Fi")), 8, "login page of a network", "browser"],
      [
        "511",
        page(511, html("Network Authentication Required")),
        8,
        "login page of a network",
        "browser",
      ],
      [
        "Cloudflare",
        page(403, html("Just a moment...", "cf-error-details"), { server: "cloudflare" }),
        8,
        "Cloudflare blocks",
        "allow requests",
      ],
      [
        "AWS WAF",
        page(405, "", { "x-amzn-waf-action": "captcha" }),
        8,
        "AWS WAF blocks",
        "allow requests",
      ],
      [
        "F5",
        page(200, html("Request Rejected", "The requested URL was rejected. Please consult with")),
        8,
        "F5 BIG-IP blocks",
        "allow requests",
      ],
      [
        "nginx without the service",
        page(502, html("502 Bad Gateway")),
        8,
        "service behind it does not",
        "try again",
      ],
      ["no such path", json(404, { detail: "Not Found" }), 9, "404: Not Found", "base URL"],
      ["no page at all", [204, {}, ""], 8, "204: an empty response", "base URL"],
      ["JSON without a value", json(200, undefined), 8, "200: an empty response", "base URL"],
      ["an unknown page", page(200, html("It works!")), 8, "It works!", "base URL"],
    ])("%s", async (_name, answer, exit, message, fix) => {
      const { url, seen } = await serve((_request, response) => send(response, answer));
      const { code, findings } = await runDoctor(aimAt(url));
      const found = findings["answer"];
      expect(found).toMatchObject({ status: "failure", message: expect.stringContaining(message) });
      expect(found?.fixes.join("\n")).toContain(fix);
      expect(found?.message).not.toContain("SECRET");
      expect(code).toBe(exit);
      expect(findings["api-key"]).toMatchObject({ status: "skipped", because: "answer" });
      // Whoever that is did not get the key.
      expect(seen.filter((line) => line.endsWith("with key"))).toEqual([]);
    });
  });

  it.each([
    ["http://a.test", "https://a.test/api/x", "the same address over https"],
    ["https://a.test", "http://a.test/x", "the same address without /api"],
    ["https://a.test", "http://a.test:8080/x", "the same address without /api"],
    ["https://a.test", "/app/x", "the web interface"],
    ["https://a.test", "https://login.b.test/oauth2/authorize?state=1", "a login page"],
    ["https://a.test", "https://b.test/", "another host"],
    ["https://a.test", "http://[", "which cannot be followed"],
    ["https://a.test", "/other", "which is not followed"],
  ])("a redirect from %s to %s is %s", (origin, location, words) => {
    const answer = { status: 307, headers: rawHeaders({ location }), body: Buffer.alloc(0) };
    expect(judgeAnswer(answer, `${origin}/api/x`).words).toContain(words);
  });

  describe("the base URL:", () => {
    it.each(["/app", "/some/where"])("%s is too much", async (given) => {
      const { url } = await serve((request, response) => {
        const isThere = request.url?.startsWith("/api/manage/");
        send(response, isThere ? json(403, { detail: "no" }) : json(404, { detail: "Not Found" }));
      });
      const { code, findings } = await runDoctor(aimAt(url + given));
      expect(code).toBe(9);
      expect(findings["answer"]?.fixes).toEqual([
        `the service answers at ${url}: use this as the base URL`,
      ]);
    });

    it("/api is doubled", async () => {
      const { url } = await serve((request, response) => {
        const isThere = request.url?.startsWith("/api/manage/");
        send(response, isThere ? json(403, { detail: "no" }) : json(404, { detail: "Not Found" }));
      });
      const { findings } = await runDoctor(aimAt(`${url}/api/api`));
      expect(findings["answer"]?.fixes[0]).toBe(
        `the service answers at ${url}: use this as the base URL (/api is doubled: the tool adds it itself)`,
      );
    });

    it("the service itself without the proxy that adds /api", async () => {
      const { url } = await serve((request, response) => {
        const isThere = request.url?.startsWith("/manage/");
        send(response, isThere ? json(403, { detail: "no" }) : json(404, { detail: "Not Found" }));
      });
      const { findings } = await runDoctor(aimAt(url));
      expect(findings["answer"]?.fixes[0]).toContain("without /api: this is its internal address");
    });

    it("other prefixes are the shorter ones, a few of them", () => {
      expect(otherPrefixes("/a/b/api")).toEqual(["/a/b", "/a", ""]);
      expect(otherPrefixes("")).toEqual([]);
      expect(otherPrefixes("/a".repeat(100))).toHaveLength(4);
    });
  });

  describe("the wire:", () => {
    it("something that is no HTTP", async () => {
      const server = createServer((socket) => {
        socket.on("error", () => {}).end("SSH-2.0-OpenSSH_9.2\r\n");
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const { code, findings } = await runDoctor(aimAt(`http://127.0.0.1:${port}`));
      expect(findings["answer"]).toMatchObject({ status: "failure" });
      expect([5, 8]).toContain(code);
    });

    it("someone who never answers", async () => {
      const pass = holdTime();
      const { url } = await serve(() => pass(61_000));
      const { code, findings } = await runDoctor(aimAt(url), "--timeout", "60");
      expect(code).toBe(7);
      expect(findings["answer"]).toMatchObject({
        status: "failure",
        message: expect.stringContaining("no response in time"),
      });
    });

    it.each([0, 2])("a listing of %i MiB that anyone may read is a warning", async (size) => {
      const records = size === 0 ? [] : [{ name: "x".repeat(size * 1024 * 1024) }];
      const { url } = await serve((_request, response) => send(response, json(200, records)));
      const { findings } = await runDoctor(aimAt(url));
      expect(findings["answer"]).toMatchObject({
        status: "warning",
        message: expect.stringContaining("to anyone"),
      });
    });
  });

  describe("rights:", () => {
    const date = { date: new Date(Date.now() + 3_600_000).toUTCString() };
    const service = (ingestion: (hasKey: boolean) => Answer) =>
      serve((request, response) => {
        const hasKey = request.headers.authorization !== undefined;
        for (const [name, value] of Object.entries(date)) response.setHeader(name, value);
        if (request.url?.endsWith("/status")) {
          return send(response, hasKey ? json(200, []) : json(401, { detail: "no" }));
        }
        if (request.url?.endsWith("svc-api/ingestion")) return send(response, ingestion(hasKey));
        if (request.url?.endsWith("-message")) {
          return send(response, hasKey ? json(422, {}) : json(401, { detail: "no" }));
        }
        return send(response, json(404, { detail: "Not Found" }));
      });

    it("a service that looks at the request before the key says nothing about the key", async () => {
      const { url } = await service(() => json(422, { detail: [] }));
      const { findings } = await runDoctor(aimAt(url));
      expect(findings["api-key"]).toMatchObject({
        status: "warning",
        message: expect.stringContaining("not known"),
      });
      expect(findings["chat"]?.status).toBe("ok");
    });

    it("a service that takes an empty document is no proof either", async () => {
      const { url } = await service(() => json(200, { document_id: "x" }));
      const { findings } = await runDoctor(aimAt(url));
      expect(findings["api-key"]).toMatchObject({
        status: "warning",
        message: expect.stringContaining("accepted an empty request"),
      });
    });

    it("a key without the permission is told from one that is not known", async () => {
      const { url } = await service(() =>
        json(403, { error_code: "INSUFFICIENT_PERMISSIONS", detail: "You need more" }),
      );
      const { code, findings } = await runDoctor(aimAt(url));
      expect(code).toBe(4);
      expect(findings["api-key"]?.message).toContain("You need more");
      expect(findings["api-key"]?.fixes.join()).toContain("lacks the permission");
    });

    it("a clock that is an hour off is a warning", async () => {
      const { url } = await service(() => json(422, {}));
      const { findings } = await runDoctor(aimAt(url));
      expect(findings["clock"]).toMatchObject({
        status: "warning",
        message: "the clock of this machine is 60 minutes behind the service",
      });
    });
  });
});

describe("judgements", () => {
  const every = (count: number, gap: number, from: number, messages = 1): Arrival[] =>
    Array.from({ length: count }, (_, index) => ({ ms: from + index * gap, messages }));

  describe("arrivals:", () => {
    it.each<[name: string, arrivals: Arrival[], verdict: string]>([
      ["a word at a time", every(40, 50, 800), "streamed"],
      ["words close together, over a while", every(60, 10, 300), "streamed"],
      ["all at once after a long wait", [{ ms: 4000, messages: 60 }], "buffered"],
      ["in pieces, but at once after a long wait", every(6, 1, 4000, 10), "buffered"],
      [
        "the greeting at once, the rest in one heap",
        [
          { ms: 50, messages: 2 },
          { ms: 5000, messages: 60 },
        ],
        "buffered",
      ],
      [
        "two heaps after a long wait",
        [
          { ms: 3000, messages: 20 },
          { ms: 5000, messages: 40 },
        ],
        "buffered",
      ],
      ["all at once and at once", [{ ms: 90, messages: 60 }], "unknown"],
      ["hardly anything", every(3, 500, 100), "unknown"],
      ["nothing", [], "unknown"],
    ])("%s", (_name, arrivals, verdict) => {
      expect(judgeArrivals(arrivals).verdict).toBe(verdict);
    });

    it("are told with their numbers", () => {
      expect(judgeArrivals(every(40, 50, 800)).words).toBe(
        "40 messages in 40 chunks (40 apart by more than 30 ms), the first after 800 ms, over 1.9 s, gaps 50 ms (median) to 50 ms",
      );
    });
  });

  describe("who answers:", () => {
    it("JSON of somebody else is told as that, not by its status alone", () => {
      const headers = rawHeaders({ "content-type": "application/json" });
      const answer = { status: 200, headers, body: Buffer.from('{"up":true}') };
      expect(judgeAnswer(answer, "http://host/api/x")).toMatchObject({
        who: "elsewhere",
        words: "200, JSON that is not a response of the service",
      });
    });
  });

  describe("the dialect:", () => {
    it.each([
      [undefined, "there", "absent", "standard"],
      ["v4.6.1", "absent", "there", "onyx"],
      [undefined, "absent", "there", "onyx"],
      ["v4.6.1", "there", "absent", "mixed"],
      ["v4.6.1", "unknown", "unknown", "onyx"],
      ["v4.6.1", "there", "there", "onyx"],
      [undefined, "there", "there", "standard"],
      [undefined, "absent", "absent", undefined],
      [undefined, "unknown", "absent", undefined],
    ] as const)("version %s, svc-api %s, onyx-api %s: %s", (version, standard, onyx, dialect) => {
      const found = version === undefined ? undefined : { text: version };
      expect(judgeDialect(found, { standard, onyx }).dialect).toBe(dialect);
    });

    it.each([
      ["refused", "refused", "refused", undefined],
      ["refused", "refused", "absent", undefined],
      ["refused", "unknown", "refused", undefined],
      ["refused", "there", "refused", undefined],
      ["refused", "there", "absent", "standard"],
      ["refused", "absent", "there", "onyx"],
      [undefined, "refused", "refused", "standard"],
      [undefined, "refused", "absent", "standard"],
      [undefined, "refused", "unknown", undefined],
    ] as const)("refused: %s, svc-api %s, onyx-api %s: %s", (version, standard, onyx, dialect) => {
      expect(judgeDialect(version, { standard, onyx }).dialect).toBe(dialect);
    });

    it.each([
      [422, "application/json", "there"],
      [403, "application/json", "refused"],
      [401, "text/html", "refused"],
      [404, "application/json", "absent"],
      [405, "application/json", "absent"],
      [403, "text/html", "refused"],
      [200, "text/html", "unknown"],
      [500, "application/json", "unknown"],
    ])("%s in %s", (status, type, presence) => {
      const answer = {
        status,
        headers: rawHeaders({ "content-type": type }),
        body: Buffer.alloc(0),
      };
      expect(presenceOf({ answer })).toBe(presence);
    });
  });

  describe("versions:", () => {
    it.each([
      ["v4.6.1", 0],
      ["4.5.0", 0],
      ["4.4.9", 1],
      ["v4.2.0-cloud.3", 3],
      ["v2.0.0", 10],
      ["Development", undefined],
      ["", undefined],
    ])("%s lacks %s", (version, count) => {
      expect(lackingIn(version)?.length).toBe(count);
    });

    it("chat needs 2.8", () => {
      const lacksChat = (version: string): boolean =>
        lackingIn(version)?.some((each) => each.startsWith("chat does not work")) === true;
      expect(["v2.7.9", "v2.8.0", "v10.0", "Development"].map(lacksChat)).toEqual([
        true,
        false,
        false,
        false,
      ]);
    });
  });

  it.each([
    ["one two three", 8, ["one two", "three"]],
    ["https://a.example.com/very/long b", 8, ["https://a.example.com/very/long", "b"]],
    ["日本 日本 日本", 9, ["日本 日本", "日本"]],
    ["", 8, [""]],
  ])("%s in %s columns", (text, width, lines) => {
    expect(wrapWords(text, width)).toEqual(lines);
  });
});
