import { dirname } from "node:path";
import type { ParsedFile } from "../file/parse.ts";
import { placeOf, type Path } from "../file/problems.ts";
import type {
  LintSettings,
  ChatSettings,
  ConfigContent,
  IngestSettings,
  Profile,
  NotifySettings,
  StateSettings,
} from "./schema.ts";

/** Source of a value in effect. */
export interface Origin {
  source: "flag" | "env" | "project" | "user" | "default";
  /** `--base-url`, `KNOWCTL_BASE_URL`, `file:line` or `built-in`. */
  readonly where: string;
  /** The same key in lower layers, nearest first. */
  overrides: Origin[];
}

export interface ConfigFile extends ParsedFile {
  layer: "project" | "user";
  /** Named by `--config`. */
  named: boolean;
  /** Its addresses and secret references may take effect. */
  trusted: boolean;
}

type LayerValues = Profile & {
  lint?: LintSettings;
  state?: StateSettings;
  notify?: NotifySettings;
};

/** Values of one source, e.g. the profile of the user file. */
export interface Layer {
  source: Origin["source"];
  values: LayerValues;
  where(path: Path): string;
  file?: ConfigFile;
  /** Base folder of relative paths. */
  folder: string;
}

function fileLayer(file: ConfigFile, values: LayerValues, prefix: Path): Layer {
  const where = (path: Path): string => {
    const offset = file.tree.offsetOf([...file.prefix, ...prefix, ...path], true);
    return `${file.path}:${placeOf(file.text, offset).line}`;
  };
  return { source: file.layer, values, where, file, folder: dirname(file.path) };
}

/** The layers of one file for one profile, lowest first: its top level, then the profile. */
export function fileLayers(file: ConfigFile, content: ConfigContent, profile: string): Layer[] {
  const { chat, ingest, lint, state, notify } = content;
  const top = {
    ...(chat && { chat }),
    ...(ingest && { ingest }),
    ...(lint && { lint }),
    ...(state && { state }),
    ...(notify && { notify }),
  };
  const layers = [fileLayer(file, top, [])];
  const own =
    content.profiles && Object.hasOwn(content.profiles, profile)
      ? content.profiles[profile]
      : undefined;
  if (own) layers.push(fileLayer(file, own, ["profiles", profile]));
  return layers;
}

export interface Merged {
  values: LayerValues & { chat: ChatSettings; ingest: IngestSettings };
  /** By dotted key: `baseUrl`, `ingest.metadata.team`. */
  origins: Map<string, Origin>;
  /** The layer that set each member of the profile. */
  winners: Map<keyof LayerValues, Layer>;
}

type Values = Record<string, unknown>;

// Settings merge key by key; a secret ({env: …}), a list or a rule is one value.
function merges(value: unknown, path: Path): value is Values {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return path[0] === "chat" || path[0] === "ingest" || path[0] === "lint";
}

function assign(merged: Merged, target: Values, values: Values, path: Path, layer: Layer): void {
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const here = [...path, key];
    const name = here.join(".");
    if (path.length === 0) merged.winners.set(key as keyof LayerValues, layer);
    if (merges(value, here)) {
      if (!merges(target[key], here)) {
        merged.origins.delete(name);
        target[key] = {};
      }
      assign(merged, target[key] as Values, value, here, layer);
      continue;
    }
    if (merges(target[key], here)) {
      for (const each of merged.origins.keys())
        if (each.startsWith(`${name}.`)) merged.origins.delete(each);
    }
    const previous = merged.origins.get(name);
    merged.origins.set(name, {
      source: layer.source,
      get where() {
        return layer.where(here);
      },
      overrides: previous ? [previous, ...previous.overrides] : [],
    });
    target[key] = value;
  }
}

/**
 * Merges layers, lowest first. The file matters more than the level in it: a top-level
 * setting of the project file overrides a profile of the user file.
 */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const merged: Merged = {
    values: { chat: {}, ingest: {} },
    origins: new Map(),
    winners: new Map(),
  };
  for (const layer of layers)
    assign(merged, merged.values as Values, layer.values as Values, [], layer);
  return merged;
}
