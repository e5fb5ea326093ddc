/** Outcome of one attempt, by what it shows of the service's health. */
export type OutcomeKind =
  | "success"
  /** 429 or 503. */
  | "throttled"
  /** A response that blames the request: the service is alive. */
  | "refused"
  /** A response that blames the service. */
  | "broken"
  /** A 200 that violates the interface, e.g. a login page. */
  | "unexpected"
  | "connection"
  | "timeout"
  /** Aborted by this side. */
  | "abandoned";

/** The retry budget of a run, and the circuit breaker that opens when the budget is spent. */
export interface Breaker {
  isOpen(): boolean;
  /** Records an outcome. True if it was the failed probe of an open breaker, which opens it again. */
  record(kind: OutcomeKind): boolean;
  /** Records that a request was admitted while the breaker is open. */
  probe(): void;
  /** Charges a retry to the budget. True if that opens the breaker. */
  spend(retry: number, kind: OutcomeKind): boolean;
  /** Records a request without further retries. True if all others would fail, too: end the run. */
  giveUp(kind: OutcomeKind, code: string): boolean;
  /** Whether the breaker opened so often that the run should end. */
  isSpent(): boolean;
}

const fullBudget = 100;
const budgetAfterBreaker = 50;
const openingsBeforeStop = 3;
const failuresBeforeStop = 3;
/** After this many consecutive connection faults, first retries are no longer free. */
const freeRetryFaults = 8;
const costs: Partial<Record<OutcomeKind, number>> = { connection: 5, timeout: 10 };

/**
 * The budget is 100 tokens. The first retry of a request is free. Each further retry costs 1
 * after a response, 5 after a connection fault, 10 after a timeout. A success earns 1
 * (faults.md section 3).
 */
export function createBreaker(): Breaker {
  let budget = fullBudget;
  let open = false;
  let probing = false;
  let openings = 0;
  let faults = 0;
  let succeeded = false;
  let same = { code: "", count: 0 };
  let unexpectedResponses = 0;
  const openAgain = (): true => {
    open = true;
    openings += 1;
    return true;
  };
  return {
    isOpen: () => open,
    isSpent: () => openings >= openingsBeforeStop,
    probe() {
      probing = true;
    },
    record(kind) {
      const wasProbe = open && probing;
      probing = false;
      faults = kind === "connection" ? faults + 1 : 0;
      if (kind === "success") {
        succeeded = true;
        unexpectedResponses = 0;
        if (budget < fullBudget && ++budget === fullBudget) openings = 0;
      }
      if (kind === "abandoned") return false;
      if (kind !== "success" && kind !== "refused") return wasProbe && openAgain();
      if (open) budget = Math.max(budget, budgetAfterBreaker);
      open = false;
      return false;
    },
    spend(retry, kind) {
      if (retry > 1 || faults >= freeRetryFaults) budget -= costs[kind] ?? 1;
      return !open && budget <= 0 && openAgain();
    },
    giveUp(kind, code) {
      // One odd response among good ones is due to its document; only odd ones mean another server.
      if (kind === "unexpected") return !succeeded || ++unexpectedResponses >= failuresBeforeStop;
      if (succeeded || (kind !== "connection" && kind !== "timeout")) return false;
      same = { code, count: same.code === code ? same.count + 1 : 1 };
      return same.count >= failuresBeforeStop;
    },
  };
}
