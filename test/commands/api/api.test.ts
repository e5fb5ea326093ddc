import { describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import {
  keyFor,
  parseHeaders,
  parseMethod,
  parsePath,
  secretValues,
  withQuery,
} from "../../../src/commands/api/address.ts";
import { startTestService, writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { main } from "../../main.ts";
import { run } from "../pairs.ts";
import { json, key, runApi, startServer } from "./support.ts";
import {
  type Field,
  createBody,
  createQuery,
  splitField,
  typedValue,
} from "../../../src/commands/api/request.ts";

describe("address", () => {
  const base = "https://host.example/wiki";

  describe("a path", () => {
    it.each([
      ["tool", "/api/tool"],
      ["/tool", "/api/tool"],
      ["api/tool", "/api/tool"],
      ["/api/tool?a=1", "/api/tool?a=1"],
      ["api", "/api"],
      ["apis", "/api/apis"],
      ["a%2Fb", "/api/a%2Fb"],
      ["a%252Fb", "/api/a%252Fb"],
      ["häß?ü=1", "/api/h%C3%A4%C3%9F?%C3%BC=1"],
      ["a:b@evil", "/api/a:b@evil"],
      ["x?next=../..", "/api/x?next=../.."],
      ["https://host.example/wiki/api/tool?x=1", "/api/tool?x=1"],
      ["https://HOST.example:443/wiki/other", "/other"],
      ["\ud800", "/api/%EF%BF%BD"],
    ])("%j is %s", (given, path) => {
      expect(parsePath(given, base)).toBe(path);
    });

    it.each([
      "",
      "/",
      "//evil.example/x",
      "https://evil.example/wiki/api/tool",
      "http://host.example/wiki/api/tool",
      "https://host.example:8443/wiki/api/tool",
      "https://host.example/wikipedia/api/tool",
      "https://host.example/other",
      "https://user:pass@host.example/wiki/api/tool",
      "https://host.example/wiki/../x",
      "ftp://host.example/wiki/x",
      "../x",
      "a/../../x",
      "a/%2e%2E/x",
      "a%2f..%2fx",
      "a%5c..%5cx",
      "a\\b",
      "a b",
      "a\r\nX: y",
      "a\u0000",
      "a#b",
    ])("%j is refused", (given) => {
      expect(() => parsePath(given, base)).toThrow(
        expect.objectContaining({ exit: "usage", message: expect.stringMatching(/^the path /) }),
      );
    });

    it("takes a query behind its own", () => {
      expect(withQuery("/a", "b=1")).toBe("/a?b=1");
      expect(withQuery("/a?c", "b=1")).toBe("/a?c&b=1");
      expect(withQuery("/a", "")).toBe("/a");
    });

    it("below the ingestion path takes the API key", () => {
      const { standard, onyx } = dialects;
      expect(keyFor("/api/svc-api/ingestion", standard)).toBe("apiKey");
      expect(keyFor("/api/onyx-api/connector-docs/2", onyx)).toBe("apiKey");
      expect(keyFor("/api/onyx-api/ingestion", standard)).toBe("accessToken");
      expect(keyFor("/api/tool", onyx)).toBe("accessToken");
    });
  });

  it("a method is one of seven, in any case", () => {
    expect(parseMethod("patch")).toBe("PATCH");
    expect(() => parseMethod("BREW")).toThrow("BREW: no such method");
  });

  describe("headers", () => {
    it("are taken by name, the last of one name", () => {
      expect({ ...parseHeaders(["Accept: text/plain", "X-A:1", "x-a: 2 ", "X-B:"]) }).toEqual({
        accept: "text/plain",
        "x-a": "2",
        "x-b": "",
      });
    });

    it.each([
      "Host: evil.example",
      "connection: close",
      "Transfer-Encoding: chunked",
      "Content-Length: 5",
      "Accept-Encoding: gzip",
      "Expect: 100-continue",
      "Authorization: Bearer CANARY",
      "Cookie: sid=CANARY",
      "Proxy-Authorization: Basic CANARY",
      "X-Onyx-Authorization: Bearer CANARY",
      "X: a\r\nY: CANARY",
      "X: a\u0000",
      "X: CANARY\u00e9",
      "X CANARY",
      ": CANARY",
      "X Y: CANARY",
    ])("%j is refused, and no value is repeated", (given) => {
      expect(() => parseHeaders([given])).toThrow(
        expect.objectContaining({ exit: "usage", message: expect.not.stringContaining("CANARY") }),
      );
    });

    it("with secrets by their names", () => {
      expect(secretValues({ "x-api-key": "a", accept: "b", "x-token": "c" })).toEqual(["a", "c"]);
    });
  });
});

describe("api", () => {
  const echo = (): ReturnType<typeof startServer> =>
    startServer(({ method, url, body }, response) => json(response, { method, url, body }));

  describe("what is sent", () => {
    it.each<[string[], object]>([
      [["tool"], { method: "GET", url: "/api/tool", body: "" }],
      [["get", "tool"], { method: "GET", url: "/api/tool" }],
      [["-X", "PATCH", "tool"], { method: "PATCH", url: "/api/tool", body: "" }],
      [["tool", "-f", "a=1", "-F", "b=1"], { method: "POST", body: '{"a":"1","b":1}' }],
      [
        ["GET", "tool?x", "-f", "a=1", "-F", "b[]=2"],
        { method: "GET", url: "/api/tool?x&a=1&b=2" },
      ],
      [["DELETE", "tool", "-f", "a=1"], { method: "DELETE", body: '{"a":"1"}' }],
      [
        ["tool", "--input", "body.json", "-f", "q=1"],
        { method: "POST", url: "/api/tool?q=1", body: "[1]" },
      ],
      [["tool", "--input", "-"], { method: "POST", body: "from stdin" }],
      [["tool", "-F", "text=@note.md"], { body: '{"text":"é\\n"}' }],
      [["tool", "-F", "text=@-"], { body: '{"text":"from stdin"}' }],
      [["--no-input", "PUT", "tool", "--input", "body.json"], { method: "PUT", body: "[1]" }],
    ])("%j", async (args, expected) => {
      const { url } = await echo();
      const cwd = temporaryFolder();
      writeFiles(cwd, { "body.json": "[1]", "note.md": "é\n" });
      const { code, out } = await runApi(url, args, { cwd, stdin: "from stdin" });
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject(expected);
    });

    it("carries the profile's key, by path or as said, and no header of ours can be replaced", async () => {
      const { url, seen } = await echo();
      const variables = { KNOWCTL_ACCESS_TOKEN: "CANARY-access-1" };
      for (const args of [["tool"], ["svc-api/ingestion"], ["tool", "--key", "api"]]) {
        await runApi(url, [...args, "-H", "Accept: text/plain"], { variables });
      }
      expect(seen.map(({ headers }) => headers.authorization)).toEqual([
        "Bearer CANARY-access-1",
        `Bearer ${key}`,
        `Bearer ${key}`,
      ]);
      expect(seen[0]?.headers.accept).toBe("text/plain");
    });

    it.each<[string[], string]>([
      [["GET", "tool", "-X", "PUT"], "set twice"],
      [["http://evil.example/api/tool"], "outside the base URL"],
      [["tool", "-H", "Authorization: Bearer x"], "a key cannot be passed"],
      [["tool", "--input", "-", "-F", "a=@-"], "stdin can be read only once"],
      [["tool", "--input", "none.json"], "cannot read none.json: no such file"],
      [["tool", "--input", "."], "cannot read .: it is a folder"],
      [["tool", "-F", "a=@none"], "cannot read none: no such file"],
      [["tool", "-F", "a=@latin"], "latin is not UTF-8"],
      [["tool", "--paginate", "-i"], "exclude each other"],
      [["tool", "--paginate", "-f", "a=1"], "works only with GET"],
      [["tool", "-o", "raw", "--jq", "."], "writes the bytes"],
      [["tool", "-o", "xml"], "Expected one of table, json"],
      [["tool", "--key", "both"], "api, access"],
      [[], "missing required argument"],
      [["GET"], "the path after it is missing"],
    ])("nothing for %j", async (args, words) => {
      const { url, seen } = await echo();
      const cwd = temporaryFolder();
      writeFiles(cwd, { latin: Buffer.from([0xe9]) });
      const { code, out, err } = await runApi(url, args, { cwd, stdin: "" });
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain(words);
      expect(err).toContain("  → ");
      expect(seen).toEqual([]);
    });

    it("is not steered by variables", async () => {
      const { url, seen } = await echo();
      const variables = { KNOWCTL_FIELD: "a=1", KNOWCTL_METHOD: "DELETE", KNOWCTL_KEY: "CANARY-k" };
      const { err } = await runApi(url, ["tool"], { variables });
      expect(seen).toMatchObject([{ method: "GET" }]);
      for (const name of Object.keys(variables)) expect(err).toContain(`${name} has no effect`);
      expect(err).not.toContain("CANARY");
    });

    it("is sent again only when it changes nothing", async () => {
      let count = 0;
      const { url, seen } = await startServer((_seen, response) =>
        count++ === 0 ? json(response, {}, 503) : json(response, {}),
      );
      expect(await runApi(url, ["tool"])).toMatchObject({ code: 0 });
      expect(seen).toHaveLength(2);
      count = 0;
      expect(await runApi(url, ["POST", "tool"])).toMatchObject({ code: 8 });
      expect(seen).toHaveLength(3);
    });

    it("after a lost answer of a change nobody knows, and the message says so", async () => {
      const { url, seen } = await startServer((_seen, response) => void response.destroy());
      const { code, err } = await runApi(url, ["POST", "tool"]);
      expect(code).toBe(5);
      expect(err).toContain("the service may have acted on the request");
      expect(seen).toHaveLength(1);
    });
  });

  describe("what is shown", () => {
    it("is the body as it came, its digits and its order, and inert", async () => {
      const body = '{"n":12345678901234567890, "a":"\u202e\u009b1m"}';
      const { url } = await startServer((_seen, response) => json(response, body));
      const { out } = await runApi(url, ["tool"]);
      expect(out).toBe('{"n":12345678901234567890, "a":"\\u202e\\u009b1m"}');
      const terminal = await runApi(url, ["tool"], { isTTY: true });
      expect(terminal.out).toBe('{\n  "n": 12345678901234567890,\n  "a": "\\u202e\\u009b1m"\n}\n');
    });

    it("has no key in it, wherever the answer is cut", async () => {
      const { url } = await startServer(({ headers }, response) => {
        const text = `"${headers.authorization} and more"`;
        response.writeHead(200, { "content-type": "application/json", "set-cookie": "sid=CANARY" });
        for (const character of text) response.write(character);
        response.end();
      });
      for (const args of [["tool"], ["tool", "-o", "raw"], ["tool", "-i"], ["tool", "--json"]]) {
        const { out, err } = await runApi(url, args);
        expect(out).toContain("Bearer *** and more");
        expect(out + err).not.toContain("CANARY");
      }
    });

    it.each([
      [[]],
      [["--output", "raw"]],
      [["--jq", "."]],
      [["--output", "csv"]],
      [["--paginate", "--dialect", "onyx"]],
    ])("has no key of a connector in it: %j", async (flags) => {
      const pair = { id: 1, credential: { credential_json: { token: "CANARY-connector" } } };
      const config = { connector_specific_config: { url: "https://u:CANARY-password@x" } };
      const { url } = await startServer((_seen, response) =>
        json(response, [{ ...pair, ...config }]),
      );
      const { code, out } = await runApi(url, ["manage/admin/connector", ...flags]);
      expect(code).toBe(0);
      expect(out).toContain("***");
      expect(out).not.toContain("CANARY");
    });

    it.each([
      ["text/plain", []],
      [undefined, []],
      [undefined, ["--include"]],
      ["text/plain", ["--output", "raw"]],
      ["text/html", ["--output", "raw"]],
      ["application/octet-stream", ["--output", "raw"]],
    ])("has no key of a connector in JSON of type %s: %j", async (type, flags) => {
      const body = ' \n[{"credential_json":{"token":"CANARY"},"a":1}]';
      const { url } = await startServer((_seen, response) => {
        response.writeHead(200, type === undefined ? {} : { "content-type": type });
        for (const character of body) response.write(character);
        response.end();
      });
      const { code, out } = await runApi(url, ["manage/admin/connector", ...flags]);
      expect(code).toBe(0);
      expect(out).toContain(' \n[{"credential_json":"***","a":1}]');
      const terminal = await runApi(url, ["x", ...flags], { isTTY: true });
      expect(terminal.out).not.toContain("CANARY");
    });

    it("is text that is no JSON as it came, also where it names a key", async () => {
      const body = 'Send `{"credential_json": {"token": "example"}}`.\n';
      const { url } = await startServer((_seen, response) => {
        response.writeHead(200, { "content-type": "text/plain" }).end(body);
      });
      expect((await runApi(url, ["readme"])).out).toBe(body);
      expect((await runApi(url, ["readme", "-o", "raw"])).out).toBe(body);
    });

    it("with --include has status and headers before it, of an error, too", async () => {
      const { url } = await startServer((_seen, response) => json(response, { detail: "no" }, 404));
      const { code, out, err } = await runApi(url, ["tool", "-i"]);
      expect(code).toBe(9);
      expect(out).toMatch(
        /^HTTP\/1\.1 404 Not Found\ncontent-type: application\/json\n(?:.+\n)+\n\{"detail":"no"\}$/,
      );
      expect(err).toContain("404: no");
      const formatted = await runApi(url, ["tool", "--json"]);
      expect(formatted.out).toBe("");
    });

    it("with --include shows where a redirect leads, too", async () => {
      const { url } = await startServer((_seen, response) => {
        response.writeHead(302, { location: `/login?next=${key}` }).end();
      });
      const { code, out, err } = await runApi(url, ["tool", "-i"]);
      expect(code).toBe(8);
      expect(out).toMatch(/^HTTP\/1\.1 302 Found\nlocation: \/login\?next=\*\*\*\n/);
      expect(err).toContain("not followed");
    });

    it.each<[number, number]>([
      [400, 2],
      [401, 4],
      [403, 4],
      [404, 9],
      [422, 2],
      [302, 8],
      [500, 8],
    ])("status %d ends with %d", async (status, code) => {
      const { url } = await startServer((_seen, response) =>
        json(response, { detail: "x" }, status),
      );
      expect((await runApi(url, ["POST", "tool"])).code).toBe(code);
    });

    it("is refused where it is a web page or no text, but with --output raw", async () => {
      let type = "text/html";
      const { url } = await startServer((_seen, response) => {
        response.writeHead(200, { "content-type": type });
        response.end("<html>\u001b[31m");
      });
      const page = await runApi(url, ["tool"]);
      expect(page).toMatchObject({ code: 8, out: "" });
      expect(page.err).toContain("the response is a web page");
      expect(await runApi(url, ["tool", "-o", "raw"])).toMatchObject({
        code: 0,
        out: "<html>\u001b[31m",
      });
      const terminal = await runApi(url, ["tool", "-o", "raw"], { isTTY: true });
      expect(terminal).toMatchObject({ code: 0, out: "<html>^[[31m\n" });
      type = "image/png";
      expect(await runApi(url, ["tool"])).toMatchObject({ code: 8, out: "" });
      type = "text/plain";
      expect(await runApi(url, ["tool"])).toMatchObject({ code: 0, out: "<html>^[[31m" });
    });

    it.each<[string[], string]>([
      [["--jq", ".[].id"], "1\n2\n"],
      [["-o", "csv", "--fields", "id,name"], "id,name\n1,'=1+1\n2,\n"],
      [["-o", "tsv", "--filter", "id=2"], "2\t\n"],
      [["-o", "ndjson"], '{"id":1,"name":"=1+1"}\n{"id":2,"name":null}\n'],
      [["--silent"], ""],
    ])("%j", async (flags, expected) => {
      const rows = [
        { id: 1, name: "=1+1" },
        { id: 2, name: null },
      ];
      const { url } = await startServer((_seen, response) => json(response, rows));
      expect(await runApi(url, ["tool", ...flags])).toEqual({ code: 0, out: expected, err: "" });
    });

    it.each<[string, string[], string]>([
      ["3", ["--json"], "3\n"],
      ['["a","b"]', ["-o", "csv"], "value\na\nb\n"],
      ['["a",1]', ["--json"], '[\n  "a",\n  1\n]\n'],
      ['{"a":{"b":1}}', ["-o", "tsv"], "1\n"],
      ["[]", ["-o", "table"], ""],
      ['"x"', ["--jq", "."], "x\n"],
    ])("%s with %j", async (body, flags, expected) => {
      const { url } = await startServer((_seen, response) => json(response, body));
      expect(await runApi(url, ["tool", ...flags])).toEqual({ code: 0, out: expected, err: "" });
    });

    it("nothing where the answer is empty", async () => {
      const { url } = await startServer((_seen, response) => void response.writeHead(204).end());
      expect(await runApi(url, ["DELETE", "tool"])).toEqual({ code: 0, out: "", err: "" });
      expect(await runApi(url, ["tool", "--json"])).toEqual({ code: 0, out: "", err: "" });
    });
  });

  describe("pages", () => {
    it("of onyx are asked for by number until all rows have come", async () => {
      const { url, seen } = await startServer(({ url: path }, response) => {
        const number = Number(new URL(path, "http://x").searchParams.get("page_num") ?? "0");
        const items = [0, 1]
          .map((index) => ({ id: number * 2 + index }))
          .filter(({ id }) => id < 5);
        json(response, { items, total_items: 5 });
      });
      const variables = { KNOWCTL_DIALECT: "onyx" };
      const all = await runApi(url, ["agents", "--paginate", "-o", "tsv", "--fields", "id"], {
        variables,
      });
      expect(all).toEqual({ code: 0, out: "0\n1\n2\n3\n4\n", err: "" });
      expect(seen.map((each) => each.url)).toEqual([
        "/api/agents",
        "/api/agents?page_num=1",
        "/api/agents?page_num=2",
      ]);
      const later = await runApi(url, ["agents?page_num=1", "--paginate", "--jq", "length"], {
        variables,
      });
      expect(later.out).toBe("3\n");
    });

    it("of sessions follow the cursor, against the sandbox", async () => {
      const service = await startTestService({ dialect: "onyx" });
      for (let count = 0; count < 3; count++) {
        await run(service, ["api", "chat/create-chat-session", "-f", "description=x", "--silent"]);
      }
      const args = ["api", "GET", "chat/get-user-chat-sessions", "-f", "page_size=1"];
      const flags = ["-f", "include_failed_chats=true", "--paginate", "--jq", "length"];
      const whole = await run(service, [...args, ...flags]);
      expect(whole).toEqual({ code: 0, out: "3\n", err: "" });
      const agents = await run(service, [
        "api",
        "agents?page_size=1",
        "--paginate",
        "--jq",
        ".[].id",
      ]);
      expect(agents).toEqual({ code: 0, out: "0\n", err: "" });
    });

    it("that repeat themselves, or are none, end with 8", async () => {
      const variables = { KNOWCTL_DIALECT: "onyx" };
      const same = { sessions: [{ time_updated: "2026-01-01" }], has_more: true };
      const endless = await startServer((_seen, response) => json(response, same));
      const first = await runApi(endless.url, ["x", "--paginate"], { variables });
      expect(first.code).toBe(8);
      expect(first.err).toContain("the service repeats them");
      expect(endless.seen).toHaveLength(2);
      const other = await startServer((_seen, response) => json(response, { a: 1 }));
      expect(await runApi(other.url, ["x", "--paginate"], { variables })).toMatchObject({
        code: 8,
      });
    });

    it("are not in the standard dialect", async () => {
      const { url, seen } = await echo();
      expect(await runApi(url, ["x", "--paginate"])).toMatchObject({ code: 9, out: "" });
      expect(seen).toEqual([]);
    });
  });
});

describe("fields", () => {
  const fields = (...given: string[]): Field[] =>
    given.map((each) => {
      const [name, value] = splitField("-f", each);
      return value === undefined ? { name } : { name, value };
    });

  describe("fields become a body", () => {
    it.each<[string[], string]>([
      [["a=1", "b=x=y"], '{"a":"1","b":"x=y"}'],
      [["a="], '{"a":""}'],
      [["a[b]=1", "a[c][d]=2"], '{"a":{"b":"1","c":{"d":"2"}}}'],
      [["a[]=1", "a[]=2"], '{"a":["1","2"]}'],
      [["a[]"], '{"a":[]}'],
      [["a[]", "a[]=1"], '{"a":["1"]}'],
      [["a[][b]=1", "a[][c]=2", "a[][b]=3"], '{"a":[{"b":"1","c":"2"},{"b":"3"}]}'],
      [["a[][b][]=1", "a[][b][]=2"], '{"a":[{"b":["1","2"]}]}'],
      [["a[b][]=1"], '{"a":{"b":["1"]}}'],
      [["__proto__[x]=1", "constructor=2"], '{"__proto__":{"x":"1"},"constructor":"2"}'],
    ])("%j", (given, body) => {
      expect(JSON.stringify(createBody(fields(...given)))).toBe(body);
      expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
    });

    it.each([
      [["a=1", "a=2"]],
      [["a=1", "a[b]=2"]],
      [["a[b]=1", "a=2"]],
      [["a[]=1", "a[b]=2"]],
      [["a[][]=1"]],
      [["[a]=1"]],
      [["a]b=1"]],
      [["a[b=1"]],
      [[`a${"[b]".repeat(30)}=1`]],
    ])("%j is refused", (given) => {
      expect(() => createBody(fields(...given))).toThrow(
        expect.objectContaining({ exit: "usage", hints: [expect.any(String)] }),
      );
    });

    it.each(["a[]", "a[b]"])("a null and %s contradict each other", (name) => {
      expect(() =>
        createBody([
          { name: "a", value: null },
          { name, value: 1 },
        ]),
      ).toThrow(expect.objectContaining({ exit: "usage" }));
    });

    it.each(["a", "=x", ""])("%j has no name and value", (given) => {
      expect(() => splitField("--field", given)).toThrow("--field: expected name=value");
    });
  });

  describe("typed values", () => {
    it.each<[string, unknown]>([
      ["true", true],
      ["false", false],
      ["null", null],
      ["0", 0],
      ["-12", -12],
      ["007", "007"],
      ["1.5", "1.5"],
      ["True", "True"],
      ["", ""],
      ["9007199254740991", 9007199254740991],
    ])("%j is %j", (text, value) => {
      expect(typedValue("a", text)).toBe(value);
    });

    it("a number that would lose digits is refused", () => {
      expect(() => typedValue("a", "9007199254740993")).toThrow("the number is too large");
    });
  });

  describe("fields become a query", () => {
    it.each<[Field[], string]>([
      [[{ name: "q", value: "a b&c" }], "q=a+b%26c"],
      [
        [
          { name: "s[]", value: "x" },
          { name: "s[]", value: 2 },
        ],
        "s=x&s=2",
      ],
      [[{ name: "n", value: null }], "n="],
      [[{ name: "b", value: true }], "b=true"],
    ])("%j", (given, query) => {
      expect(createQuery(given)).toBe(query);
    });

    it("but no objects", () => {
      expect(() => createQuery([{ name: "a[b]", value: "1" }])).toThrow(
        "only texts and lists of texts",
      );
    });
  });
});

it("shows on a terminal that it waits for the response", async () => {
  let respond = (): void => {};
  const { url } = await startServer((_, response) => void (respond = () => json(response, {})));
  const test = createTestContext({ isTTY: true });
  const write = (text: string): Promise<void> => {
    if (text.includes("waiting for the response")) respond();
    return test.stderr.write(text);
  };
  const env = cleanEnvironment(test.cwd, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: key });
  const context = { ...test, env, stderr: { ...test.stderr, write } };
  expect(await main(["api", "tool"], context)).toBe(0);
});
