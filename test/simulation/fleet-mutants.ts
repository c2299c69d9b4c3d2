/** Breaks of the code that the simulation alone must notice, as data. */

import { ledgerMutants } from "../cases/ledger-mutants.ts";
import type { Break } from "../support/mutant-tree.ts";
import type { Profile } from "./profiles.ts";

/** One way to get it wrong, and the weather in which it shows. */
export interface FleetMutant {
  readonly mutant: string;
  readonly profile: Profile;
  readonly break: Break;
}

const settleQueue = "packages/lease/settle-queue.ts";
const extensionPlan = "packages/lease/extension-plan.ts";
const jobEnding = "packages/job-run/job-ending.ts";

const ofLeases: readonly FleetMutant[] = [
  {
    mutant: "ack on resolve after abort",
    profile: "deploys",
    break: {
      file: jobEnding,
      find: "if (abortCause === undefined || saidDone || !signalWasRead) {",
      replace: "if (abortCause !== undefined || saidDone || !signalWasRead || true) {",
    },
  },
  {
    mutant: "release before the own poll returned",
    profile: "deploys",
    break: {
      file: "packages/worker/give-back.ts",
      find: "const wouldComeBack = () => asked.delayMs === 0 &&",
      replace: "const wouldComeBack = () => asked.delayMs < 0 &&",
    },
  },
  {
    mutant: "retry of a timed-out release",
    profile: "deploys",
    break: {
      file: "packages/lease/lease-state.ts",
      find: 'if (isShortening(state)) return { kind: "lapsing" };',
      replace: "void isShortening;",
    },
  },
  {
    mutant: "validUntil from the answer's time",
    profile: "harsh",
    break: {
      file: "packages/lease/held-lease.ts",
      find: 'this.apply({ kind: "extended", validUntil: moved(sentAt, reachMs) });',
      replace:
        'this.apply({ kind: "extended", validUntil: moved(now(this.#shared.clock), reachMs) });',
    },
  },
  {
    mutant: "extension in flight not awaited before a release",
    profile: "deploys",
    break: {
      file: settleQueue,
      find: "await Promise.all([...tail, lease].map((each) => this.#parts.stopExtending(each)));",
      replace: "for (const each of [...tail, lease]) void this.#parts.stopExtending(each);",
    },
  },
  {
    mutant: "extensions stopped at SIGTERM",
    profile: "deploys",
    break: {
      file: extensionPlan,
      find: "return { dueInMs, visibilityTimeoutMs, isTaper: false };",
      replace:
        "return Number.isFinite(targetMs) ? undefined : { dueInMs, visibilityTimeoutMs, isTaper: false };",
    },
  },
  {
    mutant: "taper omitted",
    profile: "deploys",
    break: {
      file: extensionPlan,
      find: "return { dueInMs: pauseMs, visibilityTimeoutMs, isTaper: true };",
      replace: "return undefined;",
    },
  },
  {
    mutant: "validUntil not lowered on shortening",
    profile: "deploys",
    break: {
      file: "packages/lease/lease-state.ts",
      find: "return { ...state, validUntil: earlier(validUntil, event.validUntil) };",
      replace: "return { ...state, validUntil };",
    },
  },
  {
    mutant: "receive count as attempts",
    profile: "deploys",
    break: {
      file: "packages/idempotency/job-opener.ts",
      find: "return { failures, interruptions, putOffs,",
      replace: "return { failures: opened.receiveCount - 1, interruptions, putOffs,",
    },
  },
  {
    mutant: "unknown type dead-lettered at once",
    profile: "calm",
    break: {
      file: "packages/job-run/turned-away.ts",
      find: "facts.ageMs > facts.unknownTypeGraceMs",
      replace: "facts.ageMs > 0 * facts.unknownTypeGraceMs",
    },
  },
  {
    mutant: "interruption counted as a failure",
    profile: "deploys",
    break: {
      file: jobEnding,
      find: 'return { kind: "interrupted" };',
      replace: 'return { kind: "failed" };',
    },
  },
  {
    mutant: "delete on LOST without DONE",
    profile: "harsh",
    break: {
      file: "packages/job-run/job-run.ts",
      find: 'if (settled.kind === "lost" && this.#ledger.isGarbage) await this.lease.discard();',
      replace: 'if (settled.kind === "lost") await this.lease.discard();',
    },
  },
  {
    mutant: "FIFO next without waiting for the confirmed delete",
    profile: "fifo",
    break: {
      file: "packages/lease/held-lease.ts",
      find: 'return this.place?.standing === "first" ? undefined : this.place?.turn;',
      replace: "return undefined;",
    },
  },
  {
    mutant: "group tail goes on after its head was lost or given back",
    profile: "fifo",
    break: {
      file: "packages/lease/fifo-groups.ts",
      find: "    const gone = places.splice(index);\n    if (index === 0) this.#groups.delete(place.groupId);",
      replace:
        "    const gone = places.splice(index, 1);\n    if (index === 0) places[0]?.begin();",
    },
  },
  {
    mutant: "batch result taken as a whole",
    profile: "harsh",
    break: {
      file: "packages/lease/lease-extender.ts",
      find: "this.#answered(entry, answers[index] as CallAnswer);",
      replace: "void index;\n          this.#answered(entry, answers[0] as CallAnswer);",
    },
  },
  {
    mutant: "claims go on in the drain",
    profile: "deploys",
    break: {
      file: "packages/worker/drain.ts",
      find: "for (const { loop } of queues) loop.stop();",
      replace: "",
    },
  },
  {
    mutant: "extensions stop after one that failed",
    profile: "harsh",
    break: {
      file: "packages/lease/lease-extender.ts",
      find: "watch.failures += 1;",
      replace: "watch.failures += 1; watch.isStopped = true;",
    },
  },
  {
    mutant: "work given up in a drain is acked",
    profile: "deploys",
    break: {
      file: "packages/job-run/job-run.ts",
      find: "void this.#finish(outcome, this.#ledger.givenBack(delayMs, releaseClass));",
      replace: 'void this.#finish(outcome, { kind: "ack" });',
    },
  },
  {
    mutant: "a held message that comes again counts as a crash",
    profile: "payments",
    break: {
      file: "packages/idempotency/opening-writes.ts",
      find: "return isCut ? endings + 1 : endings;",
      replace: "return isCut ? endings : endings;",
    },
  },
  {
    mutant: "a drain that never exits",
    profile: "deploys",
    break: {
      file: "packages/worker/drain-plan.ts",
      find: 'return !left.unflushed || isOver ? "exited" : undefined;',
      replace: "return undefined;",
    },
  },
  {
    mutant: "a drain with no deadline",
    profile: "deploys",
    break: {
      file: "packages/worker/drain-plan.ts",
      find: "return deadlines.drainByMs;\n    case",
      replace: "return deadlines.killAtMs + 60_000;\n    case",
    },
  },
  {
    mutant: "a drain that does not tell its handlers",
    profile: "deploys",
    break: {
      file: "packages/worker/drain.ts",
      find: "    draining.abort();\n",
      replace: "    void draining;\n",
    },
  },
  {
    mutant: "a drain shows work to others whose handler is at it",
    profile: "deploys",
    break: {
      file: "packages/worker/drain-plan.ts",
      find: "return wholeSeconds(exitByMs - nowMs) + SECOND_MS;",
      replace: "return 0 * exitByMs;",
    },
  },
  {
    mutant: "a drain exits 75 where handlers ignored their abort",
    profile: "deploys",
    break: {
      file: "packages/worker/shutdown-report.ts",
      find: "return { exitCode: 76,",
      replace: "return { exitCode: 75,",
    },
  },
  {
    mutant: "a drain exits as if nothing was left to lapse",
    profile: "harsh",
    break: {
      file: "packages/worker/shutdown-report.ts",
      find: "if (lapsing > 0) {",
      replace: "if (lapsing > 1_000) {",
    },
  },
];

/** Those of the ledger that show under replay, through whole workers. */
const OF_THE_LEDGER: readonly string[] = [
  "release on timeout",
  "START without epoch",
  "no nonce at takeover",
  "release with a > 1",
  "ack before finish",
  "no own-write proof",
  "COMPLETE after the handler",
  "unconditional completion",
  "TTL on an open effect",
  "FINISH with an UNKNOWN effect",
  "key recomputed from attempt",
];

/** Every break. */
export const fleetMutants: readonly FleetMutant[] = [
  ...ofLeases,
  ...ledgerMutants
    .filter(({ mutant }) => OF_THE_LEDGER.includes(mutant))
    .map(({ mutant, break: broken }) => ({ mutant, profile: "payments" as const, break: broken })),
];
