import { CliError } from "../../errors.ts";
import { checkSelection } from "../../output/formats/formats.ts";
import { columnsOf, sample } from "./orphan-rows.ts";
import type { PruneOptions } from "./remove-orphans.ts";

const uploadFlags = [
  ["requireAccess", "--require-access"],
  ["allowSync", "--allow-sync"],
  ["allowPruned", "--allow-pruned"],
] as const;

/** Throws CliError `usage` for flags that cannot be combined. */
export function checkPruneOptions(options: PruneOptions): void {
  checkSelection(options, columnsOf(String), sample);
  if (options.extra && options.tombstone) {
    throw new CliError("usage", "--extra and --tombstone exclude each other", {
      hints: [
        "a removal notice is for documents that this project sent; omit --tombstone to delete",
      ],
    });
  }
  if (options.tombstone) return;
  const flag = uploadFlags.find(([each]) => options[each] !== undefined);
  if (flag === undefined) return;
  const [, name] = flag;
  throw new CliError("usage", `${name} needs --tombstone: without it, nothing is uploaded`, {
    hints: [`add --tombstone, or omit ${name}`],
  });
}
