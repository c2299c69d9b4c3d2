/** One queue: whether it is there, whether it is as the contract says, and its creation. */

import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import {
  type Drift,
  type QueueAttributes,
  type QueueResource,
  type QueueSettings,
  queueDrift,
  redrivePolicy,
} from "@leasehold/deployment-contract";
import type { SettingConflict } from "./errors.ts";

/** A queue that exists. */
export interface LiveQueue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

interface Redrive {
  readonly settings: QueueSettings;
  readonly deadLetter: QueueProvisioning;
}

/** How SQS says that a queue of that name does not exist, in its JSON and its older protocol. */
const ABSENT = new Set(["QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"]);
/** How it says that one exists with other attributes. */
const TAKEN = new Set(["QueueNameExists", "QueueAlreadyExists"]);

/** A queue on its way from the contract to SQS; a source queue knows its dead-letter queue. */
export class QueueProvisioning {
  readonly name: string;
  readonly #sqs: SQSClient;
  readonly #wanted: QueueResource;
  readonly #onLive: (queue: LiveQueue) => void;
  readonly #redrive: Redrive | undefined;
  #live: LiveQueue | undefined;
  /** Known before SQS finds the queue by its name, which may take a moment. */
  #createdUrl: string | undefined;

  constructor(
    sqs: SQSClient,
    wanted: QueueResource,
    onLive: (queue: LiveQueue) => void,
    redrive?: Redrive,
  ) {
    this.name = `queue ${wanted.name}`;
    this.#sqs = sqs;
    this.#wanted = wanted;
    this.#onLive = onLive;
    this.#redrive = redrive;
  }

  /** Settings that differ from the contract, or `undefined` when the queue does not exist. */
  async inspect(): Promise<readonly SettingConflict[] | undefined> {
    const url = await this.#findUrl();
    if (url === undefined) return undefined;
    const answer = await this.#sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
    );
    const live: Readonly<Record<string, string>> = answer.Attributes ?? {};
    this.#live = { name: this.#wanted.name, url, arn: live["QueueArn"] ?? "" };
    this.#onLive(this.#live);
    return queueDrift(this.#attributes(), live).map((drift) => this.#toConflict(drift));
  }

  /** Creates the queue; one that somebody else has just created is left for the next `inspect`. */
  async create(): Promise<void> {
    try {
      const answer = await this.#sqs.send(
        new CreateQueueCommand({ QueueName: this.#wanted.name, Attributes: this.#attributes() }),
      );
      this.#createdUrl = answer.QueueUrl;
    } catch (error) {
      if (!isNamed(error, TAKEN)) throw error;
    }
    if (this.#live === undefined) await this.inspect();
  }

  async #findUrl(): Promise<string | undefined> {
    if (this.#createdUrl !== undefined) return this.#createdUrl;
    try {
      const answer = await this.#sqs.send(new GetQueueUrlCommand({ QueueName: this.#wanted.name }));
      return answer.QueueUrl;
    } catch (error) {
      if (isNamed(error, ABSENT)) return undefined;
      throw error;
    }
  }

  #attributes(): QueueAttributes {
    if (this.#redrive === undefined) return this.#wanted.attributes;
    const { settings, deadLetter } = this.#redrive;
    const arn = deadLetter.#live?.arn ?? this.#siblingArn(settings.deadLetter.name);
    return { ...this.#wanted.attributes, RedrivePolicy: redrivePolicy(settings, arn) };
  }

  /** The ARN that a dead-letter queue which is gone will have again: a source goes on naming it. */
  #siblingArn(name: string): string {
    return (this.#live?.arn ?? "").replace(/[^:]*$/, name);
  }

  #toConflict({ setting, expected, live = "not set", mend }: Drift): SettingConflict {
    const command =
      `aws sqs set-queue-attributes --queue-url ${this.#live?.url} ` +
      `--attributes '${JSON.stringify({ [setting]: expected })}'`;
    return {
      resource: this.name,
      setting,
      contractValue: expected,
      liveValue: live,
      mend: setting === "FifoQueue" ? mend : `${mend}: ${command}`,
    };
  }
}

function isNamed(error: unknown, names: ReadonlySet<string>): boolean {
  return error instanceof SQSServiceException && names.has(error.name);
}
