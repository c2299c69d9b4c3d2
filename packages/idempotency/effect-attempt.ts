/** One attempt at an effect: begun only if it can end in time, run, and recorded whatever happens. */

import { elapsedMs, type Moment } from "@leasehold/clock";
import type { Effect, EffectCall, Lookup, QueryRecovery, RejectedError } from "@leasehold/job";
import { recordCompletion } from "./completion.ts";
import { releaseEffect, unknownEffect } from "./effect-writes.ts";
import type { EffectRecord } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import type { WriteAnswer } from "./ledger-store.ts";
import type { GateBlame, GatePass } from "./provider-gate.ts";
import { codeOf, verdictOf } from "./provider-verdict.ts";
import { keepResult, loadResult } from "./result-keeping.ts";
import { TimeLimit } from "./time-limit.ts";

/** How often a provider is asked that does not answer, when nothing but an alarm depends on it. */
const MOST_LATE_LOOKS = 5;

/** An effect of any result. */
export type AnyEffect = Effect<unknown, unknown>;

/** One attempt. */
export interface Attempt {
  readonly name: string;
  readonly effect: AnyEffect;
  /** What it is recorded as. */
  readonly own: EffectRecord;
  /** When the record was made; its deadline counts from here. */
  readonly since: Moment;
  /** Whether nothing else is being worked on, and nothing comes after it. */
  readonly isLast: () => boolean;
  /** Hears how the provider did. */
  readonly pass: GatePass;
  /** Asks the provider first. */
  readonly lookup?: (call: EffectCall) => Promise<Lookup<unknown>>;
}

/** From the making of the record to the last moment at which the attempt may run. */
export function attemptSpanMs(session: LedgerSession, effect: AnyEffect, asks: boolean): number {
  return session.parts.options.writePatienceMs + effect.timeoutMs * (asks ? 2 : 1);
}

/**
 * Makes sure that an effect that begins now can end while the job is ours.
 * @throws ControlOutcomeError draining, or lease-lost when the lease cannot be made to reach
 */
export async function assertMayBegin(session: LedgerSession, timeoutMs: number): Promise<void> {
  const { surroundings, parts } = session;
  const neededMs = timeoutMs + parts.options.effectMarginMs;
  surroundings.signal.throwIfAborted();
  assertNoDrain(session, neededMs);
  if (!(await surroundings.reach(neededMs))) session.stop({ kind: "lease-lost" });
  session.assertGoing();
}

function assertNoDrain(session: LedgerSession, neededMs: number): void {
  const drainMs = session.surroundings.drainRemainingMs();
  if (drainMs !== undefined && drainMs < neededMs) session.stop({ kind: "draining" });
}

/**
 * Runs the attempt and records how it ended.
 * @returns what `once` hands back
 * @throws RejectedError, what `run` threw, EffectTimeoutError, ControlOutcomeError
 */
export async function runAttempt(session: LedgerSession, attempt: Attempt): Promise<unknown> {
  const found = await askFirst(session, attempt);
  if (found !== undefined) return await succeed(session, attempt, found.result);
  await assertMaySend(session, attempt);
  const { effect, name } = attempt;
  const limit = new TimeLimit(session, effect.timeoutMs);
  const running = start(() => effect.run(callOf(attempt, limit.signal)));
  let result: unknown;
  try {
    result = await Promise.race([running, limit.over(name)]);
  } catch (thrown) {
    // It may still happen: then its completion is recorded, late as it is.
    const recordLate = (late: unknown) => session.parts.keep(succeed(session, attempt, late));
    running.then(recordLate, () => {}); // what it says so late about not having happened is no news
    return await fail(session, attempt, thrown);
  } finally {
    limit.clear();
  }
  attempt.pass.tell({ kind: "answered" });
  return await succeed(session, attempt, result);
}

/** What the provider says of an earlier attempt; `undefined` when it is to be sent (again). */
async function askFirst(
  session: LedgerSession,
  attempt: Attempt,
): Promise<{ readonly result: unknown } | undefined> {
  const { lookup, name, effect } = attempt;
  if (lookup === undefined) return undefined;
  const limit = new TimeLimit(session, effect.timeoutMs);
  try {
    const asked = start(() => lookup(callOf(attempt, limit.signal)));
    const answer = await Promise.race([asked, limit.over(name)]);
    // The gate hears nothing of it: books that can be read do not say that anything can be written.
    return answer.kind === "applied" ? { result: answer.result } : undefined;
  } catch (thrown) {
    // Nothing is known, and nothing was sent: as open as before.
    const blame = blameFor(session, attempt, thrown);
    await markUnknown(session, attempt);
    return answerFor(session, blame, thrown);
  } finally {
    limit.clear();
  }
}

/**
 * Looks again, right before sending: whoever was paused since its record was made may have lost the
 * lease, and another may have been told by the record that this attempt is over.
 */
async function assertMaySend(session: LedgerSession, attempt: Attempt): Promise<void> {
  const { surroundings, parts } = session;
  const { effect, since } = attempt;
  try {
    const isShort = surroundings.leaseRemainingMs() < effect.timeoutMs;
    if (attempt.lookup !== undefined || isShort) await assertMayBegin(session, effect.timeoutMs);
    session.assertGoing();
    surroundings.signal.throwIfAborted();
    assertNoDrain(session, effect.timeoutMs);
    const isHeld = surroundings.leaseRemainingMs() >= effect.timeoutMs;
    if (!isHeld) session.stop({ kind: "lease-lost" });
    const leftMs = attemptSpanMs(session, effect, attempt.lookup !== undefined);
    if (elapsedMs(parts.clock, since) + effect.timeoutMs > leftMs) {
      session.stop({ kind: "busy", retryAtMs: session.nowMs });
    }
  } catch (outcome) {
    await notSent(session, attempt);
    throw outcome;
  }
}

