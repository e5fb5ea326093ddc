import type { Client } from "../api/client.ts";
import type { GlobalFlags } from "../config/global-flags.ts";
import type { Context } from "../context.ts";
import { checkFormat, writeList, type Column } from "../output/formats/formats.ts";
import type { Output } from "../output/terminal/output.ts";
import { whileWaiting } from "../output/terminal/spinner.ts";
import type { Named, NameKind } from "./completion/names.ts";
import { withConnection } from "./connect.ts";

/** A kind of objects that the service lists. */
export interface Resource<Row extends object> {
  /** In messages and for completion: `connectors`. */
  name: string;
  columns: readonly Column<Row>[];
  list(client: Client): Promise<Row[]>;
  /** Replaces what may be a secret. */
  mask?(row: Row): Row;
  /** What completion offers; undefined for a row without an id. */
  named?(row: Row): Named | undefined;
}

/** Reads the rows of a resource for `use`, then caches their names for completion: nobody waits for it. */
export async function readResource<Row extends object>(
  context: Context,
  options: GlobalFlags,
  { name, list, named }: Resource<Row>,
  use: (rows: Row[], output: Output) => Promise<void>,
): Promise<void> {
  await withConnection(context, options, async (connected) => {
    const { client, connection, output } = connected;
    const label = `waiting for the ${name} of ${connection.baseUrl}`;
    const rows = await whileWaiting(output, label, () => list(client));
    try {
      await use(rows, output);
    } finally {
      if (named) {
        const { rememberNames } = await import("./completion/names.ts");
        const names = rows.flatMap((row) => named(row) ?? []);
        rememberNames(context, name as NameKind, connected, names);
      }
    }
  });
}

/** Lists a resource; `choose` selects and sorts the rows. */
export async function listResource<Row extends object>(
  context: Context,
  options: GlobalFlags,
  resource: Resource<Row>,
  choose: (rows: Row[]) => readonly Row[] = (rows) => rows,
): Promise<void> {
  checkFormat(options);
  const { name, columns, mask } = resource;
  await readResource(context, options, resource, async (rows, output) => {
    const chosen = choose(rows);
    const shown = mask ? chosen.map(mask) : chosen;
    if ((await writeList(output, options, columns, shown)) > 0) return;
    await output.note(rows.length > 0 ? `no ${name} match` : `there are no ${name}`);
  });
}
