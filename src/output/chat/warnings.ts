import type { Turn } from "./answer.ts";

/** What was asked for and can be ignored by the service without an error. */
export interface Asked {
  /** Some search filter was given. */
  filters: boolean;
  forcedToolId: number | undefined;
}

const noTools = new Set(["plan", "report"]);

/** What silently went otherwise than asked (observed-service.md 8). One line each. */
export function warningsOf(turn: Turn, asked: Asked): string[] {
  const warnings: string[] = [];
  const searched = turn.tools.some((call) => /search/i.test(call.tool) && !call.internet);
  if (asked.filters && !searched) {
    warnings.push(
      "filters were given but no search ran: nothing limits this answer to them (--force-tool makes the agent search)",
    );
  }
  // Only custom tools report their id; another tool may be the forced one.
  const { forcedToolId } = asked;
  const ran = turn.tools.some(
    (call) => !noTools.has(call.tool) && (call.toolId === null || call.toolId === forcedToolId),
  );
  if (forcedToolId !== undefined && !ran) {
    warnings.push(`tool ${forcedToolId} was forced but did not run`);
  }
  if (turn.stopped && turn.answer.trim() === "") {
    warnings.push("the service ended the turn without any text");
  }
  return warnings;
}
