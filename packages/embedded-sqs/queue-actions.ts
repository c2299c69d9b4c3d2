/** The actions on queues: create, find, list, delete, purge, attributes, tags. */

import { SqsError } from "./errors.ts";
import type { ActionContext } from "./message-actions.ts";
import { required, wholeNumber } from "./parameters.ts";
import { defaultAttributes, meansTheSame, mergeAttributes } from "./queue-attributes.ts";
import type { QueueAttributes } from "./queue-change.ts";
import type { Queue } from "./queue-model.ts";
import { invalidPolicy, readRedrivePolicy } from "./redrive-policy.ts";
import type { OnQueue } from "./sqs-api.ts";

const QUEUE_NAME = /^[\w-]{1,80}$/;
const FIFO_NAME = /^[\w-]{1,75}\.fifo$/;
const PURGE_INTERVAL_MS = 60_000;

type Named = { readonly QueueName?: string | undefined };
type Paged = { readonly MaxResults?: number | undefined; readonly NextToken?: string | undefined };

/** CreateQueue; the same name with the same attributes gives the queue that is there. @throws SqsError */
export function createQueue(
  input: Named & {
    readonly Attributes?: QueueAttributes | undefined;
    readonly tags?: QueueAttributes | undefined;
  },
  context: ActionContext,
): { QueueUrl: string } {
  const queueName = required("QueueName", input.QueueName);
  const given = input.Attributes ?? {};
  const isFifo = given["FifoQueue"] === "true";
  checkName(queueName, isFifo);
  const existing = context.queues.state.byName(queueName);
  if (existing === undefined) {
    const attributes = mergeAttributes(defaultAttributes(isFifo), given, isFifo);
    checkRedrive(attributes, isFifo, context);
    context.queues.create(queueName, attributes, input.tags ?? {});
  } else {
    refuseDifference(existing, mergeAttributes({}, given, isFifo));
  }
  return { QueueUrl: urlOf(queueName, context) };
}

/** GetQueueUrl. @throws SqsError QueueDoesNotExist */
export function getQueueUrl(input: Named, context: ActionContext): { QueueUrl: string } {
  const queue = context.queues.named(input.QueueName);
  return { QueueUrl: urlOf(queue.identity.queueName, context) };
}

/** ListQueues, in the order of their names. @throws SqsError */
export function listQueues(
  input: Paged & { readonly QueueNamePrefix?: string | undefined },
  context: ActionContext,
): { QueueUrls?: string[]; NextToken?: string } {
  const prefix = input.QueueNamePrefix ?? "";
  const queues = context.queues.state.queues();
  const names = queues.map(({ identity }) => identity.queueName);
  const page = takePage(names.filter((name) => name.startsWith(prefix)).sort(), input);
  const urls = page.items.map((name) => urlOf(name, context));
  return { ...(urls.length === 0 ? {} : { QueueUrls: urls }), ...page.rest };
}

/** ListDeadLetterSourceQueues. @throws SqsError */
export function listDeadLetterSourceQueues(
  input: OnQueue & Paged,
  context: ActionContext,
): { queueUrls: string[]; NextToken?: string } {
  const { arn } = context.queues.at(input.QueueUrl).identity;
  const sources = context.queues.state
    .queues()
    .filter((queue) => queue.redrivePolicy?.deadLetterTargetArn === arn);
  const page = takePage(sources.map(({ identity }) => identity.queueName).sort(), input);
  return { queueUrls: page.items.map((name) => urlOf(name, context)), ...page.rest };
}

/** DeleteQueue. @throws SqsError */
export function deleteQueue(input: OnQueue, context: ActionContext): object {
  context.queues.remove(context.queues.at(input.QueueUrl));
  return {};
}

/** PurgeQueue, once in 60 seconds. @throws SqsError PurgeQueueInProgress */
export function purgeQueue(input: OnQueue, context: ActionContext): object {
  const { queues } = context;
  const queue = queues.at(input.QueueUrl);
  const nowMs = queues.nowMs();
  const { queueId, queueName } = queue.identity;
  if (queue.purgedAtMs !== undefined && nowMs < queue.purgedAtMs + PURGE_INTERVAL_MS) {
    throw new SqsError(
      "PurgeQueueInProgress",
      `Only one PurgeQueue operation on ${queueName} is allowed every 60 seconds.`,
    );
  }
  queues.commit({ kind: "queue-purged", queueId, atMs: nowMs });
  return {};
}

/** GetQueueAttributes; the counts are exact here. @throws SqsError InvalidAttributeName */
export function getQueueAttributes(
  input: OnQueue & { readonly AttributeNames?: readonly string[] | undefined },
  context: ActionContext,
): { Attributes?: Record<string, string> } {
  const queue = context.queues.at(input.QueueUrl);
  context.queues.transaction(() => queue.settle());
  const all: Record<string, string> = { ...queue.attributes, ...derivedAttributes(queue) };
  const names = input.AttributeNames ?? [];
  if (names.length === 0) return {};
  if (names.includes("All")) return { Attributes: all };
  const known = mergeableNames(queue);
  const attributes: Record<string, string> = {};
  for (const name of names) {
    const value = all[name];
    if (value !== undefined) attributes[name] = value;
    else if (!known.has(name)) {
      throw new SqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
    }
  }
  return Object.keys(attributes).length === 0 ? {} : { Attributes: attributes };
}

