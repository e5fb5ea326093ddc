import { CliError } from "../errors.ts";
import { openConnection, proxyOf, type Connection } from "./values/connection.ts";
import { createMachine } from "./find/folders.ts";
import { builtInLayer, environmentLayer, flagLayer } from "./values/given.ts";
import {
  fileLayers,
  mergeLayers,
  type ConfigFile,
  type Merged,
  type Origin,
} from "./values/layers.ts";
import { readKeys, resolveSecret, type ReadableKeys } from "./values/secrets.ts";
import { secretMembers, secretsOf } from "./values/members.ts";
import {
  chooseProfile,
  type ChosenProfile,
  type ProfileRequest,
  type Source,
} from "./values/profile.ts";
import type {
  LintSettings,
  ChatSettings,
  ConfigContent,
  DialectName,
  IngestSettings,
} from "./values/schema.ts";
import {
  effectiveContent,
  givenValues,
  localContent,
  loadProject,
  loadUser,
  type SourceRequest,
} from "./sources.ts";
import { refusedTrust } from "./trust.ts";

export type { Connection } from "./values/connection.ts";
export type { Origin } from "./values/layers.ts";

export interface LoadRequest extends SourceRequest {
  /** Accept the name of a profile that does not exist yet (config init, login). */
  mayBeNew?: boolean | undefined;
  /** False: without a connection, an unknown `defaultProfile` is only a warning. */
  needsProfile?: boolean | undefined;
  platform?: NodeJS.Platform | undefined;
  home?: string | undefined;
  /** Id of the current user; -1 where users have no id (Windows). */
  uid: number;
}

export interface Config {
  /** Name of the profile in effect. */
  profile: string;
  dialect: DialectName;
  timeoutSeconds?: number;
  chat: ChatSettings;
  ingest: IngestSettings;
  lint: LintSettings;
  /** Folder of the discovered project file; `--config` does not move it. */
  projectFolder?: string;
  /** Source of each value in effect, by dotted key: `baseUrl`, `ingest.metadata.team`. */
  origins: Map<string, Origin>;
  /** The files read: the project file (or `--config`), then the user file. */
  files: ConfigFile[];
  /** The profile in effect as merged, secrets unresolved. */
  values: Merged["values"];
  /** Error for every request while a project file is not trusted. */
  refused: CliError | undefined;
  /** Whom to tell how the run ended, by `notify`; the URLs are resolved. Throws `not-configured`. */
  notifications(): Promise<Notification[]>;
  /** The proxy of requests to another address than the service's. Throws `not-configured`. */
  proxyTo(address: URL): { proxy?: string; noProxy?: string };
  /** The shared record of the configuration, its URL resolved. Throws `not-configured`. */
  sharedState(): Promise<{ url: string; project: string } | undefined>;
  /** Resolves the address and the keys and runs every safety rule. Throws `not-configured`. */
  connection(): Promise<Connection>;
  /** Keys of the profile, for commands that send no request. Secrets of an untrusted file stay unread. */
  readableKeys(): Promise<ReadableKeys>;
}

// A project file cannot grant these permissions, trusted or not; a `--config` file may
// grant allowHttp (faults.md S08, N17).
function withoutPermissions(content: ConfigContent, named: boolean): ConfigContent {
  if (!content.profiles) return content;
  const profiles = Object.entries(content.profiles).map(([name, profile]) => {
    const { allowInsecureTls: _, allowHttp, ...rest } = profile;
    return [name, named && allowHttp !== undefined ? { ...rest, allowHttp } : rest];
  });
  return {
    ...content,
    profiles: Object.fromEntries(profiles) as NonNullable<ConfigContent["profiles"]>,
  };
}

function resolveProfile(
  request: LoadRequest,
  sources: readonly Source[],
  profile: ProfileRequest = { mayBeNew: request.mayBeNew },
): { chosen: ChosenProfile; merged: Merged } {
  const chosen = chooseProfile(request.flags, request.env, sources, profile);
  const fromFiles = sources
    .toReversed()
    .flatMap(({ file, content }) => fileLayers(file, content, chosen.name));
  const layers = [
    builtInLayer,
    ...fromFiles,
    environmentLayer(request.env, request.cwd),
    flagLayer(request.flags, request.cwd),
  ];
  return { chosen, merged: mergeLayers(layers) };
}

/** An entry of `notify`: a URL or a command. */
export interface Notification {
  target: { url: string } | { command: readonly string[] };
  on: "failure" | "recovery" | "change" | "always";
  /** Where it stands, for messages. */
  where: string;
}

const urlPath = ["state", "shared", "url"] as const;

/** The error for a command to run in a file that a checkout may bring. */
function commandElsewhere(where: string): CliError {
  return new CliError("not-configured", `${where}: a command is allowed in the user file only`, {
    hints: [
      "move it to your user file: knowctl config path shows its path; or use --notify COMMAND",
    ],
  });
}

