import type { Owner } from "../../api/schemas.ts";
import { isMap, textOf, type Value, type ValueMap } from "./values.ts";

const members = ["display_name", "first_name", "middle_initial", "last_name", "email"] as const;

function fromText(text: string): Owner | undefined {
  const clean = text.trim();
  if (clean === "") return undefined;
  const open = clean.endsWith(">") ? clean.lastIndexOf("<") : -1;
  if (open !== -1) {
    const rawName = clean.slice(0, open).trim();
    const name = rawName.startsWith('"') ? rawName.replace(/^"(.*)"$/, "$1") : rawName;
    const email = clean.slice(open + 1, -1).trim();
    if (name === "") return email === "" ? undefined : { email };
    return email === "" ? { display_name: name } : { display_name: name, email };
  }
  return /^[^\s@]+@[^\s@]+$/.test(clean) ? { email: clean } : { display_name: clean };
}

function fromMap(map: ValueMap): Owner | undefined {
  const owner: Owner = {};
  for (const member of members) {
    const text = textOf(map[member])?.trim();
    if (text) owner[member] = text;
  }
  const name = textOf(map["name"])?.trim();
  if (name && !owner.display_name) owner.display_name = name;
  return Object.keys(owner).length > 0 ? owner : undefined;
}

/**
 * Owners of a front matter value: `Name <mail>`, a plain name or address, an
 * owner object (`name` counts as `display_name`), or a list of these.
 * Undefined when an item names nobody.
 */
export function parseOwners(value: Value): Owner[] | undefined {
  const owners: Owner[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item === null) continue;
    const text = textOf(item);
    const owner = text === undefined ? isMap(item) && fromMap(item) : fromText(text);
    if (!owner) return undefined;
    owners.push(owner);
  }
  return owners;
}
