import type { Coverage, Setting } from "./case.ts";

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
