/** Cases from the field: batches in Lambda, and middlewares around their handlers. */

import type { FieldCase } from "./field-case.ts";

/** One entry for each report. */
export const lambdaCases: readonly FieldCase[] = [
  {
    report: "powertools-lambda-typescript 2122",
    symptom: "the whole function throws when every record of a batch has failed",
    right: "each message is reported, however many of them failed",
    file: "packages/middy/test/middy.test.ts",
    test: "reports every job when every job fails, instead of throwing",
    break: {
      file: "packages/middy/partial-batch.ts",
      find: "  const failed = messageIds.filter((messageId) => !done.has(messageId));",
      replace:
        '  const failed = messageIds.filter((messageId) => !done.has(messageId)); if (failed.length === messageIds.length) throw new Error("all failed");',
    },
  },
  {
    report: "powertools-lambda-typescript 2561",
    symptom: "a failure fails other groups of a FIFO queue with its own",
    right: "the rest of its group is reported, the other groups go on",
    file: "packages/middy/test/fifo.test.ts",
    test: "reports the rest of a group after a failure, and goes on with the others",
    break: {
      file: "packages/lease/held-leases.ts",
      find: '    const { messageId, groupId = "" } = receipt.message;',
      replace: '    const { messageId } = receipt.message; const groupId = "one";',
    },
  },
  {
    report: "powertools-lambda-typescript 3673",
    symptom: "a group that failed once is skipped by the same sandbox when it comes again",
    right: "nothing is kept from one invocation to the next",
    file: "packages/middy/test/fifo.test.ts",
    test: "has the failed job first when its group comes again to the same sandbox",
    break: {
      file: "packages/middy/middy.ts",
      find: "    return await invocation.run();",
      replace:
        "    const known = parts as { failed?: Awaited<ReturnType<typeof invocation.run>> }; known.failed ??= await invocation.run(); return known.failed;",
    },
  },
  {
    report: "powertools-lambda-typescript 2987; middy 1236",
    symptom: "a guarded handler that returns nothing runs again in each repetition",
    right: "its result is kept in an envelope, so that nothing is a result as well",
    file: "packages/middy/test/job-once.test.ts",
    test: "keeps a handler that returns nothing from running again",
    break: {
      file: "packages/middy/job-once.ts",
      find: "  request.earlyResponse = stored.result;",
      replace: "  if (stored.result !== undefined) request.earlyResponse = stored.result;",
    },
  },
  {
    report: "powertools-lambda-typescript 3424",
    symptom: "a middleware that changes the event makes the guard look for another record",
    right: "the record is the job's, by tenant, type and id",
    file: "packages/middy/test/job-once.test.ts",
    test: "knows its job by its identity, whatever later middlewares make of the event",
    break: {
      file: "packages/middy/job-once.ts",
      find: "      const stored = request.context.job.once(name, surroundings.job.payload, effect);",
      replace: "      const stored = request.context.job.once(name, request.event, effect);",
    },
  },
  {
    report: "middy 722",
    symptom: "a batch of more than ten messages fails whole, by one call too large for SQS",
    right: "calls of ten, whatever the size of a batch",
    file: "packages/middy/test/middy.test.ts",
    test: "works a batch of more messages than a call of SQS takes",
    break: {
      file: "packages/middy/lambda-lease-queue.ts",
      find: "const ENTRIES_PER_CALL = 10;",
      replace: "const ENTRIES_PER_CALL = 10_000;",
    },
  },
];
