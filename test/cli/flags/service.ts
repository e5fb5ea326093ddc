import { type Coverage, type Effect, type Setting, latePath } from "./play.ts";

/** `connectors …`: flag by flag. */
export const connectors: Coverage = {
  "connectors list": {
    "--source": { flag: "--source web", stdout: { loses: /Shared drive/ } },
    "--access-type": { flag: "--access-type private", stdout: { loses: /Shared drive/ } },
    "--name": { flag: "--name *wiki", stdout: { loses: /Shared drive/ } },
    "--group": { flag: "--group 7", stdout: { loses: /Shared drive/ } },
    "--sort": [
      { flag: "--sort name", stdout: { gains: /^6\tEngineering/ } },
      { flag: "--sort colour", refused: /unknown key/ },
    ],
    "--reverse": { flag: "--reverse", stdout: { gains: /^8\t/ } },
    "--show-credentials": [
      { args: "--json", isTTY: true, flag: "--show-credentials", stdout: { loses: /\*\*\*/ } },
      { flag: "--show-credentials", refused: /only on a terminal/ },
      { isTTY: true, flag: "--show-credentials", refused: /columns of a table/ },
    ],
  },
  "connectors get": {
    "--source": [
      { args: "8", flag: "--source web", codes: [0, 9] },
      { args: ["Shared drive"], flag: "--source web", codes: [0, 9] },
    ],
    "--show-credentials": {
      args: "3",
      isTTY: true,
      flag: "--show-credentials",
      stdout: { loses: /\*\*\*/ },
    },
  },
  "connectors find": {
    "--source": {
      args: ["Shared drive"],
      flag: "--source web",
      codes: [0, 9],
      stdout: { loses: /^4\n$/ },
    },
  },
  "connectors status": {
    "--watch": [
      {
        dialect: "onyx",
        flag: "--watch 1",
        until: /Release notes/,
        codes: [0, 130],
        stdout: { gains: /^listed\t2/ },
      },
      { args: "--json", flag: "--watch 1", refused: /--watch and --output json/ },
    ],
  },
  "connectors errors": {
    "--resolved": {
      dialect: "onyx",
      args: "6",
      flag: "--resolved",
      stdout: { gains: /ENG\/glossary/ },
    },
  },
  "connectors create": {
    "--access-type": {
      dialect: "onyx",
      args: "Flags-{count} --json",
      flag: "--access-type private",
      stdout: { gains: /"access_type": "private"/ },
    },
    "--group": [
      {
        dialect: "onyx",
        args: "Flags-{count} --access-type private",
        after: "connectors list --name Flags-{count} --fields groups",
        flag: "--group 3",
        stdout: { gains: /^3$/m },
      },
      {
        dialect: "onyx",
        args: "Flags-{count}",
        flag: "--group 3",
        refused: /--access-type private/,
      },
    ],
  },
};

const chat = "chat/send-chat-message";
const sessions = "chat/get-user-chat-sessions --dialect onyx";

/** `api`: flag by flag. */
export const api: Coverage = {
  api: {
    "--method": [
      { args: "tool", flag: "--method HEAD", requests: { gains: /^HEAD/m }, codes: [0, 9] },
      { args: "GET tool", flag: "--method GET", refused: /set twice/ },
    ],
    "--raw-field": {
      args: `${chat} -F stream=false`,
      flag: "-f message=hello",
      codes: [2, 0],
      requests: { gains: /"message":"hello"/ },
    },
    "--field": {
      args: `${chat} -f message=hello`,
      flag: "-F stream=false",
      requests: { gains: /"stream":false/ },
    },
    "--input": {
      args: `POST ${chat}`,
      files: { "q.json": '{"message":"hello","stream":false}' },
      flag: "--input q.json",
      codes: [2, 0],
      requests: { gains: /"message":"hello"/ },
    },
    "--header": {
      args: "tool",
      flag: "--header x-mark:yes",
      requests: { gains: /"x-mark":"yes"/ },
    },
    "--include": { args: "tool", flag: "--include", stdout: { gains: /^HTTP\/1\.1 200/ } },
    "--paginate": [
      { dialect: "onyx", args: sessions, flag: "--paginate", stdout: { loses: /has_more/ } },
      { args: "tool -i", flag: "--paginate", refused: /--include/ },
      { args: "tool --output raw", flag: "--paginate", refused: /--output raw/ },
      { args: `${chat} -f message=hello`, flag: "--paginate", refused: /GET/ },
    ],
    "--silent": { args: "tool", flag: "--silent", stdout: { loses: /internal_search/ } },
    "--key": {
      args: "tool",
      env: { KNOWCTL_ACCESS_TOKEN: "another-key" },
      flag: "--key api",
      codes: [4, 0],
    },
    "--jq": { args: "tool --silent", flag: "--jq .[0]", refused: /--jq and --silent/ },
    "--fields": { args: "tool --silent", flag: "--fields id", refused: /--fields and --silent/ },
    "--filter": { args: "tool --silent", flag: "--filter id=1", refused: /--filter and --silent/ },
    "--json": { args: "tool --silent", flag: "--json", refused: /--json and --silent/ },
    "--output": { args: "tool --silent", flag: "--output raw", refused: /--output and --silent/ },
  },
};

