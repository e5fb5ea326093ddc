import { describe, expect, it } from "vitest";
import {
  clipboardSequence,
  copyText,
  createPlatform,
  openAddress,
  webAddress,
  type Platform,
} from "../../../../src/commands/chat/conversation/platform.ts";

/** A machine that has these programs; `calls` says what was run. */
function machine(name: NodeJS.Platform, env: Record<string, string>, programs: string[] = []) {
  const calls: string[][] = [];
  const platform: Platform = {
    name,
    env,
    run(program, args, input) {
      calls.push([program, ...args, ...(input === undefined ? [] : [`<${input}`])]);
      return Promise.resolve(programs.includes(program));
    },
  };
  return { platform, calls };
}

describe("a link", () => {
  it.each([
    ["https://docs.example.com/a b?c=$(id)", "https://docs.example.com/a%20b?c=$(id)"],
    ["http://x", "http://x/"],
    ["file:///etc/passwd", undefined],
    ["javascript:alert(1)", undefined],
    ["-version", undefined],
    ["/relative", undefined],
    ["", undefined],
  ])("%j may be opened as %j", (link, address) => {
    expect(webAddress(link)).toBe(address);
  });

  it.each<[NodeJS.Platform, Record<string, string>, string[]]>([
    ["darwin", {}, ["open", "https://x/"]],
    ["win32", {}, ["rundll32", "url.dll,FileProtocolHandler", "https://x/"]],
    ["linux", { DISPLAY: ":0" }, ["xdg-open", "https://x/"]],
    ["linux", { WAYLAND_DISPLAY: "w" }, ["xdg-open", "https://x/"]],
  ])("is opened on %s with %j", async (name, env, call) => {
    const { platform, calls } = machine(name, env, [call[0]!]);
    expect(await openAddress(platform, "https://x/")).toBe(true);
    expect(calls).toEqual([call]);
  });

  it.each<[NodeJS.Platform, string, string[], string[][]]>([
    ["linux", "firefox", ["firefox"], [["firefox", "https://x/"]]],
    ["linux", "w3m -T %s -x", ["w3m"], [["w3m", "-T", "https://x/", "-x"]]],
    [
      "linux",
      "none: lynx :",
      ["lynx"],
      [
        ["none", "https://x/"],
        ["lynx", "https://x/"],
      ],
    ],
    [
      "darwin",
      "none",
      ["open"],
      [
        ["none", "https://x/"],
        ["open", "https://x/"],
      ],
    ],
    ["win32", "C:\\b.exe", ["C:\\b.exe"], [["C:\\b.exe", "https://x/"]]],
    ["linux", "$(id)", ["$(id)"], [["$(id)", "https://x/"]]],
  ])("is opened on %s by BROWSER=%j", async (name, browser, programs, tried) => {
    const { platform, calls } = machine(name, { BROWSER: browser }, programs);
    expect(await openAddress(platform, "https://x/")).toBe(true);
    expect(calls).toEqual(tried);
  });

  it("is not opened where there is no screen, or no opener", async () => {
    expect(await openAddress(machine("linux", {}).platform, "https://x/")).toBe(false);
    expect(await openAddress(machine("linux", { DISPLAY: ":0" }).platform, "https://x/")).toBe(
      false,
    );
  });
});

describe("the clipboard", () => {
  it.each<[NodeJS.Platform, Record<string, string>, string[], string | undefined, number]>([
    ["darwin", {}, ["pbcopy"], "pbcopy", 1],
    ["win32", {}, ["clip"], "clip", 1],
    ["linux", { WAYLAND_DISPLAY: "w" }, ["wl-copy"], "wl-copy", 1],
    ["linux", { DISPLAY: ":0" }, ["xsel"], "xsel", 2],
    ["linux", { DISPLAY: ":0" }, [], undefined, 2],
    ["linux", { DISPLAY: ":0", SSH_CONNECTION: "x" }, ["xclip"], undefined, 0],
    ["linux", {}, [], undefined, 0],
  ])("of %s with %j and %j is %s", async (name, env, programs, found, tried) => {
    const { platform, calls } = machine(name, env, programs);
    expect(await copyText(platform, "text")).toBe(found);
    expect(calls).toHaveLength(tried);
  });

  it("of the terminal takes texts of bounded length", () => {
    expect(clipboardSequence("é\n")).toBe("\u001b]52;c;w6kK\u0007");
    expect(clipboardSequence("x".repeat(74_001))).toBeUndefined();
  });
});

describe("a program", () => {
  it("gets its input, and its failure is known", async () => {
    const platform = createPlatform({ PATH: process.env["PATH"] });
    expect(await platform.run("grep", ["-q", "^two$"], "one\ntwo\n")).toBe(true);
    expect(await platform.run("grep", ["-q", "^three$"], "one\ntwo\n")).toBe(false);
    expect(await platform.run("knowctl-no-such-program", [], "x")).toBe(false);
    expect(await platform.run("knowctl-no-such-program", [])).toBe(false);
  });

  it("sees no shell", async () => {
    const platform = createPlatform({ PATH: process.env["PATH"] });
    expect(await platform.run("grep", ["-qxF", "--", "$(id)"], "$(id)\n")).toBe(true);
  });
});
