import { expect, it } from "vitest";
import { startTestService } from "../../../service.ts";
import { lastAccepted, runIngest } from "../support.ts";

const secret = "postgres://admin:kT9vQ2mX7pLw@db01.intern.net/main";
const files = {
  "docs/a.md": `# A\n\n<!-- internal: ${secret} -->\n\nText. <!-- two -->\n`,
  "docs/b.html": "<main><p>Text.</p><p hidden>internal</p></main>",
};

it("what no reader sees is not sent, and is counted once for each kind", async () => {
  const service = await startTestService({ files });
  const { stderr, error } = await runIngest(service, ["docs"]);
  expect(error).toBeUndefined();
  expect(stderr).toContain("2 comments are not sent (first: docs/a.md line 3)");
  expect(stderr).toContain("1 hidden element is not sent (first: docs/b.html line 1: <p>)");
  expect(stderr).not.toContain("internal");
  expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toBe("# A\n\n\n\nText. \n");
  expect(lastAccepted(service, "docs/b.html")?.sections[0]?.text).toBe("Text.\n");
});
