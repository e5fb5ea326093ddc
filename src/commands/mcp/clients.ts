import { join } from "node:path";
import type { Machine } from "../../config/find/folders.ts";

/** A program for agents whose configuration `mcp install` can change. */
interface Client {
  /** For people. */
  title: string;
  /** Its file for all projects of the user. Source: the documentation of the client. */
  path(machine: Machine): string;
  form: "json" | "toml";
  /** The member that holds the servers by name. */
  servers: string;
  /** Whether an entry says that the server speaks over stdio. */
  hasType: boolean;
}

function vscodeFolder({ env, platform, home }: Machine): string {
  if (platform === "win32") return env["APPDATA"] || join(home, "AppData", "Roaming");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return env["XDG_CONFIG_HOME"] || join(home, ".config");
}

export const clients = {
  // code.claude.com, "MCP installation scopes": user scope.
  claude: {
    title: "Claude Code",
    path: ({ home }: Machine) => join(home, ".claude.json"),
    form: "json",
    servers: "mcpServers",
    hasType: true,
  },
  // The README of openai/codex, "config.toml".
  codex: {
    title: "Codex",
    path: ({ env, home }: Machine) =>
      join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml"),
    form: "toml",
    servers: "mcp_servers",
    hasType: false,
  },
  // cursor.com/docs, "Configuration locations".
  cursor: {
    title: "Cursor",
    path: ({ home }: Machine) => join(home, ".cursor", "mcp.json"),
    form: "json",
    servers: "mcpServers",
    hasType: false,
  },
  // code.visualstudio.com, "MCP configuration reference": the user's mcp.json.
  vscode: {
    title: "VS Code",
    path: (machine: Machine) => join(vscodeFolder(machine), "Code", "User", "mcp.json"),
    form: "json",
    servers: "servers",
    hasType: true,
  },
  // The documentation of Gemini CLI, "settings.json".
  gemini: {
    title: "Gemini CLI",
    path: ({ home }: Machine) => join(home, ".gemini", "settings.json"),
    form: "json",
    servers: "mcpServers",
    hasType: false,
  },
} as const satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;
