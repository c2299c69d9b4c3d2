/** Cases from the field: shutdown against receive. */

import type { FieldCase } from "./field-case.ts";

const drainTest = "packages/worker/test/drain.test.ts";

/** One entry for each report. */
export const shutdownCases: readonly FieldCase[] = [
  {
    report: "celery/kombu 1835, PR 2049",
    symptom:
      "a message released with visibility 0 goes back to the dying process's own open poll, then hides",
    right: "all own polls of a queue have returned before any visibility 0",
    file: drainTest,
    test: "waits for every poll of the queue before it frees what one of them brought",
    break: {
      file: "packages/worker/give-back.ts",
      find: "const wouldComeBack = () => asked.delayMs === 0 &&",
      replace: "const wouldComeBack = () => asked.delayMs < 0 &&",
    },
  },
  {
    report: "celery/kombu 1819; ruby-shoryuken 677",
    symptom: "a receive in flight at SIGTERM is abandoned",
    right: "it is awaited, and what it brings is released",
    file: "test/drill/idle-poll.test.ts",
    test: "releases what its open poll still brings, and another worker has it at once",
    break: {
      file: "packages/worker/drain.ts",
      find: "for (const { loop } of queues) loop.stop();",
      replace: "for (const { loop } of queues) { loop.stop(); loop.abandonPolls(); }",
    },
  },
  {
    report: "aws-sdk-js 2350; superlog PR 280",
    symptom: "an aborted long poll strands messages",
    right: "never aborted in a normal drain; when forced, the report says so",
    file: drainTest,
    test: "ends at once at the second when only polls are open, and says so",
    break: {
      file: "packages/worker/drain.ts",
      find: "const pollsLeft = queues.flatMap(({ loop }) =>",
      replace: "const pollsLeft = [].flatMap(({ loop }: never) =>",
    },
  },
  {
    report: "shoplineapp/sl-express PR 143",
    symptom: "a message arrives at second 20 of the poll while the pod stops",
    right: "released on arrival, never started",
    file: drainTest,
    test: "never starts what its open poll still brings, and frees it at once",
    break: {
      file: "packages/worker/worker-life.ts",
      find: "draining: this.#draining.signal,",
      replace: "draining: new AbortController().signal,",
    },
  },
  {
    report: "bbc/sqs-consumer 582",
    symptom: "a message skipped during shutdown was deleted",
    right: "a skipped job is released, never acked",
    file: "packages/job-run/test/job-run.test.ts",
    test: "starts nothing once the drain has begun, but knows which job it gives back",
    break: {
      file: "packages/job-run/job-run.ts",
      find: 'await this.#finish("unstarted", { kind: "release", delayMs, class: releaseClass });',
      replace: 'this.lease.start(); await this.#finish("unstarted", { kind: "ack" });',
    },
  },
  {
    report: "bbc/sqs-consumer 234",
    symptom: "start, stop and start run two poll loops",
    right: "exactly one loop after any sequence",
    file: "packages/worker/test/claim-loop.test.ts",
    test: "stay one after any sequence of pause and resume",
    break: {
      file: "packages/worker/poll-plan.ts",
      find: "if (facts.openPolls >= facts.wantedPolls) return wait();",
      replace: 'if (facts.openPolls > facts.wantedPolls) return { kind: "wait" };',
    },
  },
  {
    report: "celery/celery 9492",
    symptom: "a job finished during shutdown but was released",
    right: "the first of ack and release wins, decided once",
    file: "packages/job-run/test/job-run.test.ts",
    test: "does not give up an ack that is under way",
    break: {
      file: "packages/job-run/job-run.ts",
      find: 'if (this.#isAbandoned || this.#phase === "ending" || this.#phase === "ended") return;',
      replace: 'if (this.#isAbandoned || this.#phase === "ended") return;',
    },
  },
  {
    report: "Logflare 3849",
    symptom: "prefetched work was acked with no consumer after the drain",
    right: "unstarted work is only ever released",
    file: "packages/job-run/test/job-run.test.ts",
    test: "can be given up while its schema still thinks",
    break: {
      file: "packages/job-run/job-run.ts",
      find: "void this.#finish(outcome, this.#ledger.givenBack(delayMs, releaseClass));",
      replace: 'void this.#finish(outcome, { kind: "ack" });',
    },
  },
  {
    report: "Bogdanp/dramatiq_sqs 52; spring-attic/spring-cloud-aws 516",
    symptom: "a prefetch buffer is not returned; the receive count grows without a run",
    right: "only what can start is claimed",
    file: "packages/worker/test/worker.test.ts",
    test: "claims nothing that cannot start",
    break: {
      file: "packages/worker/claim-loop.ts",
      find: "source.claim({ maxMessages: reserved,",
      replace: "source.claim({ maxMessages: 10,",
    },
  },
  {
    report: "taskforcesh/bullmq 4163",
    symptom: "a second fetch path goes on while closing",
    right: "every path to a claim asks the drain flag",
    file: drainTest,
    test: "makes no claim after the signal and frees nothing before its own poll has ended",
    break: {
      file: "packages/worker/drain.ts",
      find: "for (const { loop } of queues) loop.stop();",
      replace: "",
    },
  },
  {
    report: "oban-bg/oban 856",
    symptom: "queues are stopped one after another",
    right: "all intakes stop together, with one deadline",
    file: "packages/worker/test/several-queues.test.ts",
    test: "drains them together, with one deadline",
    break: {
      file: "packages/worker/drain.ts",
      find: "for (const { loop } of queues) loop.stop();",
      replace: "queues[0]?.loop.stop();",
    },
  },
  {
    report: "awspring/spring-cloud-aws 925, 1661; squiss-ts 146",
    symptom: "batched acks are never flushed on stop",
    right: "the ack queue is flushed and confirmed before exit",
    file: "packages/lease/test/lease-source.test.ts",
    test: "flushes acks that linger and releases that gather, and waits for their answers",
    break: {
      file: "packages/lease/settle-queue.ts",
      find: "  flush(): void {\n    this.#acks.flush();",
      replace: "  flush(): void {",
    },
  },
  {
    report: "temporalio/sdk-typescript 1739",
    symptom: "a handler learns of the shutdown only when it is cancelled",
    right: "the draining hint comes first",
    file: drainTest,
    test: "raises the flag, turns readiness, tells of each job, tapers and hints, all at once",
    break: {
      file: "packages/worker/drain.ts",
      find: "    draining.abort();\n",
      replace: "",
    },
  },
  {
    report: "taskcluster 8291",
    symptom: "the second SIGTERM kills at once",
    right: "a ladder of signals",
    file: drainTest,
    test: "aborts at the second, gives back at the third, ends at the fourth",
    break: {
      file: "packages/worker/drain-plan.ts",
      find: '["draining", "draining", "aborting", "releasing", "exited"]',
      replace: '["draining", "draining", "exited", "exited", "exited"]',
    },
  },
  {
    report: "chatwoot 15886; alphagov/email-alert-api 697",
    symptom: "the platform kills before the drain ends",
    right: "the contract check refuses to start",
    file: "packages/worker/test/worker-parts.test.ts",
    test: "refuses a contract that contradicts itself, with every violation",
    break: {
      file: "packages/worker/worker-parts.ts",
      find: "assertContract(",
      replace: "((_contract: unknown) => {})(",
    },
  },
  {
    report: "cashapp/misk 3892; elizaOS/eliza 17258",
    symptom: "deploys eat retries, jobs end in the dead-letter queue",
    right: "interruptions are counted apart from failures",
    file: "packages/worker/test/attempts.test.ts",
    test: "by twenty deploys are no failures",
    break: {
      file: "packages/job-run/job-ending.ts",
      find: 'return { kind: "interrupted" };',
      replace: 'return { kind: "failed" };',
    },
  },
  {
    report: "riverqueue/river 78, PR 1289",
    symptom: "stop waits for a job that ignores its cancellation",
    right: "the deadline holds, the job is reported, its lease is released with a delay",
    file: drainTest,
    test: "gives the lease of a handler that ignores its abort back for after the exit",
    break: {
      file: "packages/worker/drain-plan.ts",
      find: 'return isOver ? "releasing" : undefined;',
      replace: "return undefined;",
    },
  },
  {
    report: "graphile/worker 526; cortexlabs/cortex 1504",
    symptom: "a killed worker hides the job for hours",
    right: "a short lease, extended",
    file: "packages/lease/test/lease-source.test.ts",
    test: "of a worker that dies without a word is over within the visibility timeout of its last extension",
    break: {
      file: "packages/lease/extension-plan.ts",
      find: "const visibilityTimeoutMs = wholeSeconds(Math.min(options.visibilityTimeoutMs, limitMs));",
      replace:
        "const visibilityTimeoutMs = wholeSeconds(Math.min(60 * options.visibilityTimeoutMs, limitMs));",
    },
  },
];
