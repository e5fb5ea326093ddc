import type { Config } from "../../../config/load.ts";

/** Host and base path of a service, without scheme: `assistant.example.com/kb`. */
export function hostOf(baseUrl: string): string {
  return baseUrl.replace(/^https?:\/\//, "");
}

/**
 * Where the documents of a run go: ` at assistant.example.com, profile writer`. A target is a pair
 * of one service: the same number elsewhere is another target.
 */
export function placeText({ profile }: Pick<Config, "profile">, baseUrl: string): string {
  const host = baseUrl === "" ? "" : ` at ${hostOf(baseUrl)}`;
  return `${host}, profile ${profile}`;
}
