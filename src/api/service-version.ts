import * as z from "zod/mini";

/** What `/version` answers, without a key even; only the `onyx` deployment has it (observed-service.md 5). */
export const ServiceVersion = z.looseObject({ backend_version: z.string() });