function callOf({ own }: Attempt, signal: AbortSignal): EffectCall {
  return { key: own.providerKey, signal, epoch: own.epoch, attempt: own.attempts };
}

/** It has happened. Returns once that is recorded. */
async function succeed(
  session: LedgerSession,
  attempt: Attempt,
  result: unknown,
): Promise<unknown> {
  const { name, effect, own } = attempt;
  const { pick } = effect;
  const picked = () => (pick === undefined ? result : pick(result));
  const { stored, value } = await keepResult(session, name, picked);
  const reference = referenceOf(effect, result);
  const other = await recordCompletion(session, {
    ...{ name, own, isLast: attempt.isLast() },
    ...(reference !== undefined && { reference }),
    completion: { outcome: "ok", result: stored },
  });
  return other === undefined ? value : await loadResult(session, name, other);
}

/** It has not happened, or nobody knows. */
async function fail(session: LedgerSession, attempt: Attempt, thrown: unknown): Promise<never> {
  const { name, own } = attempt;
  const code = codeOf(thrown);
  const blame = blameFor(session, attempt, thrown);
  if (code === "EFFECT_NOT_SENT") {
    await notSent(session, attempt);
  } else if (code === "EFFECT_REJECTED" && isFinal(thrown as RejectedError, own)) {
    const { reason, message } = thrown as RejectedError;
    const rejection = { reason, message };
    const isLast = false;
    const completion = { outcome: "rejected", rejection } as const;
    await recordCompletion(session, { name, own, isLast, completion });
  } else if ((await markUnknown(session, attempt))?.kind !== "applied") {
    session.parts.keep(lookLate(session, attempt));
  }
  return answerFor(session, blame, thrown);
}

/** Throws it, as the job's own failure or not. */
function answerFor(session: LedgerSession, blame: GateBlame, thrown: unknown): never {
  if (blame.kind === "held") session.stop({ kind: "held-back", retryAtMs: blame.retryAtMs });
  if (blame.kind === "provider") session.excuse();
  throw thrown;
}

/** Tells the gate what an error says of the provider. */
function blameFor(
  { surroundings }: LedgerSession,
  { pass, effect }: Attempt,
  thrown: unknown,
): GateBlame {
  const verdict = verdictOf(thrown, effect);
  // Broken off by us, it says nothing of the provider.
  const isOurs = verdict?.kind === "down" && surroundings.signal.aborted;
  return verdict === undefined || isOurs ? { kind: "job" } : pass.tell(verdict);
}

/** On a second attempt, a refused key says nothing about the first one. */
function isFinal({ refusedKey }: RejectedError, { attempts }: EffectRecord): boolean {
  return attempts === 1 || refusedKey !== true;
}

/** Nothing was sent in this attempt. What an earlier one sent is as unknown as before. */
async function notSent(session: LedgerSession, attempt: Attempt): Promise<void> {
  const { name, own } = attempt;
  if (own.attempts === 1) await session.write(releaseEffect(session.job, name, own));
  else await markUnknown(session, attempt);
}

/** @returns a refusal when the attempt has been taken over meanwhile, nothing when the store is down */
async function markUnknown(
  session: LedgerSession,
  { name, own }: Attempt,
): Promise<WriteAnswer | undefined> {
  const { parts, job } = session;
  parts.emit({ kind: "effect.unknown", job, effect: name, attempt: own.attempts });
  return await session.write(unknownEffect(job, name, own, session.nowMs));
}

/**
 * Taken over, as far as is known, by whoever asked the provider and was told that nothing had
 * happened: if it has happened since, it has happened twice, and only this worker has a reason to
 * look. What is found is recorded as if it had been answered, which raises the alarm when it is not
 * what the other one did.
 *
 * What was sent a moment ago may show only after the settle time, which a process that ends must not
 * wait for: so there is a look now, which is followed to its end, and one then, which is not.
 */
async function lookLate(session: LedgerSession, attempt: Attempt): Promise<void> {
  const { recover } = attempt.effect;
  const asking = recover.kind === "replay" ? recover.after : recover;
  if (asking.kind !== "query") return;
  void lookSettled(session, attempt, asking);
  const found = await ask(session, attempt, asking);
  if (found.kind === "applied") await succeed(session, attempt, found.result);
}

async function lookSettled(
  session: LedgerSession,
  attempt: Attempt,
  asking: QueryRecovery<unknown>,
): Promise<void> {
  const { clock, options, stopping, keep } = session.parts;
  for (let tries = 0; tries < MOST_LATE_LOOKS; tries += 1) {
    await clock.sleep(asking.settleMs ?? options.settleMs, stopping);
    if (stopping.aborted) return;
    const found = await ask(session, attempt, asking).catch(() => undefined); // it cannot tell now
    if (found?.kind === "applied") keep(succeed(session, attempt, found.result));
    if (found !== undefined) return;
  }
}

async function ask(
  session: LedgerSession,
  attempt: Attempt,
  asking: QueryRecovery<unknown>,
): Promise<Lookup<unknown>> {
  const abort = new AbortController();
  const clear = session.parts.clock.schedule(attempt.effect.timeoutMs, () => abort.abort());
  try {
    return await asking.lookup(callOf(attempt, abort.signal));
  } finally {
    clear();
  }
}

/** Whatever it does, at once or later, becomes a promise. */
function start<Result>(call: () => Promise<Result>): Promise<Result> {
  return Promise.resolve().then(call);
}

function referenceOf({ reference }: AnyEffect, result: unknown): string | undefined {
  try {
    return reference?.(result);
  } catch {
    return undefined; // the result is more important than a word about it
  }
}
