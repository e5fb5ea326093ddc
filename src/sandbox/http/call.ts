import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Hono } from "hono";
import type { Caller } from "../store/access.ts";
import type { LedgerRequest } from "../store/ledger.ts";
import type { FaultPlan } from "./faults.ts";

/** What belongs to a request; the admission sets the last three. */
interface Bindings {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** Each segment decoded and encoded again; undefined for a malformed or traversing path. */
  path: string | undefined;
  /** Its record in the ledger. */
  entry: LedgerRequest;
  /** What goes wrong with the response. */
  plan: FaultPlan;
  caller: Caller;
  body: Buffer;
  /** The parsed body, cached. Throws the refusal (422) for a wrong content type or broken JSON. */
  json: () => unknown;
}

export type App = Hono<{ Bindings: Bindings }>;
/** One admitted request. */
export type Call = Context<{ Bindings: Bindings }>;

/** Aborted when the client or the shutdown of the sandbox closes the connection. Not free: only where something waits. */
export function goneSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort();
  else outgoing.once("close", () => gone.abort());
  return gone.signal;
}
