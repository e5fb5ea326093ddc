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
