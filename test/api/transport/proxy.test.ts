import { describe, expect, it } from "vitest";
import {
  goesDirect,
  isLoopbackHost,
  parseProxy,
  proxyFor,
} from "../../../src/api/transport/proxy.ts";

describe("goesDirect", () => {
  it.each<[string, string | undefined, boolean]>([
    // Loopback never meets the proxy.
    ["http://127.0.0.1:8787", undefined, true],
    ["http://127.9.8.7", "", true],
    ["http://localhost:1", undefined, true],
    ["http://api.localhost", undefined, true],
    ["http://[::1]:8787", undefined, true],
    ["http://[::ffff:127.0.0.1]", undefined, true],
    // What only looks like it.
    ["http://127.0.0.1.nip.io", undefined, false],
    ["http://localhost.example", undefined, false],
    ["http://localhost@evil.example", undefined, false],
    ["https://a.example", undefined, false],
    ["https://a.example", "*", true],
    ["https://a.example", "a.example", true],
    ["https://A.Example.", "a.EXAMPLE", true],
    ["https://b.a.example", "a.example", true],
    ["https://b.a.example:8443", "a.example:8443", true],
    ["https://b.a.example:8443", "a.example:443", false],
    ["https://a.example", "b.a.example", false],
    ["https://nota.example", "a.example", false],
    ["https://b.a.example", ".a.example", true],
    ["https://a.example", ".a.example", false],
    ["https://xa.example", ".a.example", false],
    ["https://b.a.example", "*.a.example", true],
    ["https://a.example:8443", "a.example:8443", true],
    ["https://a.example:8443", "a.example:443", false],
    ["https://a.example", "a.example:443", true],
    ["http://a.example", "a.example:80", true],
    ["https://b.a.example:8443", ".a.example:8443", true],
    ["https://10.1.2.3", "10.1.2.3", true],
    ["https://10.1.2.3", "10.0.0.0/8", true],
    ["https://11.1.2.3", "10.0.0.0/8", false],
    ["https://10.1.2.3", "10.0.0.0/99", false],
    ["https://[::ffff:10.1.2.3]", "10.0.0.0/8", true],
    ["https://[2001:db8::1]", "2001:db8::/32", true],
    ["https://[2001:db9::1]", "2001:db8::/32", false],
    ["https://[2001:db8::1]", "2001:db8::1", true],
    ["https://[2001:db8::1]:8443", "[2001:db8::1]:8443", true],
    ["https://128.1.1.1", "127.*", false],
    ["https://10.4.4.4", "10.*", true],
    ["https://a.example", "b.example, ,c.example a.example", true],
    ["https://a.example", "not/a/network,,:80", false],
  ])("%s with NO_PROXY %j: %s", (url, noProxy, expected) => {
    expect(goesDirect(url, noProxy)).toBe(expected);
  });
});

describe("isLoopbackHost", () => {
  it.each([
    ["LOCALHOST", true],
    ["[::1]", true],
    ["127.0.0.1", true],
    ["0.0.0.0", false],
    ["127.example", false],
  ])("%s: %s", (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe("parseProxy", () => {
  it.each([
    ["http://proxy:3128", { protocol: "http:", hostname: "proxy", port: 3128 }],
    ["proxy:3128", { protocol: "http:", hostname: "proxy", port: 3128 }],
    ["proxy", { protocol: "http:", hostname: "proxy", port: 80 }],
    ["https://proxy", { protocol: "https:", hostname: "proxy", port: 443 }],
    [
      "http://al%40ice:p%3Aw@proxy:1",
      {
        protocol: "http:",
        hostname: "proxy",
        port: 1,
        authorization: `Basic ${Buffer.from("al@ice:p:w").toString("base64")}`,
      },
    ],
  ])("%s", (value, expected) => {
    expect(parseProxy(value)).toEqual(expected);
  });

  it.each(["socks5://alice:SECRET@proxy:1", "http://alice:SECRET@:1", "http://", "://SECRET"])(
    "refuses %s without repeating it",
    (value) => {
      let error: unknown;
      try {
        parseProxy(value, "HTTPS_PROXY");
      } catch (caught) {
        error = caught;
      }
      expect(error).toMatchObject({ exit: "not-configured" });
      expect(String(error)).toContain("HTTPS_PROXY");
      expect(String(error)).not.toContain("SECRET");
    },
  );
});

describe("proxyFor", () => {
  it.each([
    ["https://a.example", undefined, undefined, false],
    ["https://a.example", "", undefined, false],
    ["https://a.example", "http://p:1", undefined, true],
    ["https://a.example", "http://p:1", "a.example", false],
    ["http://127.0.0.1:1", "http://p:1", undefined, false],
  ])("%s through %s except %s: %s", (url, proxy, noProxy, used) => {
    expect(proxyFor(url, proxy, noProxy) !== undefined).toBe(used);
  });
});
