import type { Coverage, Setting } from "./case.ts";

const twoProfiles = { profiles: { a: { baseUrl: "http://127.0.0.1:9" }, b: {} } };
const project: Setting = { files: { ".cliconfig.json": JSON.stringify(twoProfiles) } };
const other: Setting = { files: { "other.json": "{}" } };
const both = "--local --config other.json";
const init = "--profile new --base-url {service}";
const key = "CANARY-key-4b1f0c9e";

/** `config …`, `login` and `logout`: flag by flag. */
export const config: Coverage = {
  "config init": {
    "--with-token": {
      args: init,
      env: { KNOWCTL_API_KEY: "" },
      stdin: key,
      flag: "--with-token",
      codes: [3, 0],
    },
    "--no-check": { args: init, flag: "--no-check", requests: { loses: /GET/ } },
    "--id-prefix": {
      args: init,
      flag: "--id-prefix handbook/",
      left: { gains: /\.cliconfig\.json: .*[^]*"idPrefix": "handbook\/"/ },
    },
    "--config": {
      args: init,
      ...other,
      flag: "--config other.json",
      refused: /saved in the user file/,
    },
  },
  "config show": {
    "--origin": { flag: "--origin", stdout: { gains: /KNOWCTL_BASE_URL/ } },
  },
  "config set": {
    "--local": [
      {
        args: "ingest.source web",
        flag: "--local",
        left: { gains: /\.cliconfig\.json: .*[^]*web/ },
      },
      { args: "ingest.source web", ...other, flag: both, refused: /--local and --config/ },
    ],
  },
  "config unset": {
    "--local": [
      {
        ...project,
        args: "profiles.a.baseUrl",
        flag: "--local",
        codes: [9, 0],
        left: { loses: /127/ },
      },
      { ...other, args: "ingest.source", flag: both, refused: /--local and --config/ },
    ],
  },
  "config use": {
    "--local": [
      // Without it, the default of every folder would be a profile of this project.
      {
        ...project,
        args: "b",
        flag: "--local",
        codes: [9, 0],
        left: { gains: /\.cliconfig\.json: .*[^]*defaultProfile/ },
      },
      { ...other, args: "b", flag: both, refused: /--local and --config/ },
    ],
    "--profile": {
      ...project,
      args: "b",
      flag: "--profile a",
      refused: /argument names the profile/,
    },
  },
  login: {
    "--no-check": {
      stdin: key,
      args: "--with-token",
      flag: "--no-check",
      requests: { loses: /GET/ },
    },
    "--with-token": { stdin: key, args: "--no-check", flag: "--with-token", codes: [3, 0] },
    "--kind": {
      stdin: key,
      args: "--with-token --no-check",
      flag: "--kind access-token",
      left: { gains: /"accessToken": "CANARY/ },
    },
  },
};
