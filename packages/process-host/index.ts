/** A worker as a process: see `process-host.ts`. */

export type { HostProcess } from "./host-process.ts";
export { type Ancestor, checkLaunch } from "./launch-check.ts";
export { type MemorySources, memoryReader } from "./memory-use.ts";
export { type HostOptions, runProcess } from "./process-host.ts";
export {
  protectTask,
  type TaskProtection,
  type TaskProtectionOptions,
  type TaskProtectionReport,
} from "./task-protection.ts";
