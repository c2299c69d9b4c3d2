/** Guards around one charge for each job: the job ledger and Powertools, each as its users write it. */

import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import { systemClock } from "@leasehold/clock";
import { createLedger, DynamodbLedgerStore, type Ledger } from "@leasehold/idempotency";
import {
  type ControlOutcome,
  type Effect,
  type OpenRequest,
  park,
  parseJobId,
  parseJobType,
  parseTenantId,
  query,
} from "@leasehold/job";
import middy from "@middy/core";
import { clientFor } from "../support/ledger-table.ts";
import type { GuardTableNames } from "./guard-tables.ts";

/** One delivery of a job. */
export interface GuardedDelivery {
  readonly jobId: string;
  readonly messageId: string;
  readonly receiveCount: number;
}

/** What a guard makes of a delivery. */
export type GuardAnswer =
  | { readonly kind: "acked" }
  /** An operator must decide; the message is stored and can go. */
  | { readonly kind: "parked" }
  /** Not now; at its time, or when the message becomes visible again. */
  | { readonly kind: "again"; readonly why: string; readonly atMs?: number };

/** What a charge comes to. */
export interface Charge {
  readonly id: string;
}

/** Where charges are made: the outside world of a guard. */
export interface Provider {
  charge(jobId: string): Promise<Charge>;
  /** A charge that was made for the job. */
  find(jobId: string): Promise<Charge | undefined>;
}

/** What a guard works with. */
export interface GuardParts {
  readonly endpoint: string;
  readonly tables: GuardTableNames;
  readonly provider: Provider;
  /** How long a delivery may take. */
  readonly leaseMs: number;
  /** Whether the guard is told that; one of them can do without. @defaultValue true */
  readonly tellsRemainingTime?: boolean;
  /** Hears of each alarm. */
  readonly onAlarm?: () => void;
}

/** A guard at work. */
export interface Guard extends Disposable {
  deliver(delivery: GuardedDelivery): Promise<GuardAnswer>;
}

/** The guards, ours first. */
export const guards: Readonly<Record<string, (parts: GuardParts) => Guard>> = {
  "leasehold query": (parts) => new LedgerGuard(parts, "query"),
  "leasehold park": (parts) => new LedgerGuard(parts, "park"),
  powertools: (parts) => powertoolsGuard(parts),
  "powertools middy": (parts) => middyGuard(parts),
};

/** The ledger's times, short enough to be waited for. */
const EFFECT_TIMEOUT_MS = 800;
const LEDGER_OPTIONS = {
  ...{ writePatienceMs: 500, effectMarginMs: 100, ledgerSkewMs: 100, settleMs: 300 },
};

function payloadOf(jobId: string) {
  return { invoice: jobId, cents: 1_200, currency: "eur" };
}

class LedgerGuard implements Guard {
  readonly #parts: GuardParts;
  readonly #policy: "query" | "park";
  readonly #client: ReturnType<typeof clientFor>;
  readonly #ledger: Ledger;

