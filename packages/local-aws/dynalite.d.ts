/** The part of dynalite's API that is used here; the package brings no types of its own. */

declare module "dynalite" {
  import type { Server } from "node:http";

  interface DynaliteOptions {
    /** LevelDB folder; in memory when absent. */
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  /** An HTTP server that is not listening yet; its `close` closes the store as well. */
  export default function dynalite(options?: DynaliteOptions): Server;
}
