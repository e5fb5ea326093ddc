import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support.ts";
import { documentOf, start } from "../start.ts";

it.runIf(process.platform !== "win32")(
  "lets only the owner read the documents, also in a folder that others can read",
  async () => {
    const dataFolder = temporaryFolder();
    chmodSync(dataFolder, 0o755);
    const { ingest, idle } = await start({ dataFolder });
    await ingest(documentOf());
    await idle();
    const modes = ["", "-wal", "-shm"].map(
      (end) => statSync(join(dataFolder, `sandbox.sqlite${end}`)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600]);
  },
);
