import type { Flow } from "../transport/watch.ts";

/** Above this many unread bytes the sender is held back. */
const readAheadBytes = 1024 * 1024;

/** Chunks that have come and are not read yet; whoever reads waits for more. */
interface ReadBuffer {
  put(chunk: Buffer): void;
  isFull(): boolean;
  end(error?: Error): void;
  read(): AsyncGenerator<Uint8Array>;
}

/** `flow` gives what holds the sender back and lets it go on. */
export function createReadBuffer(flow: () => Flow | undefined): ReadBuffer {
  let chunks: Buffer[] = [];
  let waitingBytes = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => {};
  return {
    put(chunk) {
      chunks.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > readAheadBytes) flow()?.pause();
      wake();
    },
    isFull: () => waitingBytes > readAheadBytes,
    end(error) {
      ended = true;
      failure = error;
      wake();
    },
    async *read() {
      for (;;) {
        if (chunks.length > 0) {
          const taken = chunks;
          chunks = [];
          for (const chunk of taken) yield chunk;
          const wasFull = waitingBytes > readAheadBytes;
          waitingBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
          if (wasFull && waitingBytes <= readAheadBytes) flow()?.resume();
        } else if (failure) throw failure;
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
