import { expect, it } from "vitest";
import { writeFinding, type Finding } from "../../src/output/findings.ts";
import { createOutput } from "../../src/output/terminal/output.ts";
import { secretsOf } from "../../src/output/terminal/redact.ts";
import { createTestContext } from "../support.ts";

it.each([40, 60, 100])(
  "hides a passphrase before it wraps a finding at %i columns",
  async (columns) => {
    const context = createTestContext({ isTTY: true, columns });
    const phrase = "correct horse battery staple of eight words in all";
    secretsOf(context).add(phrase);
    const output = createOutput(context, {});
    for (let words = 0; words < 12; words++) {
      const finding: Finding = {
        check: "tls",
        status: "failure",
        message: `${"word ".repeat(words)}the server says ${phrase} is wrong`,
        fixes: [],
        details: [],
        ms: 0,
      };
      await writeFinding(output, finding, false);
    }
    expect(context.stdoutText() + context.stderrText()).not.toMatch(/horse|battery|staple/);
    expect(context.stdoutText() + context.stderrText()).toContain("***");
  },
);
