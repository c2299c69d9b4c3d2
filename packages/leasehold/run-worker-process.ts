/** A service as a process: wired, hosted, logged and probed, from its first signal to its exit. */

import { type Admin, type AdminOptions, startAdmin } from "@leasehold/admin";
import { InvalidOptionsError } from "@leasehold/options";
import { type HostOptions, runProcess } from "@leasehold/process-host";
import { startTelemetry, type TelemetryOptions } from "@leasehold/telemetry";
import { createService, type Service, type ServiceParts } from "./leasehold.ts";
import { protectWorker, type TaskProtectionChoice } from "./worker-protection.ts";

/** What a worker process is made of. */
export interface WorkerProcessParts extends ServiceParts {
  /** Where probes and operators ask; `false` for no server. @defaultValue 127.0.0.1:8080 */
  readonly admin?: AdminOptions | false;
  readonly log?: TelemetryOptions;
  /**
   * On ECS, keeps the service from being scaled in or replaced while it holds leases. The task's
   * role needs `ecs:UpdateTaskProtection`.
   * @defaultValue none
   */
  readonly taskProtection?: TaskProtectionChoice;
  /** Ends what the jobs worked with, for example a thread pool, after the last of them. */
  readonly dispose?: () => unknown;
}

/** The parts, or how to make them once signals are heard. */
export type WorkerProcessSource =
  | WorkerProcessParts
  | (() => WorkerProcessParts | Promise<WorkerProcessParts>);

/**
 * Runs a service as this process; `process.exit` ends it, so the promise never resolves in earnest.
 *
 * Signals are heard from the first moment. The parts are best given as a function: configuration is
 * then read, and slow things are started, while a signal already ends the process with 0. What a
 * configuration or contract has wrong is printed whole, and the exit code is 78; what is not there
 * when its patience ends makes it 69.
 *
 * @returns the exit code
 * @example
 * await runWorkerProcess(() => ({
 *   contract: defineContract({ preset: "default-30", service: "mail", queues: [{ name: "mail" }] }),
 *   jobs: [greet],
 *   sqs: { region: "eu-central-1" },
 * }));
 */
export function runWorkerProcess(
  source: WorkerProcessSource,
  host: Omit<HostOptions, "onEnded"> = {},
): Promise<number> {
  const closers: (() => unknown)[] = [];
  const make = async () => {
    const parts = typeof source === "function" ? await source() : source;
    if (parts.dispose !== undefined) closers.push(parts.dispose);
    const service = createService(parts);
    closers.push(() => service.close());
    await attend(service, parts, closers);
    return service.worker;
  };
  return runProcess(make, { ...host, onEnded: () => closeAll(closers) });
}

/** Starts what listens to the worker, so that nothing of its life is missed. */
async function attend(
  { worker }: Service,
  parts: WorkerProcessParts,
  closers: (() => unknown)[],
): Promise<void> {
  const { admin = {}, log = {}, taskProtection: choice, contract, clock } = parts;
  const { logger, stop } = startTelemetry(worker, log);
  closers.push(stop);
  if (choice !== undefined) {
    const time = clock === undefined ? {} : { clock };
    closers.push(protectWorker({ worker, contract, choice, logger, ...time }));
  }
  if (admin === false) return;
  const server = await listen(worker, admin);
  closers.push(() => server.close());
  logger.write("info", "admin.listening", `probes and status are at ${server.url}`, {
    detail: server.url,
  });
}

/** An address that is taken or not ours is a matter of configuration. */
async function listen(worker: Service["worker"], options: AdminOptions): Promise<Admin> {
  try {
    return await startAdmin({ worker, ...options });
  } catch (error) {
    const code = error instanceof Error && "syscall" in error ? error.message : undefined;
    if (code === undefined) throw error;
    throw new InvalidOptionsError("admin", [`host and port must be free to listen on: ${code}`]);
  }
}

/** In reverse: what was started last is the first that nobody needs any more. */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}
