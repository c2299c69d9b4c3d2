/** A worker, its clients and its producers, wired from a contract and jobs. */

import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "@leasehold/clock";
import type { DeploymentContract, QueueContract } from "@leasehold/deployment-contract";
import type { AnyJobDefinition, MessageReader, PayloadStore } from "@leasehold/job";
import {
  type ExtenderThread,
  type LeaseQueue,
  type SqsClients,
  type SqsConnection,
  sqsClients,
  sqsLeaseQueue,
} from "@leasehold/lease";
import { memoryReader } from "@leasehold/process-host";
import type { Producer } from "@leasehold/producer";
import { createWorker, type Worker, type WorkerOptions } from "@leasehold/worker";
import { type AttemptsChoice, openAttemptLedger } from "./attempts-choice.ts";
import { clientOptions } from "./client-options.ts";
import { type ExtenderChoice, openExtenderThread } from "./extender-choice.ts";
import { gatedLeaseQueue } from "./gated-lease-queue.ts";
import { type LedgerChoice, openLedger, type ServiceLedger } from "./ledger-choice.ts";
import { QueueDirectory, type QueueUrls } from "./queue-directory.ts";
import { rememberSuccess } from "./remember-success.ts";
import { ServiceProducers } from "./service-producers.ts";

/** What a service is made of. */
export interface ServiceParts {
  readonly contract: DeploymentContract;
  readonly jobs: readonly AnyJobDefinition[];
  /** Region, endpoint, credentials; timeouts, retries and sockets come from the contract. */
  readonly sqs: SqsConnection;
  /** Queues whose URLs are known; all others are looked up by their names. */
  readonly queueUrls?: QueueUrls;
  /**
   * Looks whether all else that the jobs need is there, for example a table, and throws what is
   * missing. Asked before the first claim, again and again until `options.claimPatienceMs` is over.
   */
  readonly checkDependencies?: () => Promise<void>;
  /**
   * Where leases are extended: in a thread of its own they outlive a handler that blocks the event
   * loop, up to the contract's `lease.maxBlockedMs`. It costs the memory of a second SQS client.
   * @defaultValue "inline"
   */
  readonly extender?: ExtenderChoice;
  /**
   * Where jobs are recorded, so that their effects happen once, their checkpoints outlive a worker, and
   * failures, interruptions and crashes have budgets of their own. Its table must be there before the
   * first claim; while it does not answer nothing is claimed.
   * @defaultValue "none"
   */
  readonly ledger?: LedgerChoice;
  /**
   * What counts the attempts of jobs without a ledger. With `"memory"` or a ledger the queues' `maxReceiveCount` should
   * be 100 (FIFO 1,000), or SQS dead-letters jobs that have budgets left; the worker warns of it.
   * @defaultValue "receive-count"
   */
  readonly attempts?: AttemptsChoice;
  /**
   * Where payloads lie that are too large for a message; the producers of the jobs must be given the
   * same store. @defaultValue jobs with such a payload are put off, for a worker that has one
   */
  readonly claimCheck?: PayloadStore;
  /**
   * Read messages of services that do not use the producer. The first that knows a message decides;
   * one that nobody knows is malformed. @defaultValue none
   */
  readonly readers?: readonly MessageReader[];
  /** Which queue a child job goes to, by its type. @defaultValue the contract's first queue */
  readonly queueOfChild?: (jobType: string) => string;
  /** @defaultValue a random name */
  readonly workerId?: string;
  /** The release of the service, for logs. @defaultValue "unknown" */
  readonly version?: string;
  readonly options?: WorkerOptions;
  /** @defaultValue the time of this machine */
  readonly clock?: Clock;
}

/** A worker that has not started, and what it works with. */
export interface Service {
  readonly worker: Worker;
  /**
   * Sends jobs to a queue of the contract.
   *
   * @throws RangeError when it has no such queue
   * @throws QueueLookUpError when the queue is not there yet; asking again looks again
   */
  producer(queueName: string): Promise<Producer>;
  /** Closes the sockets; only after the worker has ended. */
  close(): void;
}

/**
 * Wires a service. Nothing is asked of AWS and no signal is heard before `worker.start()`;
 * `runWorkerProcess` does all that a process needs around it.
 *
 * @throws ContractViolationError when the contract's numbers would lose or double work
 * @throws InvalidOptionsError when parts do not belong together
 */
export function createService(parts: ServiceParts): Service {
  const wiring = new Wiring(parts);
  try {
    return { worker: wiring.worker(), producer: wiring.producer, close: () => wiring.close() };
  } catch (error) {
    wiring.close();
    throw error;
  }
}

/** The clients of one service and what goes through them. */
class Wiring {
  readonly #parts: ServiceParts;
  readonly #clock: Clock;
  readonly #clients: SqsClients;
  readonly #extenderThread: ExtenderThread | undefined;
  readonly #directory: QueueDirectory;
  readonly #checkDependencies: () => Promise<void>;
  readonly #workerId: string;
  readonly #ledger: ServiceLedger | undefined;
  readonly #producers: ServiceProducers;

  constructor(parts: ServiceParts) {
    const { contract, sqs, queueUrls, checkDependencies = async () => {} } = parts;
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
    this.#workerId = parts.workerId ?? `worker-${randomUUID().slice(0, 8)}`;
    this.#ledger = openLedger({ ...parts, clock: this.#clock, workerId: this.#workerId });
    this.#clients = sqsClients(sqs, clientOptions(contract));
    this.#extenderThread = openExtenderThread(parts, clientOptions(contract));
    const directory = new QueueDirectory(this.#clients.lease, queueUrls);
    this.#directory = directory;
    this.#producers = new ServiceProducers({ ...parts, directory, clock: this.#clock });
    this.#checkDependencies = rememberSuccess(async () => {
      await Promise.all([this.#ledger?.check(), checkDependencies()]);
    });
  }

  worker(): Worker {
    const { contract, jobs, options, version, claimCheck, readers } = this.#parts;
    const attemptLedger = openAttemptLedger(this.#parts.attempts);
    return createWorker({
      ...{ contract, jobs, clock: this.#clock, workerId: this.#workerId },
      queues: contract.queues.map((queue) => this.#leaseQueue(queue)),
      memoryUse: memoryReader(),
      sender: this.#producers.sender,
      ...(attemptLedger === undefined ? {} : { attemptLedger }),
      ...(claimCheck === undefined ? {} : { payloadStore: claimCheck }),
      ...(readers === undefined ? {} : { readers }),
      ...(this.#ledger === undefined ? {} : { ledger: this.#ledger.ledger }),
      ...(this.#extenderThread === undefined ? {} : { extenderThread: this.#extenderThread }),
      ...(options === undefined ? {} : { options }),
      ...(version === undefined ? {} : { version }),
    });
  }

  readonly producer = (queueName: string): Promise<Producer> => this.#producers.of(queueName);

  close(): void {
    this.#extenderThread?.close();
    this.#clients.destroy();
    this.#producers.close();
  }

  #leaseQueue({ name, fifo, deadLetter }: QueueContract): LeaseQueue {
    const open = async () => {
      const [queueUrl, deadLetterQueueUrl] = await Promise.all([
        this.#directory.urlOf(name),
        this.#directory.urlOf(deadLetter.name),
        this.#checkDependencies(),
        this.#extenderThread?.started,
      ]);
      const clock = this.#clock;
      return sqsLeaseQueue({ clients: this.#clients, queueUrl, deadLetterQueueUrl, name, clock });
    };
    return gatedLeaseQueue({ name, fifo, open });
  }
}
