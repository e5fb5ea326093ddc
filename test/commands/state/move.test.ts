import { describe, expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { runIn } from "./support.ts";

const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };

describe("a service with another address", () => {
  it("is named with the command that moves its records, which then are of that address", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    const url = service.sandbox.url;
    const local = url.replace("127.0.0.1", "localhost");
    const at = `--cc-pair-id 2 --base-url ${local}`;
    for (const line of [`status docs ${at}`, `ingest docs --dry-run ${at}`, `verify ${at}`]) {
      const { stderr } = await runIn(service, line);
      expect(stderr).toContain(`knowctl state move ${url} ${local}`);
    }
    const move = `state move ${url} ${local}`;
    expect(await runIn(service, move)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("2 documents"),
    });
    expect(await runIn(service, `${move} --yes`)).toMatchObject({ code: 0 });
    const again = await runIn(service, `ingest docs --dry-run ${at}`);
    expect(again.stderr).not.toContain("state move");
    expect(again.stderr + again.stdout).toContain("2 unchanged");
    expect(await runIn(service, `${move} --yes`)).toMatchObject({ code: 9 });
  });

  it("is not merged where both addresses have records of a document", async () => {
    const service = await startTestService({ files });
    const url = service.sandbox.url;
    const local = url.replace("127.0.0.1", "localhost");
    await runIn(service, "ingest docs --cc-pair-id 2");
    await runIn(service, `ingest docs/a.md --cc-pair-id 2 --base-url ${local}`);
    const before = (await runIn(service, "state export")).stdout;
    const ran = await runIn(service, `state move ${url} ${local} --yes`);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("docs/a.md") });
    expect((await runIn(service, "state export")).stdout).toBe(before);
  });
});
