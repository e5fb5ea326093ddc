import type { Coverage } from "./case.ts";
import { latePath } from "./stored.ts";

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
      flag: "--timeout 0.1",
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