const up: Setting = { args: "--port 0", until: /ends the sandbox/ };
const model = "--llm-url http://127.0.0.1:9/v1 --llm-model small";
const codes = [130, 130] as const;
const record = "chat hello --record r.ndjson";

/** `sandbox`: flag by flag. */
export const sandbox: Coverage = {
  sandbox: {
    // A run without it needs the default port, which a sandbox of this machine may hold.
    "--port": { tested: "test/sandbox/command.test.ts" },
    "--host": [
      { ...up, codes, flag: "--host localhost", stderr: { gains: /localhost/ } },
      { ...up, flag: "--host 0.0.0.0", refused: /KNOWCTL_SANDBOX_KEY/ },
    ],
    "--data": { ...up, codes, flag: "--data d", left: { gains: /d\// } },
    "--fault": { ...up, codes, flag: "--fault latency=1ms", stderr: { gains: /latency=1ms/ } },
    "--llm-url": [
      { ...up, codes, flag: model, stderr: { gains: /small at http:\/\/127\.0\.0\.1:9/ } },
      { ...up, flag: "--llm-url http://127.0.0.1:9/v1", refused: /--llm-model/ },
    ],
    "--llm-model": [
      {
        ...up,
        args: "--port 0 --llm-url http://127.0.0.1:9/v1",
        codes: [2, 130],
        flag: "--llm-model small",
      },
      { ...up, flag: "--llm-model small", refused: /needs a model server/ },
    ],
    "--llm-system": { ...up, flag: "--llm-system Answer", refused: /needs a model server/ },
    "--play": [
      { ...up, first: [record], flag: "--play r.ndjson", codes, stderr: { gains: /recordings/ } },
      { ...up, args: `--port 0 ${model}`, flag: "--play r.ndjson", refused: /exclude|both answer/ },
    ],
    "--play-speed": { ...up, flag: "--play-speed 2", refused: /needs a recording/ },
    "--open": {
      ...up,
      codes,
      // There is no display, and so no browser.
      env: { DISPLAY: "", WAYLAND_DISPLAY: "" },
      flag: "--open",
      stderr: { gains: /No browser could be started/ },
    },
  },
};

const files = { "docs/a.md": "# A\n\n## Part\n\ntext\n" };
const docs: Setting = { files, args: "docs" };

/** `try`: flag by flag. */
export const tryCases: Coverage = {
  try: {
    "--keep": { ...docs, flag: "--keep", stderr: { gains: /sandbox --data/ } },
  },
};

const served = { tested: "test/commands/mcp/serve.test.ts" };
const inEntry = (flag: string, gains: RegExp): Effect => ({
  ...docs,
  args: "--print-config cursor",
  flag,
  stdout: { gains },
});

/** `mcp` and `mcp install`: flag by flag. */
export const mcp: Coverage = {
  mcp: {
    "--allow-tokens": [served, inEntry("--allow-tokens 5", /"5"/)],
    "--allow-ingest": [
      served,
      {
        ...inEntry("--allow-ingest docs", /allow-ingest/),
        args: "--print-config cursor --cc-pair-id 2",
      },
    ],
    "--cc-pair-id": [served, inEntry("--cc-pair-id 2", /"--cc-pair-id",\s+"2"/)],
    "--print-config": { files, flag: "--print-config cursor", stdout: { gains: /mcpServers/ } },
  },
  "mcp install": {
    "--allow-tokens": { tested: "test/commands/mcp/install.test.ts" },
    "--allow-ingest": { tested: "test/commands/mcp/install.test.ts" },
    "--cc-pair-id": { tested: "test/commands/mcp/install.test.ts" },
  },
};

const list = "connectors list";
const elsewhere = {
  profiles: { one: {}, other: { baseUrl: "http://127.0.0.1:9", apiKey: "k-of-another" } },
};
const certificate = "none.pem";

/** The global flags on one command that uses them; on every command: global.test.ts. */
export const program: Coverage = {
  "": {
    "--profile": [
      {
        args: list,
        config: elsewhere,
        env: { KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "" },
        flag: "--profile other",
        codes: [3, 5],
      },
      { args: list, flag: "--profile nosuch", codes: [0, 3] },
    ],
    "--config": {
      args: list,
      env: { KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "", KNOWCTL_PROFILE: "other" },
      files: { "c.json": JSON.stringify(elsewhere) },
      flag: "--config c.json",
      codes: [3, 5],
    },
    "--base-url": {
      args: list,
      flag: "--base-url http://127.0.0.1:9",
      codes: [0, 5],
      requests: { loses: /GET/ },
    },
    "--dialect": {
      args: "agents list",
      flag: "--dialect onyx",
      codes: [9, 9],
      requests: { gains: /GET .*persona/ },
    },
    "--timeout": {
      dialect: "onyx",
      args: `api ${latePath}`,
      flag: "--timeout 100ms",
      codes: [0, 7],
    },
    "--ca-file": { args: list, flag: `--ca-file ${certificate}`, codes: [0, 2] },
    "--client-cert": { args: list, flag: `--client-cert ${certificate}`, codes: [0, 2] },
    "--client-key": { args: list, flag: `--client-key ${certificate}`, codes: [0, 2] },
    "--proxy": [
      {
        args: `${list} --base-url https://service.example`,
        env: { HTTPS_PROXY: "http://127.0.0.1:9" },
        flag: "--proxy http://127.0.0.1:10",
        codes: [5, 5],
        stderr: { gains: /127\.0\.0\.1:10/ },
      },
      { args: list, flag: "--proxy http://127.0.0.1:9", stderr: { gains: /--proxy is ignored/ } },
    ],
    "--output": { args: list, flag: "--output csv", stdout: { gains: /^cc_pair_id,name/ } },
    "--json": { args: list, flag: "--json", stdout: { gains: /^\[/ } },
    "--fields": { args: list, flag: "--fields name", stdout: { loses: /^2\t/m } },
    "--filter": { args: list, flag: "--filter source=web", stdout: { loses: /Shared drive/ } },
    "--jq": { args: list, flag: "--jq .[0].name", stdout: { gains: /^Handbook uploads\n$/ } },
    "--quiet": {
      args: "ingest docs --cc-pair-id 2",
      files: { "docs/a.md": "# A\n\nt\n" },
      flag: "--quiet",
      stderr: { loses: /done/ },
    },
    "--verbose": { args: list, flag: "--verbose", stderr: { gains: /GET http.* 200/ } },
    "--debug": {
      args: list,
      flag: "--debug",
      stderr: { gains: /"content-type"|"authorization"|"accept"/ },
    },
    "--root": {
      files: { "sub/docs/a.md": "# A\n\nt\n" },
      args: "ingest sub/docs --cc-pair-id 2",
      flag: "--root sub",
      requests: { gains: /"id":"docs\/a\.md"/ },
    },
    "--no-color": {
      args: "doctor",
      env: { FORCE_COLOR: "1" },
      flag: "--no-color",
      stdout: { loses: /\u001b\[/ },
    },
    "--no-input": {
      args: "config init --base-url {service}",
      env: { KNOWCTL_API_KEY: "" },
      isTTY: true,
      flag: "--no-input",
      codes: [2, 3],
      stderr: { gains: /--with-token/ },
    },
    "--version": { tested: "test/e2e/start.test.ts" },
  },
};
