import { parseXml } from "../xml.ts";
import { unpackEntry, type Budget, type ZipEntry } from "../zip.ts";

/** The archive of one file, with the number of bytes that may still be unpacked. */
export interface Archive {
  bytes: Uint8Array;
  entries: ReadonlyMap<string, ZipEntry>;
  budget: Budget;
}

export function unpack(archive: Archive, name: string | undefined): Uint8Array | undefined {
  const entry = name === undefined ? undefined : archive.entries.get(name);
  return entry && unpackEntry(archive.bytes, entry, archive.budget);
}

/** What a part refers to (ECMA-376 part 2, 9). */
export interface Relations {
  /** Parts by the last word of the relation type: `styles`. */
  parts: ReadonlyMap<string, string>;
  /** Parts, and addresses outside of the file, by the id of the relation. */
  byId: ReadonlyMap<string, string>;
  links: ReadonlyMap<string, string>;
}

export function readRelations(archive: Archive, part: string): Relations {
  const slash = part.lastIndexOf("/") + 1;
  const folder = part.slice(0, slash);
  const parts = new Map<string, string>();
  const byId = new Map<string, string>();
  const links = new Map<string, string>();
  const bytes = unpack(archive, `${folder}_rels/${part.slice(slash)}.rels`);
  if (!bytes) return { parts, byId, links };
  parseXml(bytes, {
    open(name, attributeOf) {
      const target = attributeOf("Target");
      if (name !== "Relationship" || target === undefined) return;
      const id = attributeOf("Id") ?? "";
      const kind = (attributeOf("Type") ?? "").split("/").at(-1) ?? "";
      if (attributeOf("TargetMode") === "External") {
        if (kind === "hyperlink") links.set(id, target);
        return;
      }
      const path = target.startsWith("/") ? target.slice(1) : folder + target;
      parts.set(kind, path);
      byId.set(id, path);
    },
    close() {},
    text() {},
  });
  return { parts, byId, links };
}