/** SetQueueAttributes. @throws SqsError */
export function setQueueAttributes(
  input: OnQueue & { readonly Attributes?: QueueAttributes | undefined },
  context: ActionContext,
): object {
  const queue = context.queues.at(input.QueueUrl);
  const { isFifo } = queue.identity;
  const given = required("Attributes", input.Attributes);
  const attributes = mergeAttributes(queue.attributes, given, isFifo);
  checkRedrive(attributes, isFifo, context);
  setQueue(queue, attributes, queue.tags, context);
  return {};
}

/** TagQueue. @throws SqsError */
export function tagQueue(
  input: OnQueue & { readonly Tags?: QueueAttributes | undefined },
  context: ActionContext,
): object {
  const queue = context.queues.at(input.QueueUrl);
  const tags = { ...queue.tags, ...required("Tags", input.Tags) };
  setQueue(queue, queue.attributes, tags, context);
  return {};
}

/** UntagQueue. @throws SqsError */
export function untagQueue(
  input: OnQueue & { readonly TagKeys?: readonly string[] | undefined },
  context: ActionContext,
): object {
  const queue = context.queues.at(input.QueueUrl);
  const keys = new Set(required("TagKeys", input.TagKeys));
  const tags = Object.entries(queue.tags).filter(([key]) => !keys.has(key));
  setQueue(queue, queue.attributes, Object.fromEntries(tags), context);
  return {};
}

/** ListQueueTags. @throws SqsError */
export function listQueueTags(input: OnQueue, context: ActionContext): { Tags?: QueueAttributes } {
  const { tags } = context.queues.at(input.QueueUrl);
  return Object.keys(tags).length === 0 ? {} : { Tags: tags };
}

function setQueue(
  queue: Queue,
  attributes: QueueAttributes,
  tags: QueueAttributes,
  { queues }: ActionContext,
): void {
  const { queueId } = queue.identity;
  queues.commit({ kind: "queue-set", queueId, attributes, tags, atMs: queues.nowMs() });
}

function urlOf(queueName: string, { endpoint, queues }: ActionContext): string {
  return `${endpoint}/${queues.accountId}/${queueName}`;
}

function checkName(queueName: string, isFifo: boolean): void {
  if ((isFifo ? FIFO_NAME : QUEUE_NAME).test(queueName)) return;
  const rule = isFifo
    ? "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length."
    : "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.";
  throw new SqsError("InvalidParameterValue", rule);
}

function checkRedrive(attributes: QueueAttributes, isFifo: boolean, context: ActionContext): void {
  const policy = readRedrivePolicy(attributes);
  if (policy === undefined) return;
  const target = context.queues.state.byArn(policy.deadLetterTargetArn);
  const json = attributes["RedrivePolicy"] ?? "";
  if (target === undefined) throw invalidPolicy(json, "Dead letter target does not exist.");
  if (target.identity.isFifo !== isFifo) {
    throw invalidPolicy(json, "Dead-letter queue must be same type of queue as the source.");
  }
}

function refuseDifference(existing: Queue, given: QueueAttributes): void {
  for (const [name, value] of Object.entries(given)) {
    if (meansTheSame(name, existing.attributes[name], value)) continue;
    throw new SqsError(
      "QueueNameExists",
      `A queue already exists with the same name and a different value for attribute ${name}`,
    );
  }
}

function derivedAttributes(queue: Queue): Record<string, string> {
  const { visible, inFlight, delayed } = queue.state.counts;
  const seconds = (atMs: number) => String(Math.floor(atMs / 1000));
  return {
    QueueArn: queue.identity.arn,
    CreatedTimestamp: seconds(queue.identity.createdAtMs),
    LastModifiedTimestamp: seconds(queue.modifiedAtMs),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
  };
}

/** Attributes that exist but may be unset: asking for one is no error. */
function mergeableNames({ identity }: Queue): ReadonlySet<string> {
  return new Set([
    ...Object.keys(defaultAttributes(true)).filter(
      (name) => identity.isFifo || name !== "FifoQueue",
    ),
    "Policy",
    "RedrivePolicy",
    "RedriveAllowPolicy",
    "KmsMasterKeyId",
    "KmsDataKeyReusePeriodSeconds",
  ]);
}

function takePage(names: string[], { MaxResults, NextToken }: Paged) {
  const after = NextToken === undefined ? undefined : Buffer.from(NextToken, "base64").toString();
  const left = after === undefined ? names : names.filter((name) => name > after);
  const count = wholeNumber("MaxResults", MaxResults, 1, 1_000);
  const items = count === undefined ? left : left.slice(0, count);
  const last = items.at(-1);
  const hasMore = last !== undefined && items.length < left.length;
  return { items, rest: hasMore ? { NextToken: Buffer.from(last).toString("base64") } : {} };
}
