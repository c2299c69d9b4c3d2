/** Cases from the field: claiming, acking, order. */

import type { FieldCase } from "./field-case.ts";

const extenderTest = "packages/lease/test/lease-extender.test.ts";
const claimLoopTest = "packages/worker/test/claim-loop.test.ts";

/** One entry for each report. */
export const claimingCases: readonly FieldCase[] = [
  {
    report: "bbc/sqs-consumer 241, 130, 184; nestjs-sqs 28; qdone 114",
    symptom: "the worker goes deaf while it looks healthy",
    right: "a watchdog for polls, slots returned in any case, liveness",
    file: claimLoopTest,
    test: "takes a worker for dead whose poll never ends",
    break: {
      file: "packages/worker/poll-watch.ts",
      find: "if (this.#openForMs > this.#longestPollMs) {",
      replace: "if (this.#openForMs < 0) {",
    },
  },
  {
    report: "bbc/sqs-consumer 136; aws-sdk-js 1005",
    symptom: "a receive hangs for ever on a dead socket",
    right: "a hard request timeout longer than the wait",
    file: "packages/lease/test/sqs-lease-queue.test.ts",
    test: "gives up five seconds after its wait, not earlier",
    break: {
      file: "packages/lease/sqs-lease-queue.ts",
      find: "const timeoutMs = request.waitMs + receiveSlackMs;",
      replace: "const timeoutMs = request.waitMs + 60_000 + receiveSlackMs;",
    },
  },
  {
    report: "bbc/sqs-consumer 490",
    symptom: "a hot loop without a network",
    right: "backoff with jitter",
    file: claimLoopTest,
    test: "back off while the queue cannot be reached",
    break: {
      file: "packages/worker/poll-plan.ts",
      find: "ERROR_BACKOFF_BASE_MS * 2 ** errors",
      replace: "ERROR_BACKOFF_BASE_MS",
    },
  },
  {
    report: "bbc/sqs-consumer 86, 96, 229",
    symptom: "a batch waits for its slowest",
    right: "a sliding window",
    file: "packages/worker/test/worker.test.ts",
    test: "goes on claiming beside a slow job",
    break: {
      file: "packages/worker/poll-plan.ts",
      find: "if (maxMessages < Math.min(most, room.most) && lingerLeftMs > 0)",
      replace: "if (maxMessages < Math.min(most, room.most))",
    },
  },
  {
    report: "bbc/sqs-consumer 124",
    symptom: "one FIFO group runs in parallel; a failure is followed by acks",
    right: "one at a time in each group, which goes no further than a failure",
    file: "packages/worker/test/fifo-queue.test.ts",
    test: "runs one job of a group at a time, in order, and groups side by side",
    break: {
      file: "packages/lease/held-lease.ts",
      find: 'return this.place?.standing === "first" ? undefined : this.place?.turn;',
      replace: "return undefined;",
    },
  },
  {
    report: "JaidenAshmore/java-dynamic-sqs-listener 369",
    symptom:
      "while the first of a FIFO group fails, those behind it are received until SQS dead-letters them unrun",
    right: "tried again in place, at no receive; our own budgets decide",
    file: "packages/worker/test/fifo-queue.test.ts",
    test: "tries a failed job again where it is, and lets its group wait at no receive",
    break: {
      file: "packages/job-run/in-place.ts",
      find: "const fits = ending.delayMs <= inPlaceMs &&",
      replace: "const fits = inPlaceMs < 0 &&",
    },
  },
  {
    report: "bbc/sqs-consumer 193, PR 807; autumn PR 2415",
    symptom: "`Failed[]` is ignored, or the whole batch is retried blindly",
    right: "each entry is judged, only the retryable ones go again",
    file: extenderTest,
    test: "are judged one by one: a refused handle is lost, its neighbours are not",
    break: {
      file: "packages/lease/lease-extender.ts",
      find: "this.#answered(entry, answers[index] as CallAnswer);",
      replace: "void index;\n          this.#answered(entry, answers[0] as CallAnswer);",
    },
  },
  {
    report: "squiss-ts 26; redpanda connect 182",
    symptom: "BatchEntryIdsNotDistinct when one message comes twice",
    right: "entry ids for each receipt",
    file: "test/conformance/lease-queue.ts",
    test: "answers a delete entry by entry, in order, also for the same handle twice",
    break: {
      file: "packages/lease/sqs-lease-queue.ts",
      find: "Id: String(index),\n        ReceiptHandle: receiptHandle,\n      }))",
      replace: 'Id: "same",\n        ReceiptHandle: receiptHandle,\n      }))',
    },
  },
  {
    report: "bbc/sqs-consumer 443; nestjs-sqs 103",
    symptom: "an ack depends on the return value",
    right: "a return is an ack; errors of known types say the rest",
    file: "packages/worker/test/worker.test.ts",
    test: "acks whatever a handler returns: nothing, false, null or an error",
    break: {
      file: "packages/job-run/handler-call.ts",
      find: "const returned = await call();",
      replace: "const returned = await call(); if (!returned) throw new Error();",
    },
  },
  {
    report: "squiss-ts (measured)",
    symptom: "one bad JSON body was delivered 137 times in two seconds",
    right: "dead-lettered with its reason, or growing delay",
    file: "packages/worker/test/bad-input.test.ts",
    test: "comes back ever later where there is no dead-letter queue",
    break: {
      file: "packages/job-run/retry-delay.ts",
      find: "baseMs * 2 ** Math.max(0, tries - 1)",
      replace: "baseMs",
    },
  },
  {
    report: "message-queue-toolkit (measured)",
    symptom: "an invalid message was silently deleted; the copy drops attributes",
    right: "never vanishes, keeps its attributes",
    file: "packages/lease/test/dead-letter.test.ts",
    test: "carries all that the message had, and where it comes from and why",
    break: {
      file: "packages/lease/dead-letter.ts",
      find: "...message.attributes",
      replace: "",
    },
  },
  {
    report: "localstack 8234 (measured)",
    symptom: "an empty early answer when a message moves to the dead-letter queue",
    right: "no error, no hot loop",
    file: claimLoopTest,
    test: "pause when polls come back empty before their time",
    break: {
      file: "packages/worker/claim-pauses.ts",
      find: "earlyEmptyPauseMs(this.#earlyEmptyPolls)",
      replace: "50",
    },
  },
];
