/** What must hold for no message to be dead-lettered, forgotten or expired too early. */

import type { DeploymentContract, QueueContract } from "./deployment-contract.ts";
import {
  anyOf,
  type Breach,
  type Inequality,
  inDays,
  inSeconds,
  upToSeconds,
} from "./inequality.ts";
import { DONE_SLACK_MS, MAX_IN_FLIGHT, MAX_RECEIVE_COUNT, MAX_RETENTION_MS } from "./limits.ts";

/** B9, B10, B14, B15. */
export const queueInequalities: readonly Inequality[] = [
  {
    rule: "B9",
    severity: "violation",
    reason:
      "each release, retry, interruption and double delivery costs a receive: SQS would " +
      "dead-letter jobs that have failures left, without a reason",
    breaches: tooFewReceives,
  },
  {
    rule: "B10",
    severity: "violation",
    reason: "a message that is redriven late would find its job forgotten and do it again",
    breaches: doneForgottenTooSoon,
  },
  {
    rule: "B14",
    severity: "violation",
    reason: "SQS would drop the message while it still has retries left",
    breaches: sourceExpiresDuringRetries,
  },
  {
    rule: "B14",
    severity: "violation",
    reason:
      "on a standard queue retention counts from the first send, so a message dead-lettered late " +
      "would be gone at once",
    breaches: deadLetterExpiresWithSource,
  },
  {
    rule: "B14",
    severity: "warning",
    reason: "dead letters wait for a person, and SQS would keep them longer",
    breaches: deadLetterKeptShort,
  },
  {
    rule: "B15",
    severity: "warning",
    reason:
      "more than the concurrency, and the autoscaler ends busy workers; fewer, and it starts " +
      "workers that have nothing to do",
    breaches: backlogIsNotConcurrency,
  },
  {
    rule: "B15",
    severity: "warning",
    reason: "at SQS's in-flight limit a queue hands out nothing more, and long polls stay empty",
    breaches: tooManyInFlight,
  },
];

function tooFewReceives({ queues, worker, ledger }: DeploymentContract): Breach[] {
  const { maxAttempts, interruptionBudget } = worker;
  return queues.flatMap(({ name, fifo, maxReceiveCount }, index) => {
    const withLedger = ledger.kind === "dynamodb";
    const needed = withLedger
      ? fifo
        ? MAX_RECEIVE_COUNT
        : 100
      : Math.max(5, maxAttempts + interruptionBudget + 2);
    if (maxReceiveCount >= needed) return [];
    const budgets = `maxAttempts ${maxAttempts} + interruptions ${interruptionBudget} + 2, and 5`;
    const source = withLedger ? (fifo ? "with a ledger, FIFO" : "with a ledger") : budgets;
    const canRaise = needed <= MAX_RECEIVE_COUNT;
    return [
      {
        numbers: withLedger
          ? { maxReceiveCount, needed }
          : { maxReceiveCount, maxAttempts, interruptions: interruptionBudget, needed },
        message: `queue ${name}: maxReceiveCount ${maxReceiveCount} must be at least ${needed} (${source})`,
        mend: canRaise
          ? `raise queues[${index}].maxReceiveCount to ${needed}`
          : "lower worker.maxAttempts or worker.interruptionBudget, or use a ledger",
      },
    ];
  });
}

function doneForgottenTooSoon({ queues, ledger }: DeploymentContract): Breach[] {
  if (ledger.kind === "none") return [];
  const { doneRetentionMs } = ledger;
  return queues.flatMap(({ name, retentionMs, deadLetter }) => {
    const neededMs = retentionMs + deadLetter.retentionMs + DONE_SLACK_MS;
    if (doneRetentionMs >= neededMs) return [];
    const numbers = {
      done: inDays(doneRetentionMs),
      source: inDays(retentionMs),
      dlq: inDays(deadLetter.retentionMs),
      slack: inDays(DONE_SLACK_MS),
    };
    return [
      {
        numbers,
        message:
          `queue ${name}: finished jobs kept ${numbers.done} d must be at least source ` +
          `${numbers.source} + DLQ ${numbers.dlq} + slack ${numbers.slack} = ${inDays(neededMs)} d`,
        mend: `raise ledger.doneRetentionMs to ${neededMs}`,
      },
    ];
  });
}

