/** The Actions that this sandbox can run. */
export const searchTool = {
  id: 1,
  name: "internal_search",
  display_name: "Internal Search",
  in_code_tool_id: "SearchTool",
  description: "Searches the documents that were uploaded to this sandbox.",
};
export const listTool = {
  id: 2,
  name: "list_documents",
  display_name: "List documents",
  in_code_tool_id: null,
  description: "Lists the newest documents of this sandbox.",
};

const rest = {
  definition: null,
  custom_headers: null,
  passthrough_auth: false,
  mcp_server_id: null,
  user_id: null,
  oauth_config_id: null,
  oauth_config_name: null,
  enabled: true,
  permissions: {},
  chat_selectable: true,
  agent_creation_selectable: true,
  default_enabled: true,
};

/** The Actions as GET /tool lists them: observed-service.md 5. */
export const toolList = [searchTool, listTool].map((tool) => ({ ...tool, ...rest }));
