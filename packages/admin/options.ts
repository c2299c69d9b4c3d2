/** What a caller may choose about the server. */

import { count, resolveOptions, text } from "@leasehold/options";

/** Where the server listens, and where the health check asks. */
export const DEFAULT_HOST = "127.0.0.1";
/** See `DEFAULT_HOST`. */
export const DEFAULT_PORT = 8080;
/** The highest port of TCP. */
export const MAX_PORT = 65_535;

/** Where the server listens. */
export interface AdminOptions {
  /**
   * An address of this machine. The status names tenants and jobs: open it to others (`0.0.0.0`)
   * only where a network policy says who they are.
   * @defaultValue "127.0.0.1"
   */
  readonly host?: string;
  /** 0 takes any free port. @defaultValue 8080 */
  readonly port?: number;
}

/** Every option, resolved. */
export type ResolvedAdminOptions = Required<AdminOptions>;

/** @throws InvalidOptionsError naming every problem */
export function resolveAdminOptions(options: AdminOptions): ResolvedAdminOptions {
  return resolveOptions<ResolvedAdminOptions>(
    "server",
    { ...options },
    {
      host: text(DEFAULT_HOST),
      port: count(DEFAULT_PORT, { min: 0, max: MAX_PORT }),
    },
  );
}
