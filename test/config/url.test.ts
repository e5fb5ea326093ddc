import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import {
  AddressProblem,
  addressHint,
  isLoopback,
  parseBaseUrl,
  parseProxy,
  withoutCredentials,
} from "../../src/config/values/url.ts";

it.each([
  ["localhost:8787", "write it as http://localhost:8787"],
  [" 127.0.0.1:8787/ ", "write it as http://127.0.0.1:8787/"],
  ["assistant.corp.example", "write it as https://assistant.example.com"],
  ["user:secret@localhost", "write it as https://assistant.example.com"],
])("the hint for %j repeats only an address of this machine", (given, hint) => {
  expect(addressHint(given)).toBe(hint);
});

describe("parseBaseUrl", () => {
  it.each([
    ["https://a.example", "https://a.example"],
    ["https://a.example/", "https://a.example"],
    ["https://a.example/api", "https://a.example"],
    ["https://a.example/api/", "https://a.example"],
    ["https://a.example/team/x", "https://a.example/team/x"],
    ["https://a.example/team/api//", "https://a.example/team"],
    ["https://a.example/apis", "https://a.example/apis"],
    ["HTTPS://A.Example:443/P", "https://a.example/P"],
    [" http://127.0.0.1:8787 ", "http://127.0.0.1:8787"],
    ["http://[::1]:8787/api", "http://[::1]:8787"],
  ])("%s", (given, expected) => {
    expect(parseBaseUrl(given).baseUrl).toBe(expected);
  });

  it.each([
    ["", "empty"],
    ["a.example", "must begin with"],
    ["ftp://a.example", "must begin with"],
    ["https:a.example", "must begin with"],
    ["https:///a.example", "must begin with"],
    ["https://user:pass@a.example", "user name or password"],
    ["http://localhost@evil.example", "user name or password"],
    ["https://@a.example", "user name or password"],
    ["https://a.example?x=1", "query"],
    ["https://a.example/?", "query"],
    ["https://a.example/#x", "fragment"],
    ["https://a.example/#", "fragment"],
    ["https://a.exa\tmple", "spaces"],
    ["https://a.example\\@evil.example", "backslashes"],
    ["https://a.example:99999", "not a valid URL"],
    ["https://a b", "spaces"],
  ])("refuses %j", (given, why) => {
    expect(() => parseBaseUrl(given)).toThrow(AddressProblem);
    expect(() => parseBaseUrl(given)).toThrow(why);
  });

  it("every result is stable, keeps its origin when joined, and no error repeats the address", () => {
    const part = fc.stringMatching(/^[a-zA-Z0-9:@/?#.\\ %\u00e9-]{0,20}$/);
    fc.assert(
      fc.property(
        fc.constantFrom("https://", "http://", "http:/", ""),
        part,
        part,
        (scheme, host, path) => {
          const given = scheme + host + path;
          let base;
          try {
            base = parseBaseUrl(given);
          } catch (error) {
            expect(error).toBeInstanceOf(AddressProblem);
            const typed = host + path;
            if (typed.length > 12) expect((error as Error).message).not.toContain(typed);
            return;
          }
          expect(parseBaseUrl(`${base.baseUrl}/api`).baseUrl).toBe(base.baseUrl);
          expect(base.baseUrl.endsWith("/")).toBe(false);
          const joined = new URL(`${base.baseUrl}/api/chat/send-chat-message`);
          expect(joined.origin).toBe(base.origin);
          expect(joined.username + joined.password + joined.search + joined.hash).toBe("");
        },
      ),
    );
  });
});

describe("isLoopback", () => {
  it.each([
    ["http://localhost", true],
    ["http://LOCALHOST:1", true],
    ["http://127.0.0.1", true],
    ["http://127.8.9.1", true],
    ["http://127.1", true],
    ["http://[::1]", true],
    ["http://[0:0:0:0:0:0:0:1]", true],
    ["http://127.0.0.1.nip.io", false],
    ["http://localhost.example", false],
    ["http://localhost.", false],
    ["http://mylocalhost", false],
    ["http://0.0.0.0", false],
    ["http://128.0.0.1", false],
    ["http://[::ffff:8.8.8.8]", false],
  ])("%s: %s", (url, expected) => {
    expect(isLoopback(parseBaseUrl(url).hostname)).toBe(expected);
  });
});

describe("parseProxy", () => {
  it.each([
    ["http://p.example:8080", "http://p.example:8080"],
    ["p.example:8080", "http://p.example:8080"],
    ["https://u:pw@p.example/", "https://u:pw@p.example"],
  ])("%s", (given, expected) => {
    expect(parseProxy(given)).toBe(expected);
  });

  it.each([
    "socks5://p.example",
    "http://",
    "http://p.example/path",
    "http://p.example:x",
    "a b",
    "http://u:secret@p:x",
  ])("refuses %s without repeating it", (given) => {
    expect(() => parseProxy(given)).toThrow(AddressProblem);
    expect(() => parseProxy(given)).not.toThrow(/secret/);
  });
});

it.each([
  ["https://u:p@host/x", "https://host/x"],
  ["u:p@host:1", "host:1"],
  ["https://host/x@y", "https://host/x@y"],
  ["https://a@b@host", "https://host"],
  ["https://host/x?token=secret", "https://host/x?***"],
  ["https://host/x#secret", "https://host/x#***"],
  ["https://u:p@host/?a=b@c#d", "https://host/?***"],
  ["https://u:p/q@host/x", "https://host/x"],
  ["https://u:p?q@host", "https://host"],
  ["u:p@host:1?secret", "host:1?***"],
  ["not a url?secret\nline", "not a url?***"],
])("withoutCredentials %s", (given, expected) => {
  expect(withoutCredentials(given)).toBe(expected);
});
