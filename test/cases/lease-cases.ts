/** Cases from the field: extending and losing the lease. */

import type { FieldCase } from "./field-case.ts";

const extenderTest = "packages/lease/test/lease-extender.test.ts";

/** One entry for each report. */
export const leaseCases: readonly FieldCase[] = [
  {
    report: "OptimalBits/bull 1615, 1415; rails/solid_queue 568; temporalio/sdk-java 2075",
    symptom: "extensions stop first at shutdown; a long job runs twice",
    right: "extensions are the last to stop",
    file: extenderTest,
    test: "extends to the target what does not reach it yet",
    break: {
      file: "packages/lease/extension-plan.ts",
      find: "return { dueInMs, visibilityTimeoutMs, isTaper: false };",
      replace:
        "return Number.isFinite(targetMs) ? undefined : { dueInMs, visibilityTimeoutMs, isTaper: false };",
    },
  },
  {
    report: "bbc/sqs-consumer 260, PR 848; novuhq/novu PR 12437",
    symptom: "a late extension undoes a release or a retry delay",
    right: "the timer is stopped and the extension in flight awaited first",
    file: "packages/lease/test/settle-queue.test.ts",
    test: "waits for an extension in flight, which would undo it",
    break: {
      file: "packages/lease/settle-queue.ts",
      find: "await Promise.all([...tail, lease].map((each) => this.#parts.stopExtending(each)));",
      replace: "for (const each of [...tail, lease]) void this.#parts.stopExtending(each);",
    },
  },
  {
    report: "bbc/sqs-consumer 275, 199; vercel/sqs-consumer 3, 4",
    symptom: "a failed extension crashes the process",
    right: "nobody needs to listen for it to survive",
    file: "packages/lease/test/settle-queue.test.ts",
    test: "holds nobody longer than the hard timeout",
    break: {
      file: "packages/lease/lease-calls.ts",
      find: 'const cancelTimeout = this.#clock.schedule(this.#callTimeoutMs, () => fail("TimeoutError"));',
      replace: "const cancelTimeout = () => {};",
    },
  },
  {
    report: "NServiceBus Renewal, MassTransit",
    symptom: "one throttle ends renewal for good",
    right: "tried again until the local expiry",
    file: extenderTest,
    test: "are tried again after short, growing pauses",
    break: {
      file: "packages/lease/lease-extender.ts",
      find: "watch.failures += 1;",
      replace: "watch.failures += 1; watch.isStopped = true;",
    },
  },
  {
    report: "MassTransit 6179",
    symptom: "an orphan renewal hides the message for twelve hours",
    right: "the lease owns its extension",
    file: extenderTest,
    test: "stop for good once the ending is confirmed",
    break: {
      file: "packages/lease/lease-state.ts",
      find: 'return state.kind === "releasing" ? { kind: "released" } : { kind: "done", as: state.as };',
      replace: "return state;",
    },
  },
  {
    report: "aws-sdk-js-v3 2983; aws-sdk-net 794",
    symptom: "an extension is refused near twelve hours",
    right: "clamped; at the cap the handler is aborted, then the message released",
    file: "packages/lease/test/extension-plan.test.ts",
    test: "asks for no more than SQS's twelve hours leave, and stops there",
    break: {
      file: "packages/lease/extension-plan.ts",
      find: "wholeSeconds(Math.min(options.visibilityTimeoutMs, limitMs));",
      replace: "wholeSeconds(Math.min(options.visibilityTimeoutMs, targetMs));",
    },
  },
  {
    report: "taskforcesh/bullmq 3056, 3183",
    symptom: "a blocked event loop loses the lease, the job runs twice",
    right: "an extender in its own thread, an event for the block, self-fencing",
    file: "test/drill/blocked-loop.test.ts",
    test: "for three visibility timeouts is started once and acked once",
    break: {
      file: "packages/leasehold/extender-choice.ts",
      find: 'if (extender === "inline") return undefined;',
      replace: "return undefined;",
    },
  },
  {
    report: "bbc/sqs-consumer 168",
    symptom: "a handler is not told of its timeout; copies pile up",
    right: "an AbortSignal with a typed reason",
    file: "packages/job-run/test/run-context.test.ts",
    test: "aborts at the job's limit, with the reason",
    break: {
      file: "packages/job-run/run-context.ts",
      find: 'this.abort("job-timeout")',
      replace: 'void "job-timeout"',
    },
  },
  {
    report: "Brighter 4031; celery/kombu 1198",
    symptom: "an ack on an expired handle crashes the worker",
    right: "an outcome, not a crash",
    file: "packages/lease/test/settle-queue.test.ts",
    test: "that is refused at its first try is no ack: the message is with somebody else",
    break: {
      file: "packages/lease/settle-queue.ts",
      find: 'answer.kind === "refused" && ack.perhapsDeleted === receiptHandle && !this.#parts.fifo;',
      replace: 'answer.kind === "refused";',
    },
  },
  {
    report: "MassTransit 5159, 5915",
    symptom: "a redelivered copy meets its still-running twin",
    right: "one record for each message in a process",
    file: "packages/lease/test/held-leases.test.ts",
    test: "is not handed out: the run goes on by the newest handle and its ack deletes the message",
    break: {
      file: "packages/lease/held-lease.ts",
      find: "  adopt({ receipt, answeredAt }: Arrival): void {\n    this.#receiptHandle = receipt.receiptHandle;",
      replace: "  adopt({ answeredAt }: Arrival): void {",
    },
  },
  {
    report: "MassTransit PR 2870",
    symptom: "doubling extensions hide a crash for an hour",
    right: "a constant short extension",
    file: "packages/lease/test/extension-plan.test.ts",
    test: "extends a period after the last success",
    break: {
      file: "packages/lease/extension-plan.ts",
      find: "const visibilityTimeoutMs = wholeSeconds(Math.min(options.visibilityTimeoutMs, limitMs));",
      replace:
        "const visibilityTimeoutMs = wholeSeconds(Math.min(2 * options.visibilityTimeoutMs, limitMs));",
    },
  },
];
