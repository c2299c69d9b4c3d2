/** The same jobs as a Lambda function: an SQS event in, a partial batch response out. */

import { type Clock, systemClock } from "@leasehold/clock";
import type {
  AnyJobDefinition,
  AttemptLedger,
  JobSender,
  MessageReader,
  PayloadStore,
  WorkerLedger,
} from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";
import { InvalidSqsEventError } from "./errors.ts";
import { Invocation, type InvocationParts } from "./invocation.ts";
import type { BatchResponse, LambdaContext, SqsEvent, SqsRecord } from "./lambda.ts";
import { type LambdaEvent, ledgerEvent } from "./lambda-event.ts";
import { inInvocation } from "./middy-handler.ts";
import { type LambdaOptions, resolveLambdaOptions } from "./options.ts";
import { readBatch } from "./sqs-event.ts";

/** What jobs in Lambda work with; all of it outlives an invocation, and none of it knows of one. */
export interface LambdaParts {
  /**
   * The queues that are mapped to this function, by `sqsLeaseQueue`. With them messages stay hidden for
   * the whole invocation, failures come back after their backoff, what did not start comes back at
   * once, and hopeless jobs are dead-lettered with their reason.
   * @defaultValue no call is made: what failed comes back when the queue's visibility timeout is over
   */
  readonly queues?: readonly LeaseQueue[];
  /**
   * Opens the job ledger of one invocation, which is stopped at its end.
   * @defaultValue none: effects and checkpoints are refused, attempts are counted by receives
   */
  readonly openLedger?: (invocation: { readonly requestId: string }) => WorkerLedger;
  /** Counts attempts where there is no job ledger. @defaultValue SQS's receives */
  readonly attemptLedger?: AttemptLedger;
  /** Sends child jobs. @defaultValue `context.send` fails */
  readonly sender?: JobSender;
  /** Where the payloads of claim checks lie. @defaultValue such jobs are put off */
  readonly payloadStore?: PayloadStore;
  /** Read messages of services that do not use the producer. @defaultValue such are malformed */
  readonly readers?: readonly MessageReader[];
  /** Hears everything; what it throws is dropped. */
  readonly onEvent?: (event: LambdaEvent) => void;
  readonly options?: LambdaOptions;
  /** @defaultValue the time of this machine */
  readonly clock?: Clock;
  /** In [0, 1), spreads delays. @defaultValue `Math.random` */
  readonly random?: () => number;
}

/** A function for an SQS event source with `ReportBatchItemFailures`. */
export type SqsLambdaHandler = (
  event: SqsEvent,
  context: Pick<LambdaContext, "getRemainingTimeInMillis"> & Partial<LambdaContext>,
) => Promise<BatchResponse>;

const KNOWN_PARTS: ReadonlySet<string> = new Set<keyof LambdaParts>([
  ...(["queues", "openLedger", "attemptLedger", "sender", "payloadStore", "readers"] as const),
  ...(["onEvent", "options", "clock", "random"] as const),
]);

/**
 * Runs each message of a batch as one job, as a worker does, and reports those that are not done.
 *
 * On a FIFO queue the messages of a group run in order, and a failure ends its own group only. Nothing
 * is kept from one invocation to the next. Give the function a timeout that is longer than the longest
 * effect and `lastStartMs`, and the queue a visibility timeout of six times that.
 *
 * @throws InvalidOptionsError at once. An invocation rejects, and with it its whole batch, only when
 * nothing can be said of single messages: with InvalidSqsEventError, LambdaTimeTooShortError, or what
 * `openLedger` threw.
 *
 * @example
 * export const handler = lambdaHandler([greet]);
 */
