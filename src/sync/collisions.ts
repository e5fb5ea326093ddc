import { CliError } from "../errors.ts";
import type { PlanTable } from "./plan-table.ts";

const collisionsShown = 10;

/**
 * Throws CliError `usage` when two files of the plan give documents that the
 * service would store as one: the later would overwrite the earlier.
 */
export function refuseCollisions(table: PlanTable): void {
  const collisions = table.collisions(collisionsShown + 1);
  if (collisions.length === 0) return;
  const more = collisions.length > collisionsShown ? ["… and more"] : [];
  throw new CliError("usage", "two files give one document id; nothing was sent", {
    details: [
      ...collisions
        .slice(0, collisionsShown)
        .map(({ first, second }) =>
          first.id === second.id
            ? `${first.id}: ${first.path} and ${second.path}`
            : `${first.path} and ${second.path}: the service stores "${first.id}" and "${second.id}" as one`,
        ),
      ...more,
    ],
    hints: ["give one of them another `id` in its front matter, or exclude it"],
  });
}
