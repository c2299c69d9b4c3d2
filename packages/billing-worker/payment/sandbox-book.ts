/** All that the local payment provider knows, in memory and in its file. */

import type {
  LateRequest,
  SandboxAnswer,
  SandboxChange,
  SandboxCharge,
  SandboxIntent,
  StoredAnswer,
} from "./sandbox-change.ts";
import { SandboxFile } from "./sandbox-file.ts";
import { keyInUse, otherParameters } from "./sandbox-refusal.ts";

/**
 * How long an idempotency key is kept: "at least 24 hours old" before it may be removed.
 * @see Stripe API Reference, "Idempotent requests"
 */
const KEY_WINDOW_MS = 24 * 60 * 60 * 1000;

interface Revision {
  readonly atMs: number;
  readonly intent: SandboxIntent;
}

/** Which intents a question is about. */
export type IntentFilter = (intent: SandboxIntent) => boolean;

/** The provider's memory. Everything it is told is in its file before the call returns. */
export class SandboxBook {
  readonly #revisions = new Map<string, Revision[]>();
  readonly #charges: SandboxCharge[] = [];
  readonly #answers = new Map<string, StoredAnswer>();
  readonly #late = new Map<string, LateRequest>();
  readonly #keysInUse = new Set<string>();
  readonly #file: SandboxFile;

  /** @throws PaymentSandboxError when the file is not one of this provider */
  constructor(path: string) {
    this.#file = SandboxFile.open(path, (change) => this.#apply(change));
  }

  get charges(): readonly SandboxCharge[] {
    return this.#charges;
  }

  /** Requests that were taken and have not landed, also from before a restart. */
  get lateRequests(): readonly LateRequest[] {
    return [...this.#late.values()];
  }

  intent(id: string): SandboxIntent | undefined {
    return this.#revisions.get(id)?.at(-1)?.intent;
  }

  /** Newest first, each as it is now. */
  intents(filter: IntentFilter): readonly SandboxIntent[] {
    return [...this.#revisions.keys()]
      .map((id) => this.intent(id) as SandboxIntent)
      .filter(filter)
      .reverse();
  }

  /** Newest first, each as it was at `asOfMs`; those that came later are not there. */
  intentsAsOf(asOfMs: number, filter: IntentFilter): readonly SandboxIntent[] {
    return [...this.#revisions.values()]
      .flatMap((revisions) => revisions.findLast(({ atMs }) => atMs <= asOfMs)?.intent ?? [])
      .filter(filter)
      .reverse();
  }

  /**
   * What is stored under this key, or `undefined` when the request may be executed; so may each
   * that has no key.
   * @throws SandboxRefusal when the key is in use or was used with other parameters
   */
  answerTo(key: string, fingerprint: string, nowMs: number): StoredAnswer | undefined {
    if (key === "") return undefined;
    if (this.#keysInUse.has(key)) throw keyInUse(key);
    const stored = this.#answers.get(key);
    if (stored === undefined) return undefined;
    if (nowMs - stored.atMs >= KEY_WINDOW_MS) {
      this.#answers.delete(key);
      return undefined;
    }
    if (stored.fingerprint !== fingerprint) throw otherParameters(key);
    return stored;
  }

  /** Writes and remembers the changes of one request, all of them or none. */
  commit(changes: readonly SandboxChange[]): void {
    this.#file.append(changes);
    for (const change of changes) this.#apply(change);
  }

  close(): void {
    this.#file.close();
  }

  #apply(change: SandboxChange): void {
    switch (change.kind) {
      case "intent": {
        const { atMs, intent } = change;
        const revisions = this.#revisions.get(intent.id) ?? [];
        this.#revisions.set(intent.id, [...revisions, { atMs, intent }]);
        break;
      }
      case "charge":
        this.#charges.push(change.charge);
        break;
      case "answer":
        this.#answers.set(change.answer.key, change.answer);
        break;
      case "late":
        this.#late.set(change.request.requestId, change.request);
        if (change.request.key !== "") this.#keysInUse.add(change.request.key);
        break;
      case "landed":
        this.#keysInUse.delete(this.#late.get(change.requestId)?.key ?? "");
        this.#late.delete(change.requestId);
        break;
    }
  }
}

/** What an executed request leaves: its changes, and the answer under its key when it had one. */
export function changesOf(
  outcome: { readonly answer: SandboxAnswer; readonly changes: readonly SandboxChange[] },
  request: Pick<StoredAnswer, "key" | "fingerprint" | "requestId" | "atMs">,
): readonly SandboxChange[] {
  if (request.key === "") return outcome.changes;
  const { key, fingerprint, requestId, atMs } = request;
  const answer = { ...outcome.answer, key, fingerprint, requestId, atMs };
  return [...outcome.changes, { kind: "answer", answer }];
}
