import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { matchedRoutes } from "hono/route";
import { messageOf } from "../../errors.ts";
import { catalogRoutes } from "../routes/catalog.ts";
import { chatRoutes } from "../routes/chat.ts";
import { connectorRoutes } from "../routes/connectors.ts";
import { documentSetRoutes, documentRoutes } from "../routes/documents.ts";
import { fileRoutes } from "../routes/files.ts";
import { historyRoutes, sessionRoutes } from "../routes/sessions.ts";
import { ingestionRoutes } from "../routes/ingestion.ts";
import { pageRoutes } from "../routes/page.ts";
import { searchRoutes } from "../routes/search.ts";
import { statusRoutes } from "../routes/status.ts";
import type { Service } from "../service.ts";
import { anonymousCaller, type Caller } from "../store/access.ts";
import { lazyJson, readBody, releaseBody } from "./body.ts";
import { type App, type Call, goneSignal } from "./call.ts";
import { createFaults, isReplaced } from "./faults.ts";
import { checkRights, type createGuard, keyOf } from "./guard.ts";
import { detail } from "./validation.ts";

/** Paths that need no key. */
const openPaths = new Set(["/", "/page/:name", "/api/health", "/api/version"]);

/** Paths for callers without a valid key, if the sandbox allows them: observed-service.md 6.1. */
const anonymousPaths = new Set([
  "/api/me",
  "/api/persona",
  "/api/chat/send-chat-message",
  "/api/chat/get-chat-session/:id",
  "/api/chat/stop-chat-session/:id",
  "/api/chat/chat-session/:id/resume-stream",
]);

const mebibyte = 1024 * 1024;
/** Maximum of bytes of a request's body by path; elsewhere one mebibyte. */
const bodyLimits: Record<string, number> = {
  "/api/svc-api/ingestion": 32 * mebibyte,
  "/api/onyx-api/ingestion": 32 * mebibyte,
  "/api/chat/send-chat-message": 8 * mebibyte,
  "/api/user/projects/file/upload": 50 * mebibyte,
  "/api/user/file/upload": 50 * mebibyte,
  "/api/manage/admin/connector/file/upload": 50 * mebibyte,
};

/** Whether the app has an endpoint of this path, whatever its method. */
export function hasPath({ routes }: App, path: string): boolean {
  return routes.some(
    (route) =>
      // `use` registers every method.
      route.method !== "ALL" && new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}$`).test(path),
  );
}

/** The endpoints of a dialect. */
export function createRoutes(service: Service, app: App = new Hono()): App {
  ingestionRoutes(app, service);
  chatRoutes(app, service);
  fileRoutes(app, service);
  catalogRoutes(app, service);
  pageRoutes(app, service);
  if (service.dialect === "standard") return app;
  documentRoutes(app, service);
  searchRoutes(app, service);
  sessionRoutes(app, service);
  historyRoutes(app, service);
  connectorRoutes(app, service);
  documentSetRoutes(app, service);
  statusRoutes(app, service);
  return app;
}

const routeOf = (c: Call): string | undefined =>
  matchedRoutes(c).find(({ method }) => method !== "ALL")?.path;

/** The refusal of a request without a route. */
function withoutRoute(c: Call, app: App, { dialect }: Service): HTTPException {
  const { path } = c.req;
  if (hasPath(app, path)) return detail(405, "Method Not Allowed");
  // `onyx` redirects a trailing slash to an address without /api: observed-service.md 8, row 26.
  // It lacks the documented file listing, but redirects its path.
  const isSlash = dialect === "onyx" && path.endsWith("/");
  if (!isSlash || !(hasPath(app, path.slice(0, -1)) || path === "/api/user/projects/file/")) {
    return detail(404, "404: Not Found");
  }
  const location = `http://${c.env.incoming.headers.host}${path.replace(/^\/api(?=\/)/, "").slice(0, -1)}`;
  return new HTTPException(307, {
    res: new Response(null, { status: 307, headers: { location } }),
  });
}

/** Throws the refusal of a request before its body is read: by host, origin, path, key and right. */
function createAdmission(
  app: App,
  service: Service,
  guard: ReturnType<typeof createGuard>,
  callerOf: (key: string) => Caller | undefined,
) {
  const { dialect } = service;
  return (c: Call, route: string | undefined): Caller => {
    const { incoming, path } = c.env;
    guard(incoming);
    if (path === undefined) throw detail(400, "Malformed path");
    // In `onyx`, routing comes before the key: observed-service.md 6.1.
    const isOpen =
      route === undefined
        ? dialect === "onyx" || !/^\/api(?:\/|$)/.test(path)
        : openPaths.has(route) || (service.anonymous && anonymousPaths.has(route));
    const known = callerOf(keyOf(incoming, dialect));
    if (!known && !isOpen) {
      if (dialect !== "onyx") throw detail(401, "Not authenticated");
      const isMe = path === "/api/me";
      throw detail(403, isMe ? "Unauthorized" : "Access denied. User is not authenticated.");
    }
    const caller = known ?? anonymousCaller;
    checkRights(caller, incoming.method ?? "", path, dialect);
    if (route === undefined) throw withoutRoute(c, app, service);
    return caller;
  };
}

/** `document.id` of an ingestion, "" without one; undefined for other requests. */
function documentIdOf(c: Call): string | undefined {
  if (c.req.method !== "POST" || !c.req.path.endsWith("-api/ingestion")) return undefined;
  try {
    const { document } = c.env.json() as { document?: { id?: unknown } };
    return typeof document?.id === "string" ? document.id : "";
  } catch {
    return "";
  }
}

/** Waits until the client disconnects. */
async function untilGone(gone: AbortSignal): Promise<never> {
  if (!gone.aborted) {
    await new Promise((resolve) => gone.addEventListener("abort", resolve, { once: true }));
  }
  throw gone.reason;
}

/** The whole service as a hono app: admission, body, faults, then the endpoints. */
export function createApp(
  service: Service,
  guard: ReturnType<typeof createGuard>,
  callerOf: (key: string) => Caller | undefined,
): App {
  const { clock, dialect, ledger } = service;
  const app: App = new Hono({
    getPath: (_request, options) => options?.env?.path ?? "/",
  });
  const admit = createAdmission(app, service, guard, callerOf);
  app.use(async (c, next) => {
    const { incoming, outgoing } = c.env;
    const route = routeOf(c);
    c.env.caller = admit(c, route);
    c.env.body = await readBody(incoming, outgoing, bodyLimits[route ?? ""] ?? mebibyte);
    c.env.json = lazyJson(incoming.headers["content-type"], c.env.body);
    await next().finally(() => releaseBody(c.env.body));
  });
  const planFor = createFaults(service.faults, clock);
  app.use("/api/*", async (c, next) => {
    const id = documentIdOf(c);
    if (id !== undefined) ledger.attempted(id);
    const { method, path } = c.req;
    const key = keyOf(c.env.incoming, dialect);
    const plan = planFor({ method, path, documentId: () => id, key });
    c.env.plan = plan;
    if (plan.delayMs) await clock.sleep(plan.delayMs, goneSignal(c.env.outgoing));
    if (plan.hang) return await untilGone(goneSignal(c.env.outgoing));
    if (isReplaced(plan)) return c.body(null);
    return await next();
  });
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    if (!c.env.outgoing.destroyed) service.log(`internal error: ${messageOf(error)}`);
    // With its cause: whoever runs the sandbox is its only administrator.
    return c.json({ detail: `Internal error of the sandbox: ${messageOf(error)}` }, 500);
  });
  return createRoutes(service, app);
}
