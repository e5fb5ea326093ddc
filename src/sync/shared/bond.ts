import type { Database } from "../../database.ts";
import { CliError } from "../../errors.ts";
import { notes } from "../state/file/state-schema.ts";
import { listTargets } from "../state/target.ts";
import type { SharedProject } from "./tables.ts";

/** Which project of which shared record a local state is a copy of. */
export interface Bond {
  /** Of SharedProject. */
  id: string;
  project: string;
  /** All rows up to this revision are here. */
  revision: number;
}

/** The bond of a state; undefined for one that is not shared. */
export function readBond(database: Database): Bond | undefined {
  const row = database.prepare("SELECT value FROM meta WHERE key = 'shared'").get();
  return row && (JSON.parse(String(row["value"])) as Bond);
}

/** Writes a bond; from then on the triggers of the state note each change. The caller opens the transaction. */
export function writeBond(database: Database, bond: Bond): void {
  database
    .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('shared', ?)")
    .run(JSON.stringify(bond));
}

/** Ends a bond; the triggers note nothing any more. The caller opens the transaction. */
export function dropBond(database: Database): void {
  database.exec("DELETE FROM meta WHERE key = 'shared'");
}

/** Number of rows that the shared record does not have yet. */
export function countUnpushed(database: Database): number {
  return Number(database.prepare("SELECT count(*) AS n FROM unpushed").get()?.["n"]);
}

// Each table is written over with itself, so that the triggers note every row.
const noteAll = `
  UPDATE options SET json = json; UPDATE accepted SET whole = whole; UPDATE failures SET reason = reason;
  UPDATE uploads SET ended = ended; UPDATE files SET content = content; UPDATE images SET file_id = file_id;
  UPDATE verified SET result = result;`;

/** Makes a state a copy of a project; whatever it has counts as not pushed. */
function bindTo(database: Database, { id, name }: SharedProject): void {
  database.transaction(() => {
    database.exec(notes);
    writeBond(database, { id, project: name, revision: 0 });
    database.exec(noteAll);
  });
}

/** Ends the bond of a state with its project; its records stay. */
export function unbind(database: Database): void {
  database.transaction(() => {
    dropBond(database);
    database.exec("DELETE FROM unpushed");
  });
}

/** Ends the bond, and drops all records: they are another project's. */
export function emptyState(database: Database): void {
  database.transaction(() => {
    dropBond(database);
    database.exec(`DELETE FROM unpushed; DELETE FROM files; DELETE FROM accepted; DELETE FROM failures;
      DELETE FROM uploads; DELETE FROM images; DELETE FROM verified; DELETE FROM options;`);
  });
}

const wholeHint = "if the database was lost or restored: knowctl state push --all";

/**
 * Checks that a state may be a copy of a project, and makes it one. `isWhole`: push everything
 * again (`state push --all`). Throws CliError `usage` for a state of another project, and `local`
 * where the shared record has lost what this state has seen.
 */
export function bindState(database: Database, project: SharedProject, isWhole: boolean): void {
  const bond = readBond(database);
  if (bond && bond.project !== project.name) {
    throw new CliError(
      "usage",
      `this state is a copy of project ${bond.project}, not of ${project.name}`,
      {
        hints: [`use --state-project ${bond.project}`, "or end the copy: knowctl state unshare"],
      },
    );
  }
  const targets = bond ? [] : listTargets(database);
  if (project.target !== undefined && targets.length > 0 && !targets.includes(project.target)) {
    throw otherProject(project, targets[0] ?? "");
  }
  if (!bond || isWhole) return bindTo(database, project);
  if (bond.id === project.id && bond.revision <= project.revision) return;
  throw new CliError(
    "local",
    `the shared record of project ${project.name} lacks what this state has seen there`,
    { hints: [wholeHint] },
  );
}

/**
 * Whether the folder of a state has a file that was sent to a target: what was only fetched has no
 * stamp of a file.
 */
export function hasSentTo(database: Database, target: string): boolean {
  const own = `SELECT 1 AS yes FROM files f JOIN accepted a ON a.id = f.id AND a.whole = f.whole
    WHERE f.seen <> '' AND a.target = ? LIMIT 1`;
  return database.prepare(own).get(target) !== undefined;
}

/** The error for a run of another repository under the name of a project. */
export function otherProject({ name, target }: SharedProject, own: string): CliError {
  return new CliError(
    "usage",
    `project ${name} of the shared record sends to ${target}, and this one to ${own}: nothing was sent`,
    {
      hints: [
        "give this project a name of its own: --state-project NAME",
        `for a second pair of one repository: first upload to ${target} from this folder`,
      ],
    },
  );
}
