/** Parked jobs for an operator: find, resolve, send again. */

import { randomUUID } from "node:crypto";
import type { Clock } from "@leasehold/clock";
import type { JobIdentity, MessageCopy } from "@leasehold/job";
import { contentHash, toJson } from "./effect-key.ts";
import { ResolveRefusedError } from "./errors.ts";
import type { EffectRecord, JobRecord, Resolution } from "./ledger-record.ts";
import type { LedgerStore, ParkedPage, ParkedQuery } from "./ledger-store.ts";
import { readMessageText } from "./message-text.ts";
import { clearResend, resolveParked } from "./operator-writes.ts";
import type { ResultStore } from "./result-store.ts";

/** What an operator found out. */
export type Verdict =
  /** It has happened, with this result, as `once` would have kept it. */
  | { readonly kind: "done"; readonly result?: unknown }
  /** It has certainly not happened, and will not: it is done anew. */
  | { readonly kind: "not-done" };

/** Who says so, why, and of what; kept in the record. */
export interface OperatorWord {
  readonly by: string;
  /** How they know, in a sentence. */
  readonly reason?: string;
  /** The effect that was looked at; absent when the job waits as a whole, for its age. */
  readonly effect?: string;
}

/** What became of a resolution. */
export type Resolved =
  /** Its message was sent again; the rest of the job runs. */
  | { readonly kind: "sent-again" }
  /** Nothing was left to run. */
  | { readonly kind: "finished" };

/** What resolving needs. */
export interface ParkedJobsArguments {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** Sends a stored message to the queue that it came from; durable when it returns. */
  readonly send: (message: MessageCopy) => Promise<void>;
  /** Where messages lie that were too big for a record. */
  readonly results?: ResultStore;
  /** A text that nobody else has. @defaultValue a random UUID */
  readonly unique?: () => string;
}

/** The jobs that wait for an operator. */
export class ParkedJobs {
  readonly #parts: ParkedJobsArguments;

  constructor(parts: ParkedJobsArguments) {
    this.#parts = parts;
  }

  /** @throws StoreUnavailableError */
  async list(query: ParkedQuery): Promise<ParkedPage> {
    return await this.#parts.store.listParked(query);
  }

  /**
   * Takes an operator's word and has the job go on. The word is written first, with a mark that the
   * message is to be sent again; killed in between, it can be run again and takes up where it was.
   *
   * @throws ResolveRefusedError when the job is not parked, waits for another effect, or was
   * resolved otherwise
   * @throws StoreUnavailableError
   */
  async resolve(job: JobIdentity, verdict: Verdict, word: OperatorWord): Promise<Resolved> {
    const record = await this.#parts.store.read(job);
    if (record === undefined) throw new ResolveRefusedError(`${nameOf(job)} has no record`);
    refuseOtherEffect(record, word);
    const marked = record.state === "parked" ? await this.#mark(record, verdict, word) : record;
    if (marked.resolution?.verdict !== verdict.kind) {
      throw new ResolveRefusedError(`${nameOf(job)} is not parked, it is ${record.state}`);
    }
    if (marked.resendToken === undefined) {
      if (marked === record) throw new ResolveRefusedError(`${nameOf(job)} is resolved already`);
      return { kind: "finished" };
    }
    if (marked === record) refuseOtherResult(record, verdict);
    return await this.#sendAgain(marked, marked.resendToken);
  }

