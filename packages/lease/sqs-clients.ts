/** One SQS client that may wait, and one that may not. */

import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import { count, durationMs, type OptionRules, resolveOptions } from "@leasehold/options";

/** How long the clients wait, and for how many at once. */
export interface SqsClientOptions {
  /**
   * The hard timeout of one extension, release or delete; the same as the lease option.
   * @defaultValue 2_000
   */
  readonly callTimeoutMs?: number;
  /**
   * @defaultValue 1_000
   */
  readonly connectTimeoutMs?: number;
  /**
   * How much longer than its wait a receive may take. Less than the visibility timeout less the
   * wait, or messages come that have run out already.
   * @defaultValue 5_000
   */
  readonly receiveSlackMs?: number;
  /**
   * Sockets of each client: a call that waits for a socket loses its time to it.
   * @defaultValue 256
   */
  readonly maxSockets?: number;
}

/** The two clients of one region or endpoint. */
export interface SqsClients {
  /** Waits for messages; aborting it loses them, so nobody shares its sockets. */
  readonly receive: SQSClient;
  /** Extends, releases, deletes and dead-letters, each within `callTimeoutMs`. */
  readonly lease: SQSClient;
  readonly callTimeoutMs: number;
  readonly receiveSlackMs: number;
  /** Closes the sockets of both. */
  destroy(): void;
}

/** What the SDK needs to know of AWS; timeouts, retries and sockets are ours. */
export type SqsConnection = Omit<SQSClientConfig, "maxAttempts" | "retryStrategy" | "retryMode">;

const RULES: OptionRules<Required<SqsClientOptions>> = {
  callTimeoutMs: durationMs(2_000, { min: 1, max: 60_000 }),
  connectTimeoutMs: durationMs(1_000, { min: 1, max: 60_000 }),
  receiveSlackMs: durationMs(5_000, { min: 1, max: 60_000 }),
  maxSockets: count(256, { min: 1, max: 100_000 }),
};

/**
 * The clients that a lease queue on SQS needs.
 *
 * Neither retries by itself: the SDK's retries know nothing of a lease that ends meanwhile. A
 * `requestHandler` in the connection replaces ours, and then its timeouts are the caller's duty.
 *
 * @throws InvalidOptionsError
 */
export function sqsClients(connection: SqsConnection, options?: SqsClientOptions): SqsClients {
  const { callTimeoutMs, connectTimeoutMs, receiveSlackMs, maxSockets } = resolveOptions(
    "sqs client",
    options as Record<string, unknown>,
    RULES,
  );
  const client = (requestTimeoutMs: number | undefined): SQSClient =>
    new SQSClient({
      requestHandler: {
        connectionTimeout: connectTimeoutMs,
        ...(requestTimeoutMs !== undefined && { requestTimeout: requestTimeoutMs }),
        // Without it the SDK only warns and goes on waiting.
        throwOnRequestTimeout: true,
        httpAgent: { maxSockets },
        httpsAgent: { maxSockets },
      },
      ...connection,
      maxAttempts: 1,
    });
  const receive = client(undefined);
  const lease = client(callTimeoutMs);
  return {
    receive,
    lease,
    callTimeoutMs,
    receiveSlackMs,
    destroy: () => {
      receive.destroy();
      lease.destroy();
    },
  };
}
