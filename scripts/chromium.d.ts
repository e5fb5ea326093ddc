/** One page of the browser, with cookies and storage of its own. */
export interface Page {
  /** Sends a command of the DevTools protocol. */
  send<Result = unknown>(command: string, params?: object): Promise<Result>;
  on<Params>(event: string, listener: (params: Params) => void): void;
  evaluate<Result = unknown>(expression: string): Promise<Result>;
  until(expression: string): Promise<void>;
  open(url: string): Promise<void>;
  type(text: string): Promise<void>;
  press(key: "Enter" | "Escape" | "Tab" | "Space" | "ArrowUp" | "ArrowDown"): Promise<void>;
  close(): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  picture(options?: { isWhole?: boolean; scale?: number }): Promise<Buffer>;
}

export interface Chromium {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export function findChromium(env?: NodeJS.ProcessEnv): string | undefined;
export function startChromium(path: string): Promise<Chromium>;
