import { noAccessTo } from "../chat/request.ts";
import { toolList } from "../chat/packets.ts";
import type { App } from "../http/call.ts";
import { pageOf, pages, pathInteger, problem } from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { Caller } from "../store/access.ts";

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

/** observed-service.md 1.3. Names of providers are not unique; each has its own id. */
function providersOf(models: Service["models"]) {
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

const Pages = pages(10);

/** The constant listings: observed-service.md 4.1 and 5. */
export function catalogRoutes(app: App, { dialect, pairs, groups, models, model }: Service): void {
  app.get("/api/manage/admin/connector/status", (c) => c.json(pairs.records));
  app.get("/api/tool", (c) => c.json(toolList));
  if (dialect === "standard") return;
  const agents = [model ? { ...persona, description: modelDescription } : persona];
  const constants = {
    "/api/health": { success: true, message: "ok", data: null },
    "/api/version": { backend_version: "v4.6.1" },
    "/api/persona": agents,
    "/api/admin/persona": agents,
    "/api/llm/provider": providersOf(models),
    "/api/admin/llm/provider": providersOf(models),
    "/api/llm/persona/:id/providers": providersOf(models),
    // The sandbox makes no projects.
    "/api/user/projects": [],
  };
  for (const [path, value] of Object.entries(constants)) app.get(path, (c) => c.json(value));
  app.get("/api/me", (c) => c.json(userOf(c.env.caller)));
  app.get("/api/me/permissions", (c) => c.json(permissionsOf(c.env.caller).toSorted()));
  app.get("/api/manage/user-groups/minimal", (c) => c.json(groups.visibleTo(c.env.caller)));
  app.get("/api/agents", (c) => pageOf(c, agents, Pages));
  app.get("/api/persona/:id", (c) => {
    if (pathInteger(c, "id") === persona.id) return c.json(agents[0]);
    throw problem(dialect, 404, "PERSONA_NOT_FOUND", noAccessTo("persona"));
  });
}
