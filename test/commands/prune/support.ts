import { expect } from "vitest";
import type { TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

interface Item {
  id: string;
  path: string | null;
  result: string;
  class: string | null;
}

/** The documents that `status` lists as gone, as `class id`, in order of path and id. */
export async function listGone(
  service: Pick<TestService, "folder" | "env">,
  args = "--cc-pair-id 2",
): Promise<string[]> {
  const { stdout, stderr } = await runIn(service, `status ${args} --json`.replace(/ +/g, " "));
  expect(stdout, stderr).not.toBe("");
  const { documents } = JSON.parse(stdout) as { documents: Item[] };
  return documents
    .filter(({ result }) => result === "gone")
    .map((each) => `${each.class} ${each.id}`);
}
