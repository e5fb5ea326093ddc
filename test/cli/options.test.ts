import { describe, expect, it } from "vitest";
import { filled, perSecond, shard, size } from "../../src/cli/options.ts";

describe("--shard", () => {
  it.each([
    ["1/1", 1, 1],
    ["2/8", 2, 8],
    ["10000/10000", 10_000, 10_000],
    ["03/08", 3, 8],
  ])("%s", (text, index, count) => expect(shard(text)).toEqual({ index, count }));

  it.each([
    ["0/3", /from 1\/3 to 3\/3; the first is 1, not 0/],
    ["4/3", /from 1\/3 to 3\/3/],
    ["1/0", /N from 1 to 10000/],
    ["1/10001", /N from 1 to 10000/],
    ["", /I\/N/],
    ["1", /I\/N/],
    ["1/", /I\/N/],
    ["/2", /I\/N/],
    ["-1/2", /I\/N/],
    ["1/2/3", /I\/N/],
    [" 1/2", /I\/N/],
    ["1.0/2", /I\/N/],
    ["1/9999999999999999999999", /I\/N/],
  ])("%s is refused", (text, message) => expect(() => shard(text)).toThrow(message));
});

describe("--rate", () => {
  const parse = perSecond(0.001, 1000);
  it.each([
    ["50", 50],
    ["50/s", 50],
    ["0.5/s", 0.5],
  ])("%s", (text, rate) => expect(parse(text)).toBe(rate));
  it.each(["50/m", "/s", "50/s/s", "0/s", "1001/s"])("%s is refused", (text) =>
    expect(() => parse(text)).toThrow(/from 0.001 to 1000/),
  );
});

describe("text that must say something", () => {
  it("is passed on", () => expect(filled(" a ")).toBe(" a "));
  it.each(["", " ", "\t"])("%j is refused", (text) =>
    expect(() => filled(text)).toThrow(/Expected a value/),
  );
});

describe("a size", () => {
  const parse = size(1, 2 ** 30);
  it.each([
    ["1", 1],
    ["1024b", 1024],
    ["512k", 512 * 1024],
    ["64MiB", 64 * 2 ** 20],
    ["64 MB", 64 * 2 ** 20],
    ["1.5m", 1.5 * 2 ** 20],
    ["1G", 2 ** 30],
  ])("%s", (text, bytes) => expect(parse(text)).toBe(bytes));

  it.each(["", "0", "-1", "1e3", "x", "64 mb s", "2g", "1.5.5", "0x10", "MiB", "Infinity"])(
    "%s is refused",
    (text) => expect(() => parse(text)).toThrow(/Expected a size from 1 bytes to 1024MiB/),
  );
});
