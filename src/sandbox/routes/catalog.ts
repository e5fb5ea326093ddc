import type { PairRecord } from "../../api/schemas.ts";
import type { Call } from "../http/call.ts";
import type { Caller } from "../store/access.ts";
import { json, type Reply } from "../http/reply.ts";
import { onyxGet, type Route } from "../http/routes.ts";
import type { Groups } from "../store/groups.ts";
import { toolList } from "../chat/tools.ts";

export interface CatalogOptions {
  pairs: readonly PairRecord[];
  groups: Groups;
  models: Record<string, readonly string[]>;
  /** Whether the agent answers with a language model, for its description. */
  hasModel: boolean;
}

function permissionsOf({ admin }: Caller): string[] {
  const chat = ["read:chat", "write:chat"];
  return admin ? ["admin", "manage:connectors", "read:connectors", ...chat] : chat;
}

function userOf(caller: Caller) {
  return {
    id: caller.id,
    email: caller.email,
    is_active: true,
    is_superuser: caller.admin,
    is_verified: true,
    account_type: caller.anonymous ? "ANONYMOUS" : "STANDARD",
    preferences: {},
    personalization: {},
    token_expires_at: null,
    team_name: null,
    is_anonymous_user: caller.anonymous,
    // Those of the account, also for a token with scopes: observed-service.md 11.5.
    effective_permissions: permissionsOf(caller),
    is_group_manager: false,
    admin_capabilities: [],
  };
}

const persona = {
  id: 0,
  name: "Sandbox",
  description: "Answers with sentences quoted from the uploaded documents.",
  tools: toolList,
  starter_messages: null,
  document_sets: [],
  hierarchy_node_count: 0,
  attached_document_count: 0,
  knowledge_sources: [],
  default_model_configuration_id: null,
  uploaded_image_id: null,
  icon_name: null,
  is_public: true,
  is_listed: true,
  display_priority: null,
  is_featured: true,
  builtin_persona: true,
  labels: [],
  owner: null,
  owner_group: null,
  user_permission: null,
  permissions: {},
};

const modelDescription = "Answers through a language model, from the uploaded documents.";

const health = { success: true, message: "ok", data: null };

/** One page of a listing, numbered from 0. */
function pageOf(rows: readonly unknown[], call: Call): Reply {
  const read = (name: string, other: number): number =>
    /^\d{1,6}$/.test(call.query.get(name) ?? "") ? Number(call.query.get(name)) : other;
  const size = Math.max(1, read("page_size", 10));
  const start = read("page_num", 0) * size;
  return json(200, { items: rows.slice(start, start + size), total_items: rows.length });
}

/** The constant listings: observed-service.md 4.1 and 5. */
export function catalogRoutes(options: CatalogOptions): Route[] {
  const { pairs, groups, models, hasModel } = options;
  const get = (path: string, value: unknown, more: Partial<Route> = {}): Route => ({
    method: "GET",
    path,
    handle: () => json(200, value),
    ...more,
  });
  const onyx = { dialect: "onyx" } as const;
  const providers = Object.entries(models).map(([name, names], index) => ({
    id: index + 1,
    name,
    provider: name,
    default_model_name: names[0] ?? null,
    model_configurations: names.map((model) => ({ name: model, is_visible: true })),
  }));
  const agents = [hasModel ? { ...persona, description: modelDescription } : persona];
  return [
    get("/api/manage/admin/connector/status", pairs),
    get("/api/tool", toolList),
    get("/api/health", health, { ...onyx, open: true }),
    get("/api/version", { backend_version: "v4.6.1" }, { ...onyx, open: true }),
    {
      method: "GET",
      path: "/api/me",
      ...onyx,
      anonymous: true,
      handle: ({ caller }) => json(200, userOf(caller)),
    },
    onyxGet("/api/me/permissions", ({ caller }) => json(200, permissionsOf(caller).toSorted())),
    onyxGet("/api/manage/user-groups/minimal", ({ caller }) => json(200, groups.visibleTo(caller))),
    get("/api/persona", agents, { ...onyx, anonymous: true }),
    { ...get("/api/agents", agents, onyx), handle: (call) => pageOf(agents, call) },
    get("/api/llm/provider", providers, onyx),
    get("/api/llm/persona/:id/providers", providers, onyx),
  ];
}
