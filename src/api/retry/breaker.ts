/** What came of one attempt, as far as the health of the service is concerned. */
export type OutcomeKind =
  | "success"
  /** 429 or 503. */
  | "throttled"
  /** An answer that blames the request: the service is alive. */
  | "refused"
  /** An answer that blames the service. */
  | "broken"
  /** A 200 that is not what the interface promises, e.g. a login page. */
  | "unexpected"
  | "connection"
  | "timeout"
  /** Ended by us. */
  | "abandoned";

/** The retry budget of a run and the breaker that opens when it is spent. */
export interface Breaker {
  isOpen(): boolean;
  /** Records an outcome. True when it was the failed probe of an open breaker, which opens it again. */
  record(kind: OutcomeKind): boolean;
  /** A request was let through while the breaker is open. */
  probe(): void;
  /** Pays for a retry. True when that opens the breaker. */
  spend(retry: number, kind: OutcomeKind): boolean;
  /** A request failed for good. True when that says that the others will, too, and the run should end. */
  giveUp(kind: OutcomeKind, code: string): boolean;
  /** It has opened so often that the run should end. */
  isSpent(): boolean;
}

const fullBudget = 100;
const budgetAfterBreaker = 50;
const openingsBeforeStop = 3;
const failuresBeforeStop = 3;
/** From this many connection faults in a row on, first retries are no longer free. */
const faultsInARow = 8;
const costs: Partial<Record<OutcomeKind, number>> = { connection: 5, timeout: 10 };

/**
 * 100 tokens: the first retry of a request is free, each further one costs 1
 * after an answer, 5 after a connection fault, 10 after a timeout; a success
 * brings 1 back (faults.md section 3).
 */
export function createBreaker(): Breaker {
  let budget = fullBudget;
  let open = false;
  let probing = false;
  let openings = 0;
  let faults = 0;
  let succeeded = false;
  let same = { code: "", count: 0 };
  let strangers = 0;
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
        strangers = 0;
        if (budget < fullBudget && ++budget === fullBudget) openings = 0;
      }
      if (kind === "abandoned") return false;
      if (kind !== "success" && kind !== "refused") return wasProbe && openAgain();
      if (open) budget = Math.max(budget, budgetAfterBreaker);
      open = false;
      return false;
    },
    spend(retry, kind) {
      if (retry > 1 || faults >= faultsInARow) budget -= costs[kind] ?? 1;
      return !open && budget <= 0 && openAgain();
    },
    giveUp(kind, code) {
      // One odd answer among good ones is that document's; nothing but odd answers is another server.
      if (kind === "unexpected") return !succeeded || ++strangers >= failuresBeforeStop;
      if (succeeded || (kind !== "connection" && kind !== "timeout")) return false;
      same = { code, count: same.code === code ? same.count + 1 : 1 };
      return same.count >= failuresBeforeStop;
    },
  };
}
