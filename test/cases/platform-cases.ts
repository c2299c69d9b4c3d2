/** Cases from the field: what the platform does to a worker. */

import type { FieldCase } from "./field-case.ts";

/** One entry for each report. */
export const platformCases: readonly FieldCase[] = [
  {
    report: "robosystems PR 738",
    symptom: "a call for task protection blocks the job, and one blip disables it",
    right: "two seconds for a call, tried again for ever, and never a job that fails by it",
    file: "packages/process-host/test/task-protection.test.ts",
    test: "gives a call up after two seconds and tries again",
    break: {
      file: "packages/process-host/task-protection.ts",
      find: "this.#clock.schedule(CALL_TIMEOUT_MS, () => controller.abort());",
      replace: "this.#clock.schedule(CALL_TIMEOUT_MS, () => {});",
    },
  },
  {
    report: "opentelemetry-js-contrib 1455; otel-java 13799",
    symptom: "the trace is an eleventh attribute and breaks the send",
    right: "the places of the trace are kept free in every message, traced or not",
    file: "packages/producer/test/trace-context.test.ts",
    test: "keeps the places of its trace free, whatever its sender adds",
    break: {
      file: "packages/producer/job-attributes.ts",
      find: "const MAX_ADDED_ATTRIBUTES = MAX_ATTRIBUTES - OWN_ATTRIBUTES.length;",
      replace: "const MAX_ADDED_ATTRIBUTES = MAX_ATTRIBUTES - 3;",
    },
  },
  {
    report: "bbc/sqs-producer (measured)",
    symptom: "a batch over 1 MiB fails whole, and ids made of the bodies collide",
    right: "split by bytes, ids of their own, a result for each job",
    file: "packages/producer/test/bad-input.test.ts",
    test: "bodies that are large together or equal, and ids that are odd, each find their message",
    break: {
      file: "packages/producer/sqs-sender.ts",
      find: "    Id: String(index),",
      replace: "    Id: entry.body,",
    },
  },
];
