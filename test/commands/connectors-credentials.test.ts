import { describe, expect, it } from "vitest";
import type { PairRecord } from "../../src/api/schemas.ts";
import { maskConnector } from "../../src/output/mask.ts";
import { startTestService, testKey } from "../service.ts";
import { pairs, run, type RunOptions } from "./pairs.ts";

describe("credentials and configuration", () => {
  const outputs = ["table", "json", "ndjson", "yaml", "csv", "tsv"].map((format) => [
    "--output",
    format,
  ]);
  const fields =
    "credential,connector,credential.credential_json.token,connector.connector_specific_config.wiki";

  it("are masked in every format, in debug output and for --jq and --filter", async () => {
    const service = await startTestService({ pairs });
    const more = [
      ["--fields", fields],
      ["--jq", ".."],
      ["--debug"],
      ["--filter", "credential.credential_json.token~CANARY*"],
    ];
    for (const flags of [
      ...outputs,
      ...outputs.map((output) => [...output, "--fields", fields]),
      ...more,
    ]) {
      for (const command of [["list"], ["get", "243"]]) {
        for (const isTTY of [false, true]) {
          const { out, err } = await run(service, ["connectors", ...command, ...flags], { isTTY });
          expect(out + err).not.toMatch(/CANARY-(config|deep|token|member|object)/);
          expect(out + err).not.toContain(testKey);
        }
      }
    }
  });

  it("keep their names, each value is ***", () => {
    const masked = maskConnector(pairs[0] as PairRecord);
    expect(masked.connector?.connector_specific_config).toEqual({ wiki: "***", nested: "***" });
    expect(masked.credential).toEqual({
      ...pairs[0]?.credential,
      credential_json: { token: "***", nothing: "***" },
      private_key: "***",
      oauth: "***",
    });
    expect(JSON.stringify(pairs[0])).toContain("CANARY-token");
  });

  it.each<[string, RunOptions, boolean]>([
    ["on a terminal", { isTTY: true }, true],
    ["in a pipe", {}, false],
    ["in CI", { isTTY: true, env: { CI: "true" } }, false],
  ])("--show-credentials %s", async (_name, options, shown) => {
    const service = await startTestService({ pairs });
    for (const command of [
      ["list", "--json"],
      ["get", "243"],
    ]) {
      const result = await run(service, ["connectors", ...command, "--show-credentials"], options);
      expect(result.code).toBe(shown ? 0 : 2);
      expect(result.out.includes("CANARY-token")).toBe(shown);
    }
  });
});
