import type { PairRecord } from "../../api/schemas.ts";
import type { Call } from "../http/call.ts";
import type { Caller } from "../store/access.ts";
import { noAccessTo } from "../chat/chat-setup.ts";
import { pathInteger } from "../http/query.ts";
import { json, problem, type Reply } from "../http/reply.ts";
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

/** observed-service.md 1.3. Names of providers are not unique; each has its own id. */
function providersOf(models: CatalogOptions["models"]) {
  const providers = Object.entries(models).map(([name, names], index) => ({
    id: index + 1,
    name,
    provider: name,
    provider_display_name: name,
    model_configurations: names.map((model, at) => toModel(name, model, at)),
  }));
  const [first] = providers;
  const model_name = first?.model_configurations[0]?.name;
  const standard = first && model_name !== undefined ? { provider_id: first.id, model_name } : null;
  return {
    providers,
    default_text: standard,
    default_vision: null,
    default_chat_naming: standard,
  };
}

function toModel(provider: string, name: string, at: number) {
  return {
    id: at + 1,
    name,
    is_visible: true,
    max_input_tokens: null,
    supports_image_input: false,
    supports_reasoning: false,
    supported_reasoning_efforts: [],
    reasoning_effort_max: null,
    reasoning_effort_default: null,
    temperature_default: null,
    is_recommended_default: at === 0,
    display_name: null,
    custom_display_name: null,
    provider_display_name: provider,
    vendor: null,
    version: null,
    region: null,
  };
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
  const providers = providersOf(models);
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
    get("/api/admin/persona", agents, onyx),
    onyxGet("/api/persona/:id", (call) =>
      pathInteger(call, "id") === persona.id
        ? json(200, agents[0])
        : problem("onyx", 404, "PERSONA_NOT_FOUND", noAccessTo("persona")),
    ),
    get("/api/llm/provider", providers, onyx),
    get("/api/admin/llm/provider", providers, onyx),
    get("/api/llm/persona/:id/providers", providers, onyx),
    // The sandbox makes no projects.
    get("/api/user/projects", [], onyx),
  ];
}
