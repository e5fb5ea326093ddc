/**
 * How long a test waits for what must come: a process that must end, a text that must appear. It
 * only ends what hangs, so it is far above what a busy machine needs, and nothing is judged by it.
 */
export const patienceMs = 120_000;
