/** Breaks of the ledger that its tests must notice, as data. */

import type { Break } from "../support/mutant-tree.ts";

/** One way to get it wrong. */
export interface LedgerMutant {
  readonly mutant: string;
  /** A test file, from the root. */
  readonly caughtBy: string;
  readonly break: Break;
}

const schedules = "packages/idempotency/test/ledger.property.test.ts";
const attempt = "packages/idempotency/effect-attempt.ts";
const effectWrites = "packages/idempotency/effect-writes.ts";

/** Each must turn its test red. */
export const ledgerMutants: readonly LedgerMutant[] = [
  {
    mutant: "release on timeout",
    caughtBy: schedules,
    break: {
      file: attempt,
      find: 'if (code === "EFFECT_NOT_SENT") {',
      replace: 'if (code === "EFFECT_NOT_SENT" || code === "EFFECT_TIMEOUT") {',
    },
  },
  {
    mutant: "no settle wait",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/effect-decision.ts",
      find: "return endedAtMs + (own ?? settleMs);",
      replace: "return record.firstSentAtMs + 0 * (own ?? settleMs);",
    },
  },
  {
    mutant: "no check right before sending",
    caughtBy: schedules,
    break: { file: attempt, find: "  await assertMaySend(session, attempt);", replace: "" },
  },
  {
    mutant: "START without epoch",
    caughtBy: schedules,
    break: {
      file: effectWrites,
      find: "condition: { ...fenced(fence), effect: startable(name) },",
      replace: 'condition: { states: ["open"], effect: startable(name) },',
    },
  },
  {
    mutant: "no nonce at takeover",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/once.ts",
      find: "nonce: parts.unique(),",
      replace: "nonce: previous?.nonce ?? parts.unique(),",
    },
  },
  {
    mutant: "release with a > 1",
    caughtBy: schedules,
    break: {
      file: attempt,
      find:
        "  if (own.attempts === 1) await session.write(releaseEffect(session.job, name, own));\n" +
        "  else await markUnknown(session, attempt);",
      replace:
        '  const condition = { effect: { name, states: ["started"], nonce: own.nonce } } as const;\n' +
        "  await session.write({ ...releaseEffect(session.job, name, own), condition });",
    },
  },
  {
    mutant: "ack before finish",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/run-ending.ts",
      find: "answer = await this.#write(write, Math.max(writePatienceMs, leaseMs - effectMarginMs));",
      replace:
        'answer = { kind: "recorded" } as EndAnswer;\n' +
        "    void this.#write(write, Math.max(writePatienceMs, leaseMs - effectMarginMs));",
    },
  },
  {
    mutant: "unconditional completion",
    caughtBy: schedules,
    break: {
      file: effectWrites,
      find: 'condition: { effect: { name, states: ["started", "unknown"], nonce: own.nonce } },',
      replace: "condition: {},",
    },
  },
  {
    mutant: "no own-write proof",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/apply-write.ts",
      find: "  if (record === undefined) return false;\n  const { set, remove",
      replace: "  if (record !== condition) return false;\n  const { set, remove",
    },
  },
  {
    mutant: "TTL on an open effect",
    caughtBy: schedules,
    break: { file: effectWrites, find: 'remove: ["expiresAtMs"],', replace: "remove: []," },
  },
  {
    mutant: "input hash ignored",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/effect-decision.ts",
      find: '  if (record.inputHash !== facts.inputHash) return { kind: "mismatch" };',
      replace: "",
    },
  },
  {
    mutant: "key recomputed from attempt",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/once.ts",
      find: "previous?.providerKey ?? providerKey(parts.environment, job, name)",
      replace: "providerKey(parts.environment, job, name + (previous?.attempts ?? 0))",
    },
  },
  {
    mutant: "late Rejected overwrites",
    caughtBy: "packages/idempotency/test/late-completion.test.ts",
    break: {
      file: effectWrites,
      find: 'condition: { effect: { name, states: ["started", "unknown"], nonce: own.nonce } },',
      replace:
        'condition: { effect: { name, states: ["started", "unknown"], ' +
        '...(completion.outcome === "ok" && { nonce: own.nonce }) } },',
    },
  },
  {
    mutant: "FINISH with an UNKNOWN effect",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/run-ending.ts",
      find:
        "    if (!session.allClosedBut()) return await this.#unsettled();\n" +
        "    const json = this.#smallJson(result);\n" +
        "    const expiresAtMs = session.finalExpiry();\n" +
        "    const write = finish(session.fence, {\n" +
        "      nowMs: session.nowMs,\n" +
        "      closed: Object.keys(record.effects),\n",
      replace:
        "    const json = this.#smallJson(result);\n" +
        "    const expiresAtMs = session.finalExpiry();\n" +
        "    const write = finish(session.fence, {\n" +
        "      nowMs: session.nowMs,\n" +
        "      closed: [],\n",
    },
  },
  {
    mutant: "COMPLETE after the handler",
    caughtBy: schedules,
    break: {
      file: attempt,
      find: "const other = await recordCompletion(session, {",
      replace:
        "const other = undefined as Awaited<ReturnType<typeof recordCompletion>>;\n" +
        "  void recordCompletion(session, {",
    },
  },
  {
    mutant: "PARK without the stored message",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/parking.ts",
      find: "token: parts.unique(), message };",
      replace: "token: parts.unique() } as never;",
    },
  },
  {
    mutant: "redrive keeps failures",
    caughtBy: schedules,
    break: {
      file: "packages/idempotency/opening-writes.ts",
      find: "? { ...NEW_COUNTS, generation: seen.generation + 1 }",
      replace: "? { starts: seen.starts + 1, generation: seen.generation + 1 }",
    },
  },
  {
    mutant: "identity without the job type",
    caughtBy: "packages/idempotency/test/effect-key.test.ts",
    break: {
      file: "packages/idempotency/effect-key.ts",
      find: "[environment, job.tenantId, job.jobType, job.jobId, effect]",
      replace: "[environment, job.tenantId, job.jobId, effect]",
    },
  },
];
