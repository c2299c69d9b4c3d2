/** Parked jobs for an operator: find, resolve, send again. */

import { randomUUID } from "node:crypto";
import type { Clock } from "@leasehold/clock";
import type { JobIdentity, MessageCopy } from "@leasehold/job";
import { toJson } from "./effect-key.ts";
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
   * @param by - who says so; kept in the record
   * @throws ResolveRefusedError when the job is not parked, or was resolved otherwise
   * @throws StoreUnavailableError
   */
  async resolve(job: JobIdentity, verdict: Verdict, by: string): Promise<Resolved> {
    const record = await this.#parts.store.read(job);
    if (record === undefined) throw new ResolveRefusedError(`${nameOf(job)} has no record`);
    const marked = record.state === "parked" ? await this.#mark(record, verdict, by) : record;
    if (marked.resolution?.verdict !== verdict.kind) {
      throw new ResolveRefusedError(`${nameOf(job)} is not parked, it is ${record.state}`);
    }
    if (marked.resendToken === undefined) {
      if (marked === record) throw new ResolveRefusedError(`${nameOf(job)} is resolved already`);
      return { kind: "finished" };
    }
    return await this.#sendAgain(marked, marked.resendToken);
  }

  async #mark(record: JobRecord, verdict: Verdict, by: string): Promise<JobRecord> {
    const { store, clock, unique = randomUUID } = this.#parts;
    const resolution: Resolution = { verdict: verdict.kind, by, atMs: clock.wallMs() };
    // A job that was parked for its age has no effect: done means that all of it is done.
    const isOver = record.parked?.effect === undefined && verdict.kind === "done";
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
    await send(await this.#messageOf(record));
    // Refused when it was parked anew meanwhile: then that message is the one that counts.
    await store.write(clearResend(record, resendToken, clock.wallMs()));
    return { kind: "sent-again" };
  }

  async #messageOf(record: JobRecord): Promise<MessageCopy> {
    const stored = record.parked?.message;
    if (stored?.kind === "inline") return stored.message;
    const text = stored && (await this.#parts.results?.get(stored.at));
    if (text !== undefined) return readMessageText(text);
    throw new ResolveRefusedError(`the message of ${nameOf(record)} is not found`);
  }
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
