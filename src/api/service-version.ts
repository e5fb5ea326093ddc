import * as z from "zod/mini";

/** Response of `/version`, which needs no key; only the `onyx` deployment has it (observed-service.md 5). */
export const ServiceVersion = z.looseObject({ backend_version: z.string() });
