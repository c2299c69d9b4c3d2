/** Cases from the field: effects that happen twice, or never. */

import type { FieldCase } from "./field-case.ts";

const onceTest = "packages/idempotency/test/once.test.ts";
const openingTest = "packages/idempotency/test/opening.test.ts";
const fence = {
  file: "packages/idempotency/effect-writes.ts",
  find: "condition: { ...fenced(fence), effect: startable(name) },",
  replace: 'condition: { states: ["open"], effect: startable(name) },',
};

/** One entry for each report. */
export const idempotencyCases: readonly FieldCase[] = [
  {
    report: "powertools-lambda-python 801, 8049; autumn PR 2961",
    symptom: "the effect runs again after an exception or timeout (second Stripe charge)",
    right: "an unknown outcome has a policy, not a timer",
    file: onceTest,
    test: "is not run again after an exception, but by its policy",
    break: {
      file: "packages/idempotency/effect-attempt.ts",
      find: '  } else if ((await markUnknown(session, attempt))?.kind !== "applied") {',
      replace: "  } else if ((await notSent(session, attempt)) === null) {",
    },
  },
  {
    report: "powertools-lambda-typescript 5675",
    symptom: "cleanup deletes a record that it never acquired",
    right: "only the owner writes",
    file: openingTest,
    test: "leaves the record of its successor alone",
    break: {
      file: "packages/idempotency/fence.ts",
      find: 'return { epoch, owner, states: ["open"] };',
      replace: 'void epoch, owner;\n  return { states: ["open"] };',
    },
  },
  {
    report: "powertools-lambda-typescript 2944",
    symptom: "the completion write fails",
    right: "retried, never acked without it",
    file: onceTest,
    test: "its completion is tried until the store takes it, and the handler waits for that",
    break: {
      file: "packages/idempotency/patient-store.ts",
      find: "const untilMs = patience.untilMs ?? Number.POSITIVE_INFINITY;",
      replace: "const untilMs = patience.untilMs ?? 0;",
    },
  },
  {
    report: "cirello-io/dynamolock 280; aws-sdk-java 2667; idempot-js 185",
    symptom: "a retry of an own successful write refuses itself",
    right: "own-write proof",
    file: onceTest,
    test: "a lost answer to any of its writes changes nothing",
    break: {
      file: "packages/idempotency/apply-write.ts",
      find: "  if (record === undefined) return false;\n  const { set, remove",
      replace: "  if (record !== condition) return false;\n  const { set, remove",
    },
  },
  {
    report: "akash-network/console PR 3449; pympp PR 155",
    symptom: "no provider key, or a new one for each retry",
    right: "the key is made of the identity, and stored before the first send",
    file: onceTest,
    test: "gives the provider the same key in every attempt",
    break: {
      file: "packages/idempotency/once.ts",
      find: "previous?.providerKey ?? providerKey(parts.environment, job, name)",
      replace: "parts.unique()",
    },
  },
  {
    report: "carbon 252",
    symptom: "the provider's key had expired after 24 hours: charged again",
    right: "the time of the first send is stored, and the policy changes after the window",
    file: onceTest,
    test: "is not replayed after the provider's window, but left to what comes then",
    break: {
      file: "packages/idempotency/effect-decision.ts",
      find: "return isKnown ? recover : recover.after;",
      replace: "return isKnown || recover.windowMs > 0 ? recover : recover.after;",
    },
  },
  {
    report: "MemWal PR 562",
    symptom: "the fence is checked in a separate read",
    right: "the fence stands in the write that marks STARTED",
    file: openingTest,
    test: "starts no effect: the token is checked in the write that marks it",
    break: fence,
  },
  {
    report: "tomodachi PR 2074",
    symptom: "a duplicate is ignored until the dead-letter queue has it",
    right: "a duplicate of a done job is acked",
    file: openingTest,
    test: "says of a duplicate that the job is done, so that it is acked",
    break: {
      file: "packages/idempotency/opening-decision.ts",
      find: '    case "done":\n    case "parked":\n    case "cancelled":',
      replace:
        '    case "done":\n      return decideOpen(record, claim);\n' +
        '    case "parked":\n    case "cancelled":',
    },
  },
  {
    report: "powertools-lambda 53",
    symptom: "a crash leaves IN_PROGRESS, and all retries are refused",
    right: "takeover by epoch once the lease has ended",
    file: openingTest,
    test: "is open at once for a later delivery of the same message: its earlier lease has ended",
    break: {
      file: "packages/idempotency/opening-decision.ts",
      find: "if (receiveCount > record.receiveCount) return",
      replace: "if (receiveCount > record.receiveCount + 1) return",
    },
  },
  {
    report: "amazon-dynamodb-lock-client 1",
    symptom: "no fencing against an owner that was paused",
    right: "the token is checked where the effect is recorded",
    file: openingTest,
    test: "starts no effect although its lease looks held to itself",
    break: fence,
  },
];
