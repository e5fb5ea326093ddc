import { describe, expect, it } from "vitest";
import { failureError } from "../../../src/output/chat/failure.ts";

function fail(message: string, code: string | null = null, sessionId: string | null = null) {
  const failure = { type: "error", message, code, retryable: null } as const;
  return failureError(failure, { sessionId, hasAnswer: false });
}

describe("failureError", () => {
  it.each([
    [null, "boom", "server-error"],
    ["AUTH_ERROR", "bad vendor key", "server-error"],
    ["PERMISSION_DENIED", "vendor", "server-error"],
    ["UNAUTHENTICATED", "who?", "auth"],
    ["INSUFFICIENT_PERMISSIONS", "no", "auth"],
    ["RATE_LIMIT", "slow", "rate-limited"],
    ["RATE_LIMITED", "slow", "rate-limited"],
    ["BUDGET_EXCEEDED", "spent", "rate-limited"],
    ["NOT_FOUND", "no model", "not-found"],
    ["PERSONA_NOT_FOUND", "no agent", "not-found"],
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", "not-found"],
    ["VALIDATION_ERROR", "not on the latest mainline", "usage"],
    ["VALIDATION_ERROR", "File not found: f", "not-found"],
    ["VALIDATION_ERROR", "Persona 9 is not available", "not-found"],
    [null, "Forced tool 7 not found in tools", "not-found"],
    ["CONTEXT_TOO_LONG", "too long", "usage"],
    ["MODEL_ERROR", "bad chat session handling in the model", "server-error"],
    ["SERVICE_UNAVAILABLE", "down", "server-error"],
    ["GATEWAY_TIMEOUT", "late", "timeout"],
    ["constructor", "odd", "server-error"],
    ["NEW_CODE", "odd", "server-error"],
  ])("%s: %s is %s", (code, message, exit) => {
    expect(fail(message, code).exit).toBe(exit);
  });

  it.each([
    ["VALIDATION_ERROR", "Persona 9 is not available", "check the session, agent, project,"],
    ["PERSONA_NOT_FOUND", "no agent", "check the session, agent, project,"],
    ["INSUFFICIENT_PERMISSIONS", "Document set not found: x", "check the name, or ask"],
    ["INSUFFICIENT_PERMISSIONS", "no", "ask an administrator"],
  ])("%s: %s names what to do", (code, message, hint) => {
    expect(fail(message, code).hints[0]).toContain(hint);
  });

  it("says the service's own words on one bounded line, the code and the session", () => {
    const error = fail(`bad\n\u001b[31mthing ${"x".repeat(2000)}`, "MODEL_ERROR", "s-1");
    expect(error.message).toMatch(
      /^the service did not answer: bad \^\[\[31mthing x+… \(MODEL_ERROR\)$/,
    );
    expect(error.message.length).toBeLessThan(600);
    expect(error.hints).toContain("session: s-1");
  });

  it("tells an answer that broke off from none", () => {
    const failure = { type: "error", message: "boom", code: null, retryable: null } as const;
    const failed = { sessionId: null, hasAnswer: true };
    expect(failureError(failure, failed).message).toBe("the service broke off its answer: boom");
    expect(failureError(failure, { ...failed, model: "m-1" }).message).toBe(
      "m-1 broke off its answer: boom",
    );
  });

  it("has words where the service has none", () => {
    expect(fail(" ").message).toBe("the service did not answer: no reason reported");
  });
});
