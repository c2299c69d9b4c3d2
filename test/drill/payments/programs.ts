/** The programs that the kill matrix runs as processes. */

import { join } from "node:path";

/** The worker. */
export const SERVICE: string = join(import.meta.dirname, "payment-service.ts");
/** The operator's command. */
export const COMMAND: string = join(import.meta.dirname, "../../../packages/cli/cli.ts");
