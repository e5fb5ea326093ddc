import { describe, expect, it } from "vitest";
import {
  createIdleCount,
  whySlow,
  type Moment,
} from "../../../src/commands/ingest/upload/follow-upload.ts";

const now = 1_700_000_000_000;
const gate: Moment["gate"] = {
  inFlight: 8,
  limit: 8,
  waiting: 0,
  pausedUntil: 0,
  retries: 0,
  throttled: 0,
  breakerOpen: false,
  isHeldByRate: false,
  permittedPerSecond: undefined,
  isHeldByLatency: false,
  latencyMs: 40,
  answeredAt: now - 20,
};
const rest = { now, ceiling: 8, rate: undefined, sending: 8, idleMoments: 0 };

describe("why an upload is slow", () => {
  const cases: [string, Partial<Moment["gate"]>, Partial<Moment>, string | undefined][] = [
    ["nothing", {}, {}, undefined],
    [
      "Retry-After",
      { pausedUntil: now + 11_500, throttled: 1, limit: 4 },
      {},
      "pausing 12 s: the service asks for it",
    ],
    [
      "an open breaker",
      { pausedUntil: now + 30_000, breakerOpen: true },
      {},
      "pausing 30 s: the service does not answer",
    ],
    [
      "its probe",
      { pausedUntil: now - 1, breakerOpen: true, limit: 1, inFlight: 1 },
      {},
      "checking whether the service responds again",
    ],
    ["silence", { answeredAt: now - 9000 }, {}, "no response for 9 s"],
    [
      "silence with nothing asked",
      { answeredAt: now - 9000, inFlight: 0 },
      { sending: 0 },
      undefined,
    ],
    ["back-off", { inFlight: 0, retries: 3 }, { sending: 2 }, "waiting to retry failed requests"],
    ["--rate", { isHeldByRate: true, inFlight: 1 }, { rate: 5 }, "limited to 5/s by --rate"],
    ["429", { throttled: 3, limit: 2, inFlight: 2 }, {}, "throttled to 2 at once"],
    [
      "a learned rate",
      { throttled: 3, permittedPerSecond: 97.8 },
      {},
      "throttled to 98/s by the service",
    ],
    [
      "a slow one",
      { throttled: 3, permittedPerSecond: 0.48 },
      {},
      "throttled to 0.5/s by the service",
    ],
    ["429, got over", { throttled: 3 }, {}, undefined],
    [
      "latency that rose with the load",
      { isHeldByLatency: true, limit: 3, latencyMs: 300 },
      {},
      "limited to 3 at once: the service needs 0.3s per document",
    ],
    ["latency, at the ceiling", { isHeldByLatency: true }, {}, undefined],
    ["latency", { latencyMs: 2345 }, {}, "the service needs 2.3s per document"],
    [
      "latency that held the limit down",
      { latencyMs: 2345, limit: 3, inFlight: 3 },
      {},
      "the service needs 2.3s per document",
    ],
    ["reading", { inFlight: 1 }, { sending: 1, idleMoments: 5 }, "reading files is the bottleneck"],
    ["reading, for a moment", { inFlight: 0 }, { sending: 0, idleMoments: 4 }, undefined],
  ];
  it.each(cases)("%s", (_name, ofGate, ofRun, text) => {
    expect(whySlow({ gate: { ...gate, ...ofGate }, ...rest, ...ofRun })).toBe(text);
  });
});

it("counts moments with next to nothing on its way", () => {
  const idleFor = createIdleCount();
  expect([0, 2, 1, 3, 0].map((sending) => idleFor(sending, 8))).toEqual([1, 2, 3, 0, 1]);
});
