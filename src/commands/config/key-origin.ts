import { dialects, type DialectName } from "../../api/dialects.ts";
import type { Output } from "../../output/terminal/output.ts";

/** Says where a person gets a key: of this dialect, or of each if it is not known yet. */
export async function noteKeyOrigin(
  output: Output,
  dialect: DialectName | undefined,
): Promise<void> {
  if (dialect !== undefined) return await output.note(`A key: ${dialects[dialect].keyOrigin}`);
  await output.note("Where a key is made:");
  for (const { name, keyOrigin } of Object.values(dialects)) {
    await output.note(`  ${name}: ${keyOrigin}`);
  }
}
