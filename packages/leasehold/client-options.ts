/** How the SQS clients of a service wait, by its contract. */

import { type DeploymentContract, workerTimings } from "@leasehold/deployment-contract";
import type { SqsClientOptions } from "@leasehold/lease";

/** Timeouts and sockets. */
export function clientOptions(contract: DeploymentContract): SqsClientOptions {
  const { lease, receive } = workerTimings(contract);
  return {
    callTimeoutMs: lease.callTimeoutMs,
    connectTimeoutMs: Math.max(1, lease.connectTimeoutMs),
    receiveSlackMs: Math.max(...receive.map(({ timeoutMs, waitMs }) => timeoutMs - waitMs)),
    maxSockets: lease.sockets,
  };
}