  async #mark(record: JobRecord, verdict: Verdict, word: OperatorWord): Promise<JobRecord> {
    const { store, clock, unique = randomUUID } = this.#parts;
    const { by, reason } = word;
    const resolution: Resolution = {
      ...{ verdict: verdict.kind, by, atMs: clock.wallMs() },
      ...(reason !== undefined && { reason }),
    };
    // A job that was parked for its age has no effect: done means that all of it is done.
    const isOver = record.parked?.effect === undefined && verdict.kind === "done";
    // A word whose message cannot be found would leave a job that is neither parked nor ever run.
    if (!isOver) await this.#messageOf(record);
    const write = resolveParked(record, resolution, {
      owner: `operator:${unique()}`,
      effects: resolvedEffects(record, verdict),
      ...(isOver ? {} : { resendToken: unique() }),
    });
    const answer = await store.write(write);
    if (answer.kind === "applied" && answer.record !== undefined) return answer.record;
    throw new ResolveRefusedError(`${nameOf(record)} has changed meanwhile: look at it again`);
  }

  async #sendAgain(record: JobRecord, resendToken: string): Promise<Resolved> {
    const { store, clock, send } = this.#parts;
    const message = await this.#messageOf(record);
    // Under its own id a FIFO queue would swallow it as a repetition of the first; under this one it
    // swallows what a command that is run again sends twice.
    const { deduplicationId } = message;
    await send(
      deduplicationId === undefined ? message : { ...message, deduplicationId: resendToken },
    );
    // Refused when it was parked anew meanwhile: then that message is the one that counts.
    await store.write(clearResend(record, resendToken, clock.wallMs()));
    return { kind: "sent-again" };
  }

  async #messageOf(record: JobRecord): Promise<MessageCopy> {
    const stored = record.parked?.message;
    if (stored?.kind === "inline") return stored.message;
    const text = stored && (await this.#parts.results?.get(stored.at));
    if (text !== undefined) return readMessageText(text);
    const where =
      stored === undefined ? "" : ` at ${stored.at}: give the store that its worker has`;
    throw new ResolveRefusedError(`the message of ${nameOf(record)} is not found${where}`);
  }
}

/** Whoever found out about one effect has said nothing about another. */
function refuseOtherEffect(record: JobRecord, word: OperatorWord): void {
  if (record.parked === undefined || record.parked.effect === word.effect) return;
  const { effect } = record.parked;
  const waits =
    effect === undefined ? "as a whole, for no effect of it" : `for its effect ${effect}`;
  const got = word.effect === undefined ? "none was named" : `${word.effect} was named`;
  throw new ResolveRefusedError(`${nameOf(record)} waits ${waits}: ${got}`);
}

/** Run again it takes up where it was; it does not change what was said. */
function refuseOtherResult(record: JobRecord, verdict: Verdict): void {
  if (verdict.kind !== "done" || verdict.result === undefined) return;
  const said = record.effects[record.parked?.effect ?? ""]?.result;
  if (said?.kind !== "inline") return;
  if (
    contentHash("the result", verdict.result) === contentHash("the result", JSON.parse(said.json))
  )
    return;
  throw new ResolveRefusedError(`${nameOf(record)} was resolved with another result: ${said.json}`);
}

function resolvedEffects(record: JobRecord, verdict: Verdict): JobRecord["effects"] {
  const name = record.parked?.effect;
  const effect = name === undefined ? undefined : record.effects[name];
  if (name === undefined || effect === undefined) return {};
  return { [name]: resolvedEffect(effect, verdict) };
}

function resolvedEffect(effect: EffectRecord, verdict: Verdict): EffectRecord {
  const { rejection, lateResult, ...rest } = effect;
  if (verdict.kind === "not-done") {
    // A rejection stays what it was: only the late word about it was wrong.
    if (effect.state === "done") return { ...rest, ...(rejection && { rejection }) };
    return { ...rest, state: "released", attempts: 0 };
  }
  const json = toJson("the result", verdict.result);
  const given = json === undefined ? undefined : ({ kind: "inline", json } as const);
  const result = given ?? lateResult ?? effect.result ?? { kind: "dropped" as const };
  return { ...rest, state: "done", outcome: "ok", result };
}

function nameOf({ tenantId, jobType, jobId }: JobIdentity): string {
  return `job ${jobId} of type ${jobType} of tenant ${tenantId}`;
}
