import { tmpdir } from "node:os";
import type { Context } from "../../../context.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";
import type { VerifyCounts } from "../../../output/report/from/verify.ts";
import { createSpool } from "../../../sync/run/spool.ts";
import type { VerifiableRecord } from "../../../sync/state/verified.ts";
import type { ExpectedText } from "../../verify/expected/expected.ts";
import { uncheckedOfRun, type RunScope } from "../../retry/missing.ts";
import type { UploadSession } from "../session.ts";
import { followChecks, type CheckedUpload } from "./check-sent.ts";

// Files are read in batches, for a memory that does not grow with the number of documents. A file
// of rows is read again for each batch, hence large ones.
const readAtOnce = 10_000;

async function* textsOf(
  context: Context,
  session: UploadSession,
  records: Iterable<{ head: VerifiableRecord }>,
): AsyncGenerator<ExpectedText> {
  const { readRecorded } = await import("../../verify/expected/expected.ts");
  let batch: VerifiableRecord[] = [];
  for (const { head } of records) {
    batch.push(head);
    if (batch.length < readAtOnce) continue;
    yield* readRecorded(context, session, batch);
    batch = [];
  }
  yield* readRecorded(context, session, batch);
}

/**
 * Checks the documents of this run that an earlier run sent, to be checked or after a check did not
 * find them, and that no check came to since. Undefined for none. Call it after the check of what
 * this run sent.
 */
export async function checkEarlier(
  context: Context,
  upload: CheckedUpload & UploadSession,
  scope: RunScope,
): Promise<VerifyCounts | undefined> {
  const { check, output, report } = upload;
  if (!check || context.signal.aborted) return undefined;
  // The checks write to the tables that uncheckedOfRun() reads.
  const spool = createSpool<VerifiableRecord>(tmpdir());
  try {
    let count = 0;
    for (const each of uncheckedOfRun(upload, scope)) {
      spool.add(each);
      count++;
    }
    if (count === 0) return undefined;
    await output.note(
      `checking ${countOf(count, "document")} that an earlier run sent and did not check: at least ${formatCount(2 * count)} requests`,
    );
    const done = followChecks(upload, count);
    return await check.runOthers(textsOf(context, upload, spool.records()), async (result) => {
      done();
      await report.verified(result);
    });
  } finally {
    spool.close();
  }
}
