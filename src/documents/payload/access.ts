import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { isJsonObject, isScalar, type Value } from "../front-matter/values.ts";

/** Front matter keys that people use to restrict who may read a page. */
export const defaultAccessKeys: readonly string[] = [
  "access",
  "visibility",
  "private",
  "permissions",
  "groups",
];

/** The same for members of a JSON document, in lower case without `-` and `_`. */
const accessMembers = new Set([
  ...defaultAccessKeys,
  "externalaccess",
  "acl",
  "accesscontrol",
  "accesscontrollist",
  "allowedusers",
  "allowedgroups",
]);

// Values for public access, and empty values.
const openWords =
  /^(?:|~|null|none|no|off|false|0|public|open|all|any|anyone|everyone|everybody)$/i;

/** Whether a value of an access key or member restricts who may read. */
export function restricts(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false;
  if (typeof value === "string") return !openWords.test(value.trim());
  if (Array.isArray(value)) return value.some(restricts);
  if (isScalar(value as Value)) return restricts((value as { scalar: string }).scalar);
  if (!isJsonObject(value)) return true;
  // observed-service.md 3.1: the service's own form; without `is_public` nobody may read.
  return value["is_public"] !== true && Object.keys(value).length > 0;
}

/** The member of a JSON document that restricts who may read it. */
export function restrictionIn(members: Record<string, unknown>): string | undefined {
  return Object.keys(members).find(
    (name) =>
      accessMembers.has(name.toLowerCase().replace(/[-_]/g, "")) && restricts(members[name]),
  );
}

/** The hint for a restriction that the service drops. */
export const restrictionHint =
  "upload to a pair with that access and add --drop-access, which sends the document without it";

export const restrictionProblem = "the service drops it: the pair alone decides who can read";

/**
 * Returns the document without its restriction. Throws CliError `usage` when it has one and
 * `dropAccess` is false; `where` begins the message.
 */
export function withoutRestriction(
  { document, restrictedBy }: { document: IngestionDocument; restrictedBy?: string | undefined },
  where: string,
  dropAccess: boolean,
): IngestionDocument {
  if (restrictedBy === undefined) return document;
  if (!dropAccess) {
    throw new CliError("usage", `${where}: ${restrictedBy}: ${restrictionProblem}`, {
      hints: [restrictionHint],
    });
  }
  const { [restrictedBy as keyof IngestionDocument]: _dropped, ...rest } = document;
  // A document may have more than one of these members.
  const next = { document: rest as IngestionDocument, restrictedBy: restrictionIn(rest) };
  return withoutRestriction(next, where, dropAccess);
}
