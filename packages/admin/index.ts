/** HTTP for probes and operators: see `admin.ts`. */

export { type Admin, type AdminArguments, startAdmin } from "./admin.ts";
export type { AdminOptions } from "./options.ts";
export { type StatusObject, statusObject } from "./status.ts";
