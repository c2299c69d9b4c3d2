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
];
