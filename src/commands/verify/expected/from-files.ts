import { tmpdir } from "node:os";
import type { Context } from "../../../context.ts";
import { readPending, type SpoolHead } from "../../../sync/run/pending.ts";
import { createSpool } from "../../../sync/run/spool.ts";
import { targetFor } from "../../../sync/state/target.ts";
import { planFolder } from "../../ingest/plan.ts";
import type { Session } from "../../ingest/session.ts";
import { textInBody, type ExpectedText } from "./expected.ts";

/** Documents that the files yield now, for a checkout without records. */
export interface FileDocuments {
  count: number;
  /** Why files have no document, by file. */
  failed: readonly string[];
  texts: () => AsyncGenerator<ExpectedText>;
  close(): void;
}

/** Finds the documents of the session's files. The caller closes the result. */
export async function findFileDocuments(
  context: Context,
  session: Session,
): Promise<FileDocuments> {
  const { inspector, targets, connected } = session;
  const spool = createSpool<SpoolHead>(tmpdir());
  const plan = await planFolder(context, { ...session, spool });
  await session.progress.stop();
  const storedIdOf = connected?.client.dialect.storedId ?? ((id: string): string => id);
  return {
    count: plan.table.count("new") + plan.table.count("changed"),
    failed: [...plan.table.entries(["failed"])].map(({ path, detail }) => detail || path),
    async *texts() {
      for await (const batch of readPending({ spool, inspector })) {
        for (const { prepared } of batch) {
          if (prepared.kind !== "document") continue;
          const { id, path, ownPair, body } = prepared;
          const target = targetFor(targets, ownPair);
          const document = {
            id,
            storedId: storedIdOf(id),
            path,
            ccPairId: target?.ccPairId,
            target: undefined,
            sentAtMs: undefined,
          };
          yield { document, text: textInBody(body, session.source.settings.versionKey) };
        }
      }
    },
    close: () => spool.close(),
  };
}
