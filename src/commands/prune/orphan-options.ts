import { CliError } from "../../errors.ts";
import { checkSelection } from "../../output/formats/formats.ts";
import { columnsOf, sample } from "./orphan-rows.ts";
import type { OrphansOptions } from "./remove-orphans.ts";

/** Throws CliError `usage` for flags that cannot be combined. */
export function checkOrphansOptions(options: OrphansOptions): void {
  checkSelection(options, columnsOf(String), sample);
  const { prune, tombstone, maxDelete, remote } = options;
  if (remote && tombstone) {
    throw new CliError("usage", "--remote and --tombstone exclude each other", {
      hints: ["--remote lists documents that this project did not send; --prune deletes them"],
    });
  }
  if (prune && tombstone) {
    throw new CliError("usage", "--prune and --tombstone exclude each other", {
      hints: [
        "--prune deletes documents where the service can; --tombstone replaces their text on every service",
      ],
    });
  }
  if (maxDelete !== undefined && !prune && !tombstone) {
    throw new CliError("usage", "--max-delete needs --prune or --tombstone", {
      hints: ["add one of them, or omit --max-delete: listing removes nothing"],
    });
  }
  if (tombstone) return;
  const flag = (["requireAccess", "allowSync"] as const).find(
    (each) => options[each] !== undefined,
  );
  if (flag === undefined) return;
  const name = flag === "allowSync" ? "--allow-sync" : "--require-access";
  throw new CliError("usage", `${name} needs --tombstone: without it, nothing is uploaded`, {
    hints: [`add --tombstone, or omit ${name}`],
  });
}
