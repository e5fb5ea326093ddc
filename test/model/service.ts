import { join } from "node:path";
import { openDatabase, type Database } from "../../src/database.ts";
import type { IngestionDocument } from "../../src/api/schemas.ts";
import type { FaultRule } from "../../src/sandbox/http/faults.ts";
import { storedId } from "../../src/sandbox/store/documents.ts";
import type { LedgerRequest } from "../../src/sandbox/store/ledger.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/http/server.ts";
import { memberText, type Expected } from "./world.ts";

export type Dialect = "standard" | "onyx";

/** What the service was asked to do with one document, in order. */
export interface Write {
  kind: "stored" | "deleted";
  /** As the service stores it. */
  id: string;
  pair: number | undefined;
  document: IngestionDocument | undefined;
  /** The client may have seen a 200. */
  answered: boolean;
}

/** The document of an id as the service holds it. */
export interface Stored {
  title: string;
  sections: { text?: string; link?: string }[];
  metadata: Record<string, string | string[]>;
  pairs: number[];
}

export interface ModelService {
  sandbox: Sandbox;
  /** Rules of the next command; emptied by the caller. */
  faults: FaultRule[];
  /** What was accepted since the last call. */
  takeWrites(): Write[];
  find(id: string): Stored | undefined;
  close(): Promise<void>;
}

export const modelKey = "model-key";

function reader(database: Database): (id: string) => Stored | undefined {
  const find = database.prepare(
    "SELECT name, title, sections, metadata, pairs FROM documents WHERE id = ?",
  );
  return (id) => {
    const row = find.get(storedId(id));
    if (!row) return undefined;
    return {
      title: String(row["title"] ?? row["name"]),
      sections: JSON.parse(String(row["sections"])) as Stored["sections"],
      metadata: JSON.parse(String(row["metadata"])) as Stored["metadata"],
      pairs: JSON.parse(String(row["pairs"])) as number[],
    };
  };
}

function writeOf({ method, path, status, stored }: LedgerRequest): Write | undefined {
  const answered = status === 200;
  if (stored) {
    const { document, cc_pair_id: pair } = stored;
    return { kind: "stored", id: storedId(document.id ?? ""), pair, document, answered };
  }
  const removed = /\/ingestion\/([^/?]+)$/.exec(path)?.[1];
  if (method !== "DELETE" || removed === undefined || !answered) return undefined;
  const id = decodeURIComponent(removed);
  return { kind: "deleted", id, pair: undefined, document: undefined, answered };
}

/** Starts a service of its own for one sequence. The caller closes it. */
export async function startModelService(folder: string, dialect: Dialect): Promise<ModelService> {
  const faults: FaultRule[] = [];
  const dataFolder = join(folder, "sandbox");
  const options = { port: 0, dataFolder, key: modelKey, dialect, faults: { rules: faults } };
  const sandbox = await startSandbox(options);
  const database = await openDatabase(join(dataFolder, "sandbox.sqlite"));
  return {
    sandbox,
    faults,
    takeWrites() {
      const { requests } = sandbox.ledger;
      return requests.splice(0).flatMap((request) => writeOf(request) ?? []);
    },
    find: reader(database),
    async close() {
      database.close();
      await sandbox.close();
    },
  };
}

/** How a document differs from what its file must yield; undefined where it does not. */
export function difference(
  found: Pick<Stored, "title" | "sections" | "metadata">,
  expected: Expected,
): string | undefined {
  const { title, marker, sections, metadata, link } = expected;
  const text = found.sections.map((section) => section.text ?? "").join("\n");
  const markers = [...new Set(text.match(/marker-\d+/g))].join();
  const links = new Set(found.sections.map((section) => section.link?.replace(/#.*/, "")));
  const pairs: [name: string, found: string | number, wanted: string | number][] = [
    ["title", found.title, title],
    ["text", markers, `marker-${marker}`],
    ["sections", found.sections.length, sections],
    ["metadata", memberText(found.metadata), memberText(metadata)],
    ["link", [...links].join(), link ?? ""],
  ];
  const wrong = pairs.filter(([, is, wanted]) => is !== wanted);
  if (wrong.length === 0) return undefined;
  return wrong.map(([name, is, wanted]) => `${name} is ${is}, must be ${wanted}`).join("; ");
}
