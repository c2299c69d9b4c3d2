/** What the jobs of a service need in Lambda, wired from the same parts as its worker. */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "@leasehold/clock";
import { workerTimings } from "@leasehold/deployment-contract";
import type {
  AttemptLedger,
  JobSender,
  MessageReader,
  PayloadStore,
  WorkerLedger,
} from "@leasehold/job";
import { type LeaseQueue, sqsClients, sqsLeaseQueue } from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";
import type { Producer } from "@leasehold/producer";
import { createLogger, logEvent, type TelemetryOptions } from "@leasehold/telemetry";
import { openAttemptLedger } from "./attempts-choice.ts";
import { clientOptions } from "./client-options.ts";
import type { ServiceParts } from "./leasehold.ts";
import { openLedger } from "./ledger-choice.ts";
import { QueueDirectory } from "./queue-directory.ts";
import { ServiceProducers } from "./service-producers.ts";

const LONGEST_PAUSE_MS = 500;

/** The parts of a service that Lambda has a use for; those of a worker process will do. */
export interface LambdaServiceParts
  extends Pick<
    ServiceParts,
    | ("contract" | "sqs" | "queueUrls" | "checkDependencies" | "ledger" | "attempts")
    | ("claimCheck" | "queueOfChild" | "readers" | "version" | "clock")
  > {
  readonly log?: TelemetryOptions;
}

/** As `lambdaHandler` of `@leasehold/middy` takes it. */
export interface LambdaWiring {
  readonly queues: readonly LeaseQueue[];
  readonly openLedger?: (invocation: { readonly requestId: string }) => WorkerLedger;
  readonly attemptLedger?: AttemptLedger;
  readonly sender: JobSender;
  readonly payloadStore?: PayloadStore;
  readonly readers?: readonly MessageReader[];
  /** Writes a line. */
  readonly onEvent: (event: { readonly kind: string }) => void;
  /** The contract's numbers. */
  readonly options: Readonly<Record<LambdaOptionName, number>>;
}

type LambdaOptionName =
  | ("concurrency" | "queueVisibilityTimeoutMs" | "jobTimeoutMs" | "maxAttempts")
  | ("interruptionBudget" | "crashBudget" | "backoffBaseMs" | "backoffCapMs")
  | "unknownTypeGraceMs";

/** A service in one sandbox of a function. */
export interface LambdaService {
  readonly wiring: LambdaWiring;
  /** @throws RangeError, QueueLookUpError */
  producer(queueName: string): Promise<Producer>;
  /** Closes the sockets. A sandbox needs it not, a test does. */
  close(): void;
}

/**
 * Wires a service for Lambda, once for each sandbox: finds the contract's queues and their dead-letter
 * queues, and looks whether the ledger's table and all else is there.
 *
 * @throws QueueLookUpError, LedgerTableError, and whatever `checkDependencies` throws: then the sandbox
 * fails to start, and Lambda tries another
 * @throws InvalidOptionsError when parts do not belong together
 * @example
 * const { wiring } = await openLambdaService({ contract, sqs: { region: "eu-central-1" } });
 * export const handler = lambdaHandler([greet], wiring);
 */
export async function openLambdaService(parts: LambdaServiceParts): Promise<LambdaService> {
  refuseMemory(parts);
  const { contract, sqs, queueUrls, clock = systemClock } = parts;
  const sandboxId = `lambda-${randomUUID().slice(0, 8)}`;
  const ledger = openLedger({ ...parts, clock, workerId: sandboxId });
  const clients = sqsClients(sqs, clientOptions(contract));
  const directory = new QueueDirectory(clients.lease, queueUrls);
  const producers = new ServiceProducers({ ...parts, directory, clock });
  const close = () => {
    clients.destroy();
    producers.close();
  };
  try {
    await Promise.all([ledger?.check(), parts.checkDependencies?.()]);
    const queues = await Promise.all(
      contract.queues.map(async ({ name, deadLetter }) => {
        const queueUrl = await directory.urlOf(name);
        const deadLetterQueueUrl = await directory.urlOf(deadLetter.name);
        return sqsLeaseQueue({ clients, queueUrl, deadLetterQueueUrl, name, clock });
      }),
    );
    const wiring = { ...wiringOf(parts, sandboxId), queues, sender: producers.sender };
    return { wiring, producer: (queueName) => producers.of(queueName), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** It would forget with each sandbox what it promises to remember. */
function refuseMemory({ ledger, attempts }: LambdaServiceParts): void {
  const problems = [
    ...(typeof ledger === "object" && ledger.kind === "memory"
      ? [
          'ledger must not be of kind "memory" in Lambda, where memory lasts no longer than a sandbox',
        ]
      : []),
    ...(attempts === "memory"
      ? ['attempts must not be "memory" in Lambda, where memory lasts no longer than a sandbox']
      : []),
  ];
  if (problems.length > 0) throw new InvalidOptionsError("lambda service", problems);
}

function wiringOf(
  parts: LambdaServiceParts,
  workerId: string,
): Omit<LambdaWiring, "queues" | "sender"> {
  const { contract, attempts, claimCheck, version = "unknown", log, clock = systemClock } = parts;
  const { job, lease } = workerTimings(contract);
  const logger = createLogger({ ...log, service: contract.service, version, workerId });
  const attemptLedger = openAttemptLedger(attempts);
  return {
    ...ledgerOpener({ ...parts, clock }, workerId),
    ...(attemptLedger !== undefined && { attemptLedger }),
    ...(claimCheck !== undefined && { payloadStore: claimCheck }),
    ...(parts.readers !== undefined && { readers: parts.readers }),
    onEvent: (event) => logEvent(event, logger),
    options: {
      concurrency: job.concurrency,
      queueVisibilityTimeoutMs: lease.visibilityTimeoutMs,
      jobTimeoutMs: job.jobTimeoutMs,
      maxAttempts: job.maxAttempts,
      interruptionBudget: job.interruptionBudget,
      crashBudget: job.crashBudget,
      backoffBaseMs: job.backoffBaseMs,
      backoffCapMs: job.backoffCapMs,
      unknownTypeGraceMs: job.unknownTypeGraceMs,
    },
  };
}

/** A ledger of its own for each invocation: its owner in a record is the request that has the job. */
function ledgerOpener(
  parts: LambdaServiceParts & { readonly clock: Clock },
  sandboxId: string,
): Pick<LambdaWiring, "openLedger"> {
  const { ledger: choice } = parts;
  if (typeof choice !== "object" || choice.kind !== "dynamodb") return {};
  // An invocation that nears its end has no seconds to wait for another try.
  const ledger = { ...choice, options: { longestPauseMs: LONGEST_PAUSE_MS, ...choice.options } };
  return {
    openLedger: ({ requestId }) =>
      openLedger({ ...parts, ledger, workerId: `${sandboxId}/${requestId}` })
        ?.ledger as WorkerLedger,
  };
}
