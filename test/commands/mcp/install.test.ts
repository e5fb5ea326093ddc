import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { clients, type ClientName } from "../../../src/commands/mcp/clients.ts";
import { createMachine } from "../../../src/config/find/folders.ts";
import { runHere } from "../../main.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";

const clientNames = Object.keys(clients) as ClientName[];

const jsonShapes: Record<string, string> = {
  empty: "",
  "an empty object": "{}\n",
  "other settings": '{\n  "theme": "dark",\n  "list": [1, 2]\n}\n',
  "another server": '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
  "an empty list of servers": '{"mcpServers":{}}',
  comments:
    '{\n  // mine\n  "mcpServers": {\n    /* the other */\n    "other": { "command": "x" } // end\n  }\n}\n',
  "trailing commas": '{\n  "mcpServers": {\n    "other": { "command": "x", },\n  },\n}\n',
  tabs: '{\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}',
  "four blanks and CRLF":
    '{\r\n    "a": 1,\r\n    "mcpServers": {\r\n        "o": {}\r\n    }\r\n}\r\n',
  "a byte order mark": '\uFEFF{\n  "mcpServers": {\n    "other": {}\n  }\n}\n',
};
const tomlShapes: Record<string, string> = {
  empty: "",
  "other settings": 'model = "x" # mine\n\n[tui]\nnotifications = true\n',
  "another server": '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "b"\n',
  "a table after it": '[mcp_servers.a]\ncommand = "x"\n[profiles.b]\nmodel = "y"',
  CRLF: 'model = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
};

const shapesOf = (client: ClientName): Record<string, string> =>
  clients[client].form === "toml"
    ? tomlShapes
    : Object.fromEntries(
        Object.entries(jsonShapes).map(([name, text]) => [
          name,
          text.replaceAll("mcpServers", clients[client].servers),
        ]),
      );

function prepare(client: ClientName, text?: string) {
  const home = temporaryFolder();
  const env = { ...cleanEnvironment(home), XDG_CONFIG_HOME: join(home, ".config") };
  const root = join(home, "project");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(join(root, "docs"));
  const path = clients[client].path(createMachine({ env, uid: 1000, platform: "linux" }));
  if (text !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const run = (...args: string[]) => runHere(["mcp", ...args], { env, cwd: root });
  return { path, root, run, read: () => readFileSync(path, "utf8") };
}

// One client of each form has all shapes, the others those with another server.
const all = clientNames.flatMap((client) =>
  Object.entries(shapesOf(client))
    .filter(([name]) => ["claude", "codex"].includes(client) || name === "another server")
    .map(([name, text]) => [client, name, text] as const),
);

describe("mcp install and uninstall", () => {
  it.each(all)("leave the file of %s as it was: %s", async (client, _name, text) => {
    const { path, root, run, read } = prepare(client, text);
    expect((await run("install", client, "--allow-tokens", "5")).code).toBe(0);
    const installed = read();
    expect(installed).toContain("knowctl");
    expect(installed).toContain(root);
    // Everything that stood there still does, in its order.
    const kept = text
      .replace(/^\uFEFF/, "")
      .split(/\s+/)
      .filter((word) => /^[/\w"]{3,}/.test(word));
    let at = 0;
    for (const word of kept) {
      at = installed.indexOf(word.replace(/[,}]+$/, ""), at);
      expect(at, word).toBeGreaterThan(-1);
    }
    expect((await run("install", client, "--allow-tokens", "5")).stderr).toContain("already");
    expect(read()).toBe(installed);
    expect(statSync(`${path}.before-knowctl`).mode & 0o777).toBe(0o600);
    expect((await run("uninstall", client)).code).toBe(0);
    expect(read()).toBe(text);
    expect(existsSync(`${path}.before-knowctl`)).toBe(false);
  });

  it.each(clientNames)("make and remove the file of %s", async (client) => {
    const { path, run } = prepare(client);
    expect((await run("install", client)).code).toBe(0);
    expect((await run("uninstall", client)).code).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect((await run("uninstall", client)).stderr).toContain("no entry");
  });

  it("takes out only its own entry where the file changed since", async () => {
    const { run, path, read } = prepare("cursor", '{\n  "a": 1\n}\n');
    await run("install", "cursor");
    writeFileSync(path, read().replace('"a": 1', '"a": 2'));
    await run("uninstall", "cursor");
    expect(JSON.parse(read())).toEqual({ a: 2, mcpServers: {} });
  });

  it("changes its entry, and keeps what it has with it", async () => {
    const text = '[mcp_servers.a]\ncommand = "x"\n\n[mcp_servers.z]\ncommand = "y"\n';
    const { run, read } = prepare("codex", text);
    await run("install", "codex");
    await run("install", "codex", "--allow-ingest", "docs", "--cc-pair-id", "2");
    expect(read().match(/knowctl\]/g)).toHaveLength(1);
    expect(read()).toContain("--allow-ingest");
    await run("uninstall", "codex");
    expect(read()).toBe(text);
  });

  it.each([
    ["cursor", "{ broken", ":1:"],
    ["cursor", "[]", "no object"],
    ["cursor", '{"mcpServers": []}', "no object"],
    ["cursor", '{"mcpServers": {}, "mcpServers": {}}', "twice"],
    ["codex", "a = \n", ":1:"],
  ] as const)("refuse a file of %s that is %s", async (client, text, said) => {
    const { run, read } = prepare(client, text);
    for (const command of ["install", "uninstall"]) {
      const { code, stderr } = await run(command, client);
      expect(code).toBe(14);
      expect(stderr).toContain(said);
      expect(read()).toBe(text);
    }
  });

  it("keeps a link and the mode of the file", async () => {
    const { run, path, root } = prepare("gemini", "{}\n");
    const real = join(root, "settings.json");
    writeFileSync(real, "{}\n");
    chmodSync(real, 0o640);
    rmSync(path);
    symlinkSync(real, path);
    await run("install", "gemini");
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readFileSync(real, "utf8")).toContain("knowctl");
  });

  it("refuse flags that a server would refuse", async () => {
    const { run, path } = prepare("cursor");
    expect((await run("install", "cursor", "--allow-ingest", "docs")).code).toBe(2);
    expect((await run("install", "emacs")).stderr).toContain(clientNames.join(", "));
    expect(existsSync(path)).toBe(false);
  });
});

describe("mcp --print-config", () => {
  it.each(clientNames)("prints the entry for %s, and writes nothing", async (client) => {
    const { run, path, root } = prepare(client);
    const { stdout, stderr, code } = await run("--print-config", client);
    expect(code).toBe(0);
    expect(stdout).toContain(clients[client].servers);
    expect(stdout).toContain(root);
    expect(stderr).toContain(`mcp install ${client}`);
    expect(existsSync(path)).toBe(false);
  });
});