export function lambdaHandler(
  jobs: readonly AnyJobDefinition[],
  parts: LambdaParts = {},
): SqsLambdaHandler {
  const options = resolveLambdaOptions(parts.options);
  const problems = problemsOf(jobs, parts);
  if (problems.length > 0) throw new InvalidOptionsError("lambda", problems);
  return async (event, context) => {
    const batch = readBatch(event);
    const remainingMs = remainingOf(context);
    const requestId = context.awsRequestId ?? "";
    const onEvent = safely(parts.onEvent);
    const queue = queueOf(batch.queueName, parts.queues);
    const ledger = batch.items.length === 0 ? undefined : parts.openLedger?.({ requestId });
    ledger?.onEvent((told) => onEvent(ledgerEvent(told)));
    const records = new Map<string, SqsRecord>(
      event.Records.map((record) => [record.messageId, record]),
    );
    const invocation = new Invocation({
      ...{ batch, requestId, remainingMs, options, onEvent },
      ...{ clock: parts.clock ?? systemClock, random: parts.random ?? Math.random },
      jobs: jobs.map((job) => inInvocation(job, { context, records })),
      ...optionalParts(parts),
      ...(queue && { queue }),
      ...(ledger && { ledger }),
    });
    return await invocation.run();
  };
}

function optionalParts({
  attemptLedger,
  sender,
  payloadStore,
  readers,
}: LambdaParts): Pick<InvocationParts, "attemptLedger" | "sender" | "payloadStore" | "readers"> {
  return {
    ...(attemptLedger && { attemptLedger }),
    ...(sender && { sender }),
    ...(payloadStore && { payloadStore }),
    ...(readers && { readers }),
  };
}

function problemsOf(jobs: readonly AnyJobDefinition[], parts: LambdaParts): readonly string[] {
  if (!Array.isArray(jobs) || jobs.length === 0) {
    return ["jobs must be a list of at least one definition: make them with defineJob"];
  }
  const types = jobs.map((job) => job?.type);
  const twice = new Set(types.filter((type, index) => types.indexOf(type) !== index));
  const unknown = Object.keys(parts).filter((name) => !KNOWN_PARTS.has(name));
  return [
    ...(twice.size > 0
      ? [`jobs must have each type once, got more of ${[...twice].join(", ")}`]
      : []),
    ...unknown.map(
      (name) => `${name} is no part of a Lambda handler; known are ${[...KNOWN_PARTS].join(", ")}`,
    ),
    ...jobs.flatMap((job) => ledgerProblems(job, parts.openLedger !== undefined)),
    ...(parts.openLedger !== undefined && parts.attemptLedger !== undefined
      ? ["attempts are counted by the job ledger: leave attemptLedger out"]
      : []),
  ];
}

/** What a type wants of the job ledger. */
function ledgerProblems(job: AnyJobDefinition, hasLedger: boolean): readonly string[] {
  const wanted = (["guard", "checkpoints"] as const).filter((name) => job[name] === true);
  if (hasLedger) return [];
  return wanted.map(
    (name) => `job ${job.type} has ${name}: true, which needs a job ledger: give it openLedger`,
  );
}

function remainingOf({ getRemainingTimeInMillis }: Parameters<SqsLambdaHandler>[1]): number {
  const remainingMs = getRemainingTimeInMillis?.();
  if (typeof remainingMs === "number" && remainingMs >= 0) return remainingMs;
  throw new InvalidSqsEventError(
    `the context must have getRemainingTimeInMillis as Lambda's has, got ${typeof getRemainingTimeInMillis}`,
  );
}

function queueOf(
  queueName: string,
  queues: readonly LeaseQueue[] | undefined,
): LeaseQueue | undefined {
  if (queues === undefined || queueName === "") return undefined;
  const queue = queues.find(({ name }) => name === queueName);
  if (queue !== undefined) return queue;
  const known = queues.map(({ name }) => name).join(", ");
  throw new InvalidSqsEventError(
    `the batch is of queue ${queueName}, and this function was given ${known || "none"}: add it to queues`,
  );
}

/** A listener that throws must not harm a job. */
function safely(
  listener: ((event: LambdaEvent) => void) | undefined,
): (event: LambdaEvent) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // The listener's fault is the listener's; there is nobody here who could be told.
    }
  };
}
