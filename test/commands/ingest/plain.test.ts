import { expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { acceptedIds, runIngest } from "./support.ts";

it("only formats with front matter take their id from it", async () => {
  const matter = "---\nid: own\n---\nText.\n";
  const service = await startTestService({
    files: {
      "docs/a.txt": matter.replace("own", "text"),
      "docs/b.rst": matter.replace("own", "rst"),
      "docs/c.html": '<title>T</title><meta name="id" content="html"><p>Text.</p>',
      "docs/d.html": "---\nid: none\n---\n<p>Text.</p>",
      "docs/e.htm": '<title>T</title><meta name="id" content="html2"><p>Text.</p>',
    },
  });
  const { stderr, error } = await runIngest(service, ["docs"]);
  expect(stderr).not.toContain("failed");
  expect(error).toBeUndefined();
  const ids = ["docs/a.txt", "docs/c.html", "docs/d.html", "docs/e.htm", "rst"];
  expect(acceptedIds(service)).toEqual(ids);
});
