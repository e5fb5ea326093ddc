import type { Output } from "./output.ts";
import type { Spinner } from "./spinner.ts";

const slowMs = 250;

/** Runs `work`. If it takes long, a spinner shows `label`; the spinner is loaded only then. */
export async function whileWaiting<T>(
  output: Output,
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  let isDone = false;
  let spinner: Spinner | undefined;
  const show = async (): Promise<void> => {
    const { createSpinner } = await import("./spinner.ts");
    if (isDone) return;
    spinner = createSpinner(output, { delayMs: 0 });
    spinner.start(label);
  };
  const timer = setTimeout(() => void show().catch(() => {}), slowMs);
  try {
    return await work();
  } finally {
    isDone = true;
    clearTimeout(timer);
    await spinner?.stop();
  }
}
