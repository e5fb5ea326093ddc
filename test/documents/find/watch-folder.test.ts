import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openFolderWatcher, silentSystem } from "../../../src/documents/find/watch-folder.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { writeFiles } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";

it.each([
  [0x6969, "NFS"],
  // As a signed number, which some systems give.
  [0xff534d42 | 0, "CIFS"],
  [0x65735546, "FUSE"],
  // ext4, tmpfs, btrfs, xfs, overlayfs: with events.
  [0xef53, undefined],
  [0x01021994, undefined],
  [0x9123683e, undefined],
  [0x58465342, undefined],
  [0x794c7630, undefined],
])("the file system %i is %s", (type, name) => {
  expect(silentSystem(type)).toBe(name);
});

it("reports what a search would find, and changes of rules as such", async () => {
  const root = temporaryFolder();
  writeFiles(root, {
    "docs/a.md": "# A",
    "docs/.gitignore": "skipped/\n",
    "docs/skipped/x.md": "# X",
    "docs/own/state.db": "",
    "other/b.md": "# B",
    "config.json": "{}",
  });
  const settings = compileSettings({ root, include: [], flags: {} } as never);
  const seen: boolean[] = [];
  const watcher = await openFolderWatcher({
    inputs: ["docs"],
    find: { cwd: root, settings },
    configurations: [join(root, "config.json")],
    own: [join(root, "docs/own"), join(root, "docs/report.json")],
    onChange: (isRule) => void seen.push(isRule),
    onBlind: (reason) => expect.fail(reason),
    patience: () => new Promise(() => {}),
  });
  const change = (path: string): void => writeFileSync(join(root, path), `${seen.length} changed`);
  try {
    // Not one of these counts: the first change that is seen is the last one.
    for (const path of ["docs/skipped/x.md", "docs/.h.md", "docs/own/state.db"]) change(path);
    for (const path of ["other/b.md", "docs/report.json"]) change(path);
    change("docs/.gitignore");
    await expect.poll(() => seen[0]).toBe(true);
    seen.length = 0;
    change("docs/a.md");
    await expect.poll(() => seen.includes(false)).toBe(true);
    seen.length = 0;
    change("config.json");
    await expect.poll(() => seen.includes(true)).toBe(true);
  } finally {
    await watcher.close();
  }
});