  constructor(parts: GuardParts, policy: "query" | "park") {
    this.#parts = parts;
    this.#policy = policy;
    const client = clientFor(parts.endpoint);
    const store = { client, tableName: parts.tables.leasehold, clock: systemClock };
    this.#client = client;
    this.#ledger = createLedger({
      store: new DynamodbLedgerStore(store),
      ...{ clock: systemClock, environment: "bench", workerId: `w-${process.pid}` },
      options: LEDGER_OPTIONS,
      onEvent: (event) => {
        if ("alarm" in event && event.alarm) parts.onAlarm?.();
      },
    });
  }

  async deliver(delivery: GuardedDelivery): Promise<GuardAnswer> {
    const { jobId } = delivery;
    const opening = await this.#ledger.open(this.#request(delivery));
    if (opening.kind !== "open") return answerTo(opening);
    let isCharged = false;
    try {
      await opening.once("charge", payloadOf(jobId), this.#effect(jobId));
      isCharged = true;
    } catch {
      // What it means for the message, the ending says.
    }
    const ended = await opening.end({ kind: isCharged ? "succeeded" : "failed" });
    if (ended.kind === "unsettled") return again("unsettled", ended.retryAtMs);
    if (ended.kind === "stopped") return answerTo(ended.outcome);
    return isCharged ? { kind: "acked" } : again("failed", opening.settleAtMs);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  #request({ jobId, messageId, receiveCount }: GuardedDelivery): OpenRequest {
    const createdAtMs = systemClock.wallMs();
    const leaseUntilMs = createdAtMs + this.#parts.leaseMs;
    return {
      job: {
        tenantId: parseTenantId("acme"),
        jobType: parseJobType("payment.capture"),
        jobId: parseJobId(jobId),
      },
      ...{ messageId, receiveCount },
      surroundings: {
        leaseUntilMs: () => leaseUntilMs,
        leaseRemainingMs: () => Math.max(0, leaseUntilMs - systemClock.wallMs()),
        reach: async (forMs) => systemClock.wallMs() + forMs <= leaseUntilMs,
        drainRemainingMs: () => undefined,
        signal: new AbortController().signal,
        copyMessage: () => ({ queue: "jobs", body: JSON.stringify({ jobId }), attributes: {} }),
        createdAtMs,
        payload: payloadOf(jobId),
      },
    };
  }

  #effect(jobId: string): Effect<Charge> {
    const { provider } = this.#parts;
    const look = async () => {
      const result = await provider.find(jobId);
      return result === undefined
        ? ({ kind: "absent" } as const)
        : ({ kind: "applied", result } as const);
    };
    return {
      timeoutMs: EFFECT_TIMEOUT_MS,
      recover: this.#policy === "query" ? query<Charge>(look) : park(),
      run: () => provider.charge(jobId),
      last: true,
    };
  }
}

function again(why: string, atMs?: number): GuardAnswer {
  return { kind: "again", why, ...(atMs !== undefined && { atMs }) };
}

function answerTo(outcome: ControlOutcome): GuardAnswer {
  if (outcome.kind === "done") return { kind: "acked" };
  if (outcome.kind === "parked") return { kind: "parked" };
  return again(outcome.kind, outcome.kind === "busy" ? outcome.retryAtMs : undefined);
}

interface PowertoolsParts {
  readonly persistenceStore: DynamoDBPersistenceLayer;
  readonly config: IdempotencyConfig;
  readonly client: ReturnType<typeof clientFor>;
}

/** With the options that it has unless told otherwise. */
function powertoolsParts({ endpoint, tables }: GuardParts): PowertoolsParts {
  const client = clientFor(endpoint);
  const store = { tableName: tables.powertools, awsSdkV3Client: client };
  return {
    client,
    persistenceStore: new DynamoDBPersistenceLayer(store),
    config: new IdempotencyConfig({}),
  };
}

type Payload = ReturnType<typeof payloadOf>;
type Guarded = (payload: Payload, context: object) => Promise<unknown>;

function powertoolsGuard(parts: GuardParts): Guard {
  const { client, persistenceStore, config } = powertoolsParts(parts);
  const charge = async ({ invoice }: Payload, _context: object) => parts.provider.charge(invoice);
  const guarded = makeIdempotent(charge, { persistenceStore, config });
  return guardOf(guarded as Guarded, parts, client);
}

function middyGuard(parts: GuardParts): Guard {
  const { client, persistenceStore, config } = powertoolsParts(parts);
  const charge = async ({ invoice }: Payload) => parts.provider.charge(invoice);
  const guarded = middy(charge).use(makeHandlerIdempotent({ persistenceStore, config }));
  return guardOf(guarded as unknown as Guarded, parts, client);
}

/** An error leaves the message where it is, as a Lambda function behind SQS does. */
function guardOf(
  guarded: Guarded,
  { leaseMs, tellsRemainingTime = true }: GuardParts,
  client: Pick<ReturnType<typeof clientFor>, "destroy">,
): Guard {
  return {
    deliver: async ({ jobId }) => {
      const endsAtMs = systemClock.wallMs() + leaseMs;
      const getRemainingTimeInMillis = () => Math.max(0, endsAtMs - systemClock.wallMs());
      try {
        await guarded(payloadOf(jobId), tellsRemainingTime ? { getRemainingTimeInMillis } : {});
        return { kind: "acked" };
      } catch (error) {
        return again(error instanceof Error ? error.name : String(error));
      }
    },
    [Symbol.dispose]: () => client.destroy(),
  };
}
