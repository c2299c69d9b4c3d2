/** The producers of a service, one for each queue of its contract, and how its jobs send children. */

import { SQSClient } from "@aws-sdk/client-sqs";
import type { Clock } from "@leasehold/clock";
import type { DeploymentContract } from "@leasehold/deployment-contract";
import type { JobSender, PayloadStore } from "@leasehold/job";
import type { SqsConnection } from "@leasehold/lease";
import { createProducer, type Producer } from "@leasehold/producer";
import type { QueueDirectory } from "./queue-directory.ts";

/** What they are made of; meanings as in `ServiceParts`. */
export interface ServiceProducersParts {
  readonly contract: DeploymentContract;
  readonly sqs: SqsConnection;
  readonly directory: QueueDirectory;
  readonly claimCheck?: PayloadStore;
  readonly queueOfChild?: (jobType: string) => string;
  readonly clock: Clock;
}

/** Made when they are asked for. */
export class ServiceProducers {
  readonly #parts: ServiceProducersParts;
  /** Apart from the leases' client, whose sockets an extension must never wait for. */
  readonly #client: SQSClient;
  readonly #made = new Map<string, Producer>();

  constructor(parts: ServiceProducersParts) {
    this.#parts = parts;
    this.#client = new SQSClient({ ...parts.sqs, maxAttempts: 1 });
  }

  /** For child jobs. */
  readonly sender: JobSender = {
    sendJob: async (job) => {
      const producer = await this.of(this.#queueOfChild(job.type));
      return await producer.sendJob(job);
    },
  };

  /** @throws RangeError, QueueLookUpError */
  async of(queueName: string): Promise<Producer> {
    const { contract, claimCheck, directory, clock } = this.#parts;
    if (!contract.queues.some(({ name }) => name === queueName)) {
      throw new RangeError(`the contract of ${contract.service} has no queue ${queueName}`);
    }
    const queueUrl = await directory.urlOf(queueName);
    const made =
      this.#made.get(queueName) ??
      createProducer({
        ...{ client: this.#client, queueUrl, clock },
        ...(claimCheck === undefined ? {} : { claimCheck }),
      });
    this.#made.set(queueName, made);
    return made;
  }

  close(): void {
    this.#client.destroy();
  }

  #queueOfChild(jobType: string): string {
    const { contract, queueOfChild } = this.#parts;
    return queueOfChild?.(jobType) ?? contract.queues[0]?.name ?? "";
  }
}
