/** Where a service's leases are extended, as its author chooses it. */

import type { Clock } from "@leasehold/clock";
import type { DeploymentContract } from "@leasehold/deployment-contract";
import {
  type ExtenderThread,
  type SqsClientOptions,
  type SqsConnection,
  startExtenderThread,
  type ThreadConnection,
} from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";

/**
 * `"inline"`: between the jobs, in the main thread. `"thread"`: in a thread of its own, which gets
 * the service's `sqs` and must therefore find plain data there, and finds credentials by itself.
 * `{ module }`: the same, for a `sqs` that holds functions, as a provider of credentials is one: the
 * URL of a module whose export `sqsConnection` is the connection, or a function that makes it.
 */
export type ExtenderChoice = "inline" | "thread" | { readonly module: string };

/** The parts of a service that an extender depends on. */
export interface ExtenderChoiceParts {
  readonly contract: DeploymentContract;
  readonly sqs: SqsConnection;
  readonly extender?: ExtenderChoice;
  readonly clock?: Clock;
}

/**
 * Starts the thread, or nothing for `"inline"`.
 *
 * @throws InvalidOptionsError when `sqs` cannot be sent to a thread, or the clock is not the system's
 */
export function openExtenderThread(
  { contract, sqs, extender = "inline", clock }: ExtenderChoiceParts,
  clients: SqsClientOptions,
): ExtenderThread | undefined {
  if (extender === "inline") return undefined;
  if (clock !== undefined) {
    const problem = "clock cannot be shared with a thread: leave it out, or extend inline";
    throw new InvalidOptionsError("service", [problem]);
  }
  const connection = extender === "thread" ? (sqs as ThreadConnection) : extender;
  return startExtenderThread({ connection, clients, maxBlockedMs: contract.lease.maxBlockedMs });
}
