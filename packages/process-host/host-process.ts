/** Port: what a host needs of its process, so that it can be tested without one. */

/** The part of Node's `process` that a host uses. */
export interface HostProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly stderr: { write(text: string): unknown };
  /** Present when a parent opened an IPC channel. */
  readonly channel?: object | undefined;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): void;
}