/** Warns of variables that nothing reads. A key of a profile may come from a variable of any name. */
function warnOfVariables({ flags, warn }: LoadRequest, files: readonly ConfigFile[]): void {
  const { unknownVariables } = flags;
  if (unknownVariables === undefined) return;
  const profiles = files.flatMap(({ content }) => Object.values(content.profiles ?? {}));
  const urls = files.flatMap(({ content: { state, notify = [] } }) => [
    ...(state?.shared ? [state.shared.url] : []),
    ...notify.flatMap((each) => ("url" in each ? [each.url] : [])),
  ]);
  for (const secret of [...profiles.flatMap(secretsOf).map(({ secret }) => secret), ...urls]) {
    if (typeof secret !== "string" && "env" in secret) unknownVariables.delete(secret.env);
  }
  for (const warning of unknownVariables.values()) warn(warning);
  // Some commands load the configuration twice.
  unknownVariables.clear();
}

/**
 * Loads the configuration. Precedence: flags, variables, project file, user file, built-in
 * values. Throws CliError `not-configured` with `file:line:column` for a broken file.
 *
 * A trusted project file applies in full. For commands that send requests, an untrusted one is
 * limited. If it sets addresses or secret references, or shapes ids, the target or a check,
 * connection() throws. Otherwise only its settings without ids, target and checks apply, and a
 * warning names the ignored ones.
 */
export async function loadConfig(request: LoadRequest): Promise<Config> {
  const machine = createMachine(request);
  const user = await loadUser(machine, request.warn);
  const project = await loadProject(request, machine);
  const userSource: Source[] = user ? [{ file: user, content: user.content }] : [];
  const sources = (content: ConfigContent | undefined): Source[] =>
    project.file && content
      ? [
          { file: project.file, content: withoutPermissions(content, project.file.named) },
          ...userSource,
        ]
      : userSource;
  const sendable = project.file && (await effectiveContent(project.file, request, machine));
  const { mayBeNew, needsProfile = true } = request;
  const shown = resolveProfile(
    request,
    sources(request.sends ? sendable : project.file && localContent(project.file, request)),
    needsProfile ? { mayBeNew } : { mayBeNew, warn: request.warn },
  );
  const files = [...(project.file ? [project.file] : []), ...(user ? [user] : [])];
  warnOfVariables(request, files);
  const refused = refusedTrust(files, givenValues(request));
  const { values, origins } = shown.merged;
  origins.set("profile", shown.chosen.origin);
  return {
    profile: shown.chosen.name,
    dialect: values.dialect ?? "standard",
    ...(values.timeout === undefined ? {} : { timeoutSeconds: values.timeout }),
    chat: values.chat,
    ingest: values.ingest,
    lint: values.lint ?? {},
    ...(project.folder === undefined ? {} : { projectFolder: project.folder }),
    origins,
    files,
    values,
    refused,
    async notifications() {
      const { merged } = shown;
      const layer = merged.winners.get("notify");
      const found: Notification[] = [];
      for (const [index, { on = "failure", ...each }] of (values.notify ?? []).entries()) {
        const where = layer?.where(["notify", index]) ?? "notify";
        if ("command" in each) {
          if (layer?.source !== "user") throw commandElsewhere(where);
          found.push({ target: { command: each.command }, on, where });
          continue;
        }
        const path = ["notify", index, "url"] as const;
        const url = await resolveSecret({ merged, machine, warn: request.warn }, path);
        if (url && "key" in url) found.push({ target: { url: url.key }, on, where });
        else {
          const message = `${where}: no address to notify: ${url?.missing}`;
          throw new CliError("not-configured", message, { hints: ["set it, or remove the entry"] });
        }
      }
      return found;
    },
    proxyTo: ({ protocol, hostname }) =>
      proxyOf({ isHttps: protocol === "https:", hostname }, shown.merged, machine.env),
    async sharedState() {
      const { shared } = values.state ?? {};
      if (shared === undefined) return undefined;
      const { merged } = shown;
      if (typeof shared.url === "string" && /:[^@]*@|[?&]password=/.test(shared.url.slice(11))) {
        throw new CliError(
          "not-configured",
          "state.shared.url: a password does not stand in a configuration file",
          {
            hints: [
              'name a variable or a private file: {"env": NAME}, {"file": PATH}; or use ~/.pgpass',
            ],
          },
        );
      }
      const found = await resolveSecret({ merged, machine, warn: request.warn }, urlPath);
      if (found && "key" in found) return { url: found.key, project: shared.project };
      const message = `no address of the shared record: ${found?.missing}`;
      throw new CliError("not-configured", message, { hints: ["set it, or remove state.shared"] });
    },
    connection() {
      const { chosen, merged } = request.sends ? shown : resolveProfile(request, sources(sendable));
      const { warn } = request;
      const profile = chosen.name;
      // Without the flag, the key of another profile would be replaced.
      const isFlag = chosen.origin.source === "flag";
      const login = isFlag ? `knowctl login --profile ${profile}` : "knowctl login";
      return openConnection({ merged, files, machine, profile, refused, warn, login });
    },
    async readableKeys() {
      const { merged } = request.sends
        ? shown
        : resolveProfile(request, sources(sendable), { mayBeNew: mayBeNew || !needsProfile });
      const found = await readKeys({ merged, machine });
      const named = secretMembers.filter((member) => values[member] !== undefined);
      const untrusted = named.filter((member) => merged.values[member] === undefined);
      return { ...found, unread: [...found.unread, ...untrusted] };
    },
  };
}