function sourceExpiresDuringRetries({ queues, lease, worker }: DeploymentContract): Breach[] {
  const { maxAttempts, interruptionBudget, backoffCapMs } = worker;
  const retries = maxAttempts + interruptionBudget;
  const retryMs = retries * (lease.visibilityTimeoutMs + backoffCapMs);
  return queues.flatMap(({ name, retentionMs }, index) => {
    if (retentionMs > retryMs) return [];
    const numbers = {
      retention: inSeconds(retentionMs),
      retries,
      V: inSeconds(lease.visibilityTimeoutMs),
      backoff: inSeconds(backoffCapMs),
    };
    const longerMs = upToSeconds(retryMs + 1);
    return [
      {
        numbers,
        message:
          `queue ${name}: retention ${numbers.retention} s must be above ${retries} retries x ` +
          `(V ${numbers.V} + backoff ${numbers.backoff}) = ${inSeconds(retryMs)} s`,
        mend: anyOf(
          [
            longerMs <= MAX_RETENTION_MS && `raise queues[${index}].retentionMs to ${longerMs}`,
            "lower worker.backoffCapMs, maxAttempts or interruptionBudget",
          ],
          "",
        ),
      },
    ];
  });
}

function deadLetterExpiresWithSource({ queues }: DeploymentContract): Breach[] {
  return queues.flatMap((queue, index) => {
    const { fifo, retentionMs, deadLetter } = queue;
    // A FIFO queue's dead letters get a new enqueue time, so they have their own full retention.
    if (fifo || deadLetter.retentionMs > retentionMs) return [];
    const canRaise = retentionMs < MAX_RETENTION_MS;
    return [
      {
        ...deadLetterRetention(queue, "must be above the source's"),
        mend: canRaise
          ? `raise queues[${index}].deadLetter.retentionMs to ${MAX_RETENTION_MS}`
          : `lower queues[${index}].retentionMs, for 14 d is the most that SQS keeps a dead letter`,
      },
    ];
  });
}

function deadLetterKeptShort({ queues }: DeploymentContract): Breach[] {
  return queues.flatMap((queue, index) => {
    if (queue.deadLetter.retentionMs >= MAX_RETENTION_MS) return [];
    return [
      {
        ...deadLetterRetention(queue, "should be 14 d, whatever the source's"),
        mend: `raise queues[${index}].deadLetter.retentionMs to ${MAX_RETENTION_MS}`,
      },
    ];
  });
}

function deadLetterRetention(
  { name, retentionMs, deadLetter }: QueueContract,
  must: string,
): Pick<Breach, "numbers" | "message"> {
  const numbers = { dlq: inDays(deadLetter.retentionMs), source: inDays(retentionMs) };
  return {
    numbers,
    message: `queue ${name}: DLQ retention ${numbers.dlq} d ${must}, ${numbers.source} d`,
  };
}

function backlogIsNotConcurrency({ worker }: DeploymentContract): Breach[] {
  const { backlogPerWorker, concurrency } = worker;
  if (backlogPerWorker === concurrency) return [];
  return [
    {
      numbers: { backlog: backlogPerWorker, N: concurrency },
      message: `backlog per worker ${backlogPerWorker} should be N = ${concurrency}`,
      mend: `set worker.backlogPerWorker to ${concurrency}, or leave it out`,
    },
  ];
}

function tooManyInFlight({ worker }: DeploymentContract): Breach[] {
  const { expectedWorkers, concurrency, holdLimit } = worker;
  const perWorker = concurrency + holdLimit;
  const inFlight = expectedWorkers * perWorker;
  if (inFlight <= MAX_IN_FLIGHT) return [];
  return [
    {
      numbers: { workers: expectedWorkers, N: concurrency, hold: holdLimit, limit: MAX_IN_FLIGHT },
      message:
        `${expectedWorkers} workers x (N ${concurrency} + hold ${holdLimit}) = ${inFlight} ` +
        `messages in flight should be at most ${MAX_IN_FLIGHT}`,
      mend:
        `lower worker.expectedWorkers to ${Math.floor(MAX_IN_FLIGHT / perWorker)}, ` +
        "lower worker.holdLimit, or split the queue",
    },
  ];
}
