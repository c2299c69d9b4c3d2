/** Which URL a queue has, by its name: asked once, remembered once it is known. */

import { GetQueueUrlCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { QueueLookUpError } from "./errors.ts";
import { rememberSuccess } from "./remember-success.ts";

/** URL of each queue by its name, dead-letter queues included. */
export type QueueUrls = Readonly<Record<string, string>>;

/** URLs by names; those that were given are not asked for. */
export class QueueDirectory {
  readonly #client: SQSClient;
  readonly #urls = new Map<string, () => Promise<string>>();

  constructor(client: SQSClient, known: QueueUrls = {}) {
    this.#client = client;
    for (const [name, url] of Object.entries(known)) this.#urls.set(name, async () => url);
  }

  /** @throws QueueLookUpError; asking again looks again */
  urlOf(queueName: string): Promise<string> {
    let urlOf = this.#urls.get(queueName);
    if (urlOf === undefined) {
      urlOf = rememberSuccess(() => this.#lookUp(queueName));
      this.#urls.set(queueName, urlOf);
    }
    return urlOf();
  }

  async #lookUp(queueName: string): Promise<string> {
    try {
      const answer = await this.#client.send(new GetQueueUrlCommand({ QueueName: queueName }));
      if (answer.QueueUrl !== undefined) return answer.QueueUrl;
    } catch (error) {
      throw lookUpError(queueName, error);
    }
    throw new QueueLookUpError(queueName, "NoQueueUrl", "was found without a URL");
  }
}

/** SQS's two protocols have a word each. */
const NO_SUCH_QUEUE: ReadonlySet<string> = new Set([
  "QueueDoesNotExist",
  "AWS.SimpleQueueService.NonExistentQueue",
]);

function lookUpError(queueName: string, cause: unknown): QueueLookUpError {
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  // Faults of the network are plain errors with a code of the system.
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : name;
  const detail = NO_SUCH_QUEUE.has(name)
    ? "does not exist in this account and region: create it from the contract, or set the " +
      "region and endpoint where it is"
    : `could not be looked up (${message}): check endpoint, region, credentials and the ` +
      "permission sqs:GetQueueUrl";
  return new QueueLookUpError(queueName, reason, detail, { cause });
}
