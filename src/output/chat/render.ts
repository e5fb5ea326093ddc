import type { ChatRenderer, RenderOptions } from "./renderer.ts";
import type { Output } from "../terminal/output.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { createJsonRenderer, createNdjsonRenderer, createPacketsRenderer } from "./machine.ts";
import { createTextRenderer } from "./text.ts";

type CreateRenderer = (output: Output, spinner: Spinner, options: RenderOptions) => ChatRenderer;

/** The formats of `chat --output`. */
export const chatRenderers = {
  text: createTextRenderer,
  json: createJsonRenderer,
  ndjson: createNdjsonRenderer,
  packets: createPacketsRenderer,
} as const satisfies Record<string, CreateRenderer>;

export type ChatFormat = keyof typeof chatRenderers;
