import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { goesDirect } from "../../../src/api/transport/proxy.ts";
import { projectFolder } from "../../support.ts";
import { preparePlace, runShell } from "../shell.ts";

const text = readFileSync(join(projectFolder, "docs", "networks.md"), "utf8");

describe("docs/networks.md", () => {
  const blocks = [...text.matchAll(/^<!-- runnable -->\n\n```sh\n(.*?)^```$/gms)].map(
    ([, body]) => body!,
  );

  it.runIf(process.platform !== "win32").each(blocks)(
    "works as it is written: %s",
    async (block) => {
      const { code, stderr } = await runShell(block, await preparePlace());
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.not.stringMatching(/error|warning/),
      });
    },
  );

  it.each([
    ["example.com", "https://a.example.com", true],
    [".example.com", "https://example.com", false],
    ["*.example.com", "https://a.example.com", true],
    ["example.com:8443", "https://example.com", false],
    ["[::1]:8443", "https://[::1]:8443", true],
    ["2001:db8::/32", "https://[2001:db8::7]", true],
    ["10.*", "https://10.4.4.4", true],
  ])("says of NO_PROXY what is so: %s for %s", (entry, url, direct) => {
    expect(text).toContain(`\`${entry}\``);
    expect(goesDirect(url, entry)).toBe(direct);
  });
});
