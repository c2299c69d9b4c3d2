/** What every ledger store promises, whatever it stands on; nothing here waits for time to pass. */

import { randomUUID } from "node:crypto";
import {
  type EffectRecord,
  type JobRecord,
  type LedgerStore,
  type LedgerWrite,
  MemoryLedgerStore,
  type Parked,
} from "@leasehold/idempotency";
import { type JobIdentity, parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A store, and what is counted of it. */
export interface LedgerStoreUnderTest {
  readonly store: LedgerStore;
  /** Requests that left for the store so far. */
  requests(): number;
  /** What a refused write may cost: one request where the answer carries the item, else two. */
  readonly refusalCosts: readonly number[];
  /** How many random histories are run on it. */
  readonly histories: number;
  close(): Promise<void>;
}

/** A server of its own may have to be started, and may be slow. */
const STARTS_WITHIN_MS = 60_000;

/** Whole seconds, as a time to live must be. */
const AT = 1_800_000_000_000;

const opened = {
  state: "open",
  generation: 1,
  epoch: 1,
  owner: "w-1:a",
  leaseUntilMs: AT + 60_000,
  messageId: "m-1",
  receiveCount: 1,
  payloadHash: "p",
  createdAtMs: AT,
  updatedAtMs: AT,
  failures: 0,
  interruptions: 0,
  putOffs: 0,
  starts: 1,
  endings: 0,
  expiresAtMs: AT + 3_600_000,
} as const;

const started: EffectRecord = {
  state: "started",
  epoch: 1,
  nonce: "n-1",
  attempts: 1,
  firstSentAtMs: AT,
  deadlineAtMs: AT + 10_000,
  inputHash: "i",
  providerKey: "k",
};

const done: EffectRecord = {
  ...started,
  state: "done",
  outcome: "ok",
  result: { kind: "inline", json: '{"id":"ch_1"}' },
};

const parked: Parked = {
  atMs: AT + 1,
  why: "outcome-unknown",
  effect: "charge",
  token: "park-1",
  message: {
    kind: "inline",
    message: {
      queue: "jobs",
      body: '{"über":"€"}',
      attributes: {
        text: { dataType: "String", value: "x" },
        bytes: { dataType: "Binary.png", value: new Uint8Array([0, 127, 255]) },
      },
      groupId: "acme",
    },
  },
};

/** A table elsewhere may have the jobs of earlier runs. */
const run = randomUUID().slice(0, 8);
let jobs = 0;

/** A job of its own for each test, so that one table serves all. */
function freshJob(tenant = "acme"): JobIdentity {
  jobs += 1;
  return {
    tenantId: parseTenantId(tenant),
    jobType: parseJobType("payment.capture"),
    jobId: parseJobId(`invoice-${run}-${jobs}`),
  };
}

function openNew(job: JobIdentity, effects: JobRecord["effects"] = {}): LedgerWrite {
  const patch = { set: opened, effects };
  return { name: "open-new", job, condition: { absent: true }, patch, returnsRecord: true };
}

/** Describes one adapter. */
export function describeLedgerStore(
  adapter: string,
  open: () => Promise<LedgerStoreUnderTest>,
): void {
  describe(`the ledger store on ${adapter}`, () => {
    let under: LedgerStoreUnderTest;
    beforeAll(async () => {
      under = await open();
    }, STARTS_WITHIN_MS);
    afterAll(async () => {
      await under.close();
    });

    const setup = async (effects: JobRecord["effects"] = {}) => {
      const { store } = under;
      const job = freshJob();
      const first = await store.write(openNew(job, effects));
      const fence = { epoch: 1, owner: "w-1:a", states: ["open"] } as const;
      const costOf = async <Value>(work: () => Promise<Value>) => {
        const before = under.requests();
        const value = await work();
        return { value, requests: under.requests() - before };
      };
      return { store, job, first, fence, costOf };
    };

    test("makes a record with all that was said of it, and reads it back", async () => {
      const { store, job, first } = await setup({ charge: started });
      const record = { ...job, ...opened, effects: { charge: started } };
      expect(first).toEqual({ kind: "applied", record });
      expect(await store.read(job)).toEqual(record);
    });

    test("knows nothing of a job that was never written", async () => {
      expect(await under.store.read(freshJob())).toBeUndefined();
    });

    test("keeps jobs apart whose parts run into each other", async () => {
      const { store } = under;
      const jobType = parseJobType("a.b");
      const y = `${run}-${adapter}`;
      const one = { tenantId: parseTenantId("x#a.b"), jobType, jobId: parseJobId(y) };
      const other = { tenantId: parseTenantId("x"), jobType, jobId: parseJobId(`a.b#${y}`) };
      const third = { tenantId: parseTenantId("x%23a.b"), jobType, jobId: parseJobId(y) };
      for (const job of [one, other, third]) {
        expect(await store.write(openNew(job))).toMatchObject({ kind: "applied" });
      }
      expect(await store.read(other)).toMatchObject({ tenantId: "x", jobId: `a.b#${y}` });
    });

    test("refuses a second record, and shows the one that is there", async () => {
      const { store, job, costOf } = await setup();
      const other = { ...openNew(job), patch: { set: { ...opened, owner: "w-2:b" } } };
      const { value, requests } = await costOf(() => store.write(other));
      expect(value).toEqual({ kind: "refused", record: { ...job, ...opened, effects: {} } });
      expect(under.refusalCosts).toContain(requests);
    });

    test("takes a write whose answer was lost for made, whatever passed since", async () => {
      const { store, job, fence } = await setup();
      const start: LedgerWrite = {
        name: "start",
        job,
        condition: { ...fence, effect: { name: "charge", states: ["released"], orAbsent: true } },
        patch: {
          set: { updatedAtMs: AT + 1 },
          remove: ["expiresAtMs"],
          effects: { charge: started },
        },
      };
      await store.write(start);
      const beat = { leaseUntilMs: AT + 90_000, updatedAtMs: AT + 2 };
      await store.write({ name: "heartbeat", job, condition: fence, patch: { set: beat } });
      expect(await store.write(openNew(job, {}))).toMatchObject({ kind: "applied" });
      expect(await store.write(start)).toMatchObject({ kind: "applied" });
      expect(await store.read(job)).toMatchObject({ updatedAtMs: AT + 2 });
    });

    test("does not take another's write for its own", async () => {
      const { store, job, fence } = await setup({ charge: { ...started, nonce: "n-2" } });
      const start: LedgerWrite = {
        name: "start",
        job,
        condition: { ...fence, effect: { name: "charge", states: ["released"], orAbsent: true } },
        patch: { set: {}, effects: { charge: started } },
      };
      expect(await store.write(start)).toMatchObject({ kind: "refused" });
    });

    test.each([
      ["another epoch", { epoch: 2 }],
      ["another owner", { owner: "w-2:b" }],
      ["another state", { states: ["done", "parked"] as const }],
      ["another parking", { parkToken: "park-9" }],
      ["another resend", { resendToken: "resend-9" }],
      ["an effect of another nonce", { effect: { nonce: "n-9" } }],
      ["an effect in another state", { effect: { states: ["released"] as const } }],
      ["an effect with another number of attempts", { effect: { attempts: 2 } }],
      ["an effect that is not there", { effect: { name: "refund" } }],
      ["an open effect that must be closed", { closed: ["charge"] }],
      ["an absent effect that must be closed", { closed: ["refund"] }],
    ])("refuses a write on condition of %s", async (_, { effect, ...condition }: Condition) => {
      const { store, job } = await setup({ charge: started });
      const wanted = { name: "charge", states: ["started", "unknown"] as const, ...effect };
      const write: LedgerWrite = {
        name: "end",
        job,
        condition: { ...condition, ...(effect !== undefined && { effect: wanted }) },
        patch: { set: { failures: 1 } },
      };
      expect(await store.write(write)).toMatchObject({ kind: "refused", record: { failures: 0 } });
    });

    test("takes a write whose every condition holds, and leaves the rest as it was", async () => {
      const reason = { code: "spent", detail: "5 of 5", counts: { failures: 5 } };
      const { store, job, fence } = await setup({ charge: started, refund: done });
      const write: LedgerWrite = {
        name: "end",
        job,
        condition: {
          ...fence,
          closed: ["refund"],
          effect: { name: "charge", states: ["started"], nonce: "n-1", attempts: 1 },
        },
        patch: { set: { failures: 1, reason }, remove: ["expiresAtMs"] },
      };
      expect(await store.write(write)).toEqual({ kind: "applied" });
      const { expiresAtMs: _, ...rest } = opened;
      const effects = { charge: started, refund: done };
      expect(await store.read(job)).toEqual({
        ...{ ...job, ...rest, failures: 1 },
        ...{ reason, effects },
      });
    });

    test("makes no record by a write that wants one", async () => {
      const job = freshJob();
      const write: LedgerWrite = {
        name: "finish",
        job,
        condition: { epoch: 1 },
        patch: { set: { state: "done" } },
      };
      expect(await under.store.write(write)).toEqual({ kind: "refused", record: undefined });
      expect(await under.store.read(job)).toBeUndefined();
    });

    test("gives back every kind of effect as it was", async () => {
      const effects: JobRecord["effects"] = {
        a: { ...started, state: "unknown", attempts: 3, tombstone: true },
        "b.c-d_e": { ...done, late: true },
        rejected: {
          ...started,
          state: "done",
          outcome: "rejected",
          rejection: { reason: "card_declined", message: "nein, €" },
          lateResult: { kind: "reference", at: "r" },
        },
        dropped: { ...done, result: { kind: "dropped" } },
      };
      const { store, job } = await setup(effects);
      expect((await store.read(job))?.effects).toEqual(effects);
    });

    test("keeps a parked message of 256 KiB that is all quotes, and one that lies elsewhere", async () => {
      const { store, job, fence } = await setup({ charge: started });
      const body = '"'.repeat(128 * 1_024);
      const big: Parked = {
        ...parked,
        message: { kind: "inline", message: { queue: "jobs", body, attributes: {} } },
      };
      const elsewhere: Parked = { ...parked, message: { kind: "reference", at: "r" } };
      const park = async (how: Parked, condition: LedgerWrite["condition"]) => {
        const patch = { set: { state: "parked", parked: how } } as const;
        expect(await store.write({ name: "park", job, condition, patch })).toMatchObject({
          kind: "applied",
        });
        return (await store.read(job))?.parked;
      };
      expect(await park(elsewhere, fence)).toEqual(elsewhere);
      expect(await park(big, { parkToken: "park-1" })).toEqual(big);
      expect(await park(elsewhere, { parkToken: "park-1" })).toEqual(elsewhere);
    });

    test("lists parked jobs of a tenant, the oldest first, page by page, until they are not", async () => {
      const { store } = under;
      const tenant = `tenant-${run}-${jobs}`;
      const park = async (atMs: number) => {
        const job = freshJob(tenant);
        await store.write(openNew(job, { charge: started }));
        const set = { state: "parked", parked: { ...parked, atMs } } as const;
        const condition = { states: ["open"] } as const;
        const remove = ["expiresAtMs"] as const;
        await store.write({ name: "park", job, condition, patch: { set, remove } });
        return job;
      };
      const late = await park(AT + 2);
      const early = await park(AT + 1);
      await store.write(openNew(freshJob(tenant)));

      const page = await store.listParked({ tenantId: tenant, limit: 1 });
      expect(page.records).toEqual([await store.read(early)]);
      expect(page.records[0]?.parked).toEqual({ ...parked, atMs: AT + 1 });
      const next = await store.listParked({ tenantId: tenant, limit: 5, after: page.next ?? "" });
      expect(next.records.map(({ jobId }) => jobId)).toEqual([late.jobId]);

      const everybody = await store.listParked({ limit: 1_000 });
      expect(everybody.records.map(({ jobId }) => jobId)).toContain(late.jobId);

      const condition = { parkToken: "park-1" };
      const patch = { set: { state: "open" }, remove: ["parked"] } as const;
      await store.write({ name: "resolve", job: early, condition, patch });
      const left = await store.listParked({ tenantId: tenant, limit: 5 });
      expect(left.records.map(({ jobId }) => jobId)).toEqual([late.jobId]);
    });

    test(
      "answers any history of writes as the store in memory does",
      async () => {
        const seen = { applied: 0, refused: 0 };
        const history = fc.array(anyWrite, { minLength: 2, maxLength: 12 });
        await fc.assert(
          fc.asyncProperty(history, async (writes) => {
            const job = freshJob();
            const model = new MemoryLedgerStore();
            for (const write of writes) {
              const expected = await model.write({ ...write, job });
              expect(await under.store.write({ ...write, job })).toEqual(expected);
              seen[expected.kind] += 1;
            }
            expect(await under.store.read(job)).toEqual(await model.read(job));
          }),
          { numRuns: under.histories, seed: 4 },
        );
        expect(seen.applied).toBeGreaterThan(under.histories / 2);
        expect(seen.refused).toBeGreaterThan(under.histories / 2);
      },
      STARTS_WITHIN_MS,
    );
  });
}

interface Condition {
  readonly [field: string]: unknown;
  readonly effect?: object;
}

const effectNames = fc.constantFrom("charge", "refund");
const states = fc.constantFrom("open", "done", "parked", "dead", "cancelled") as fc.Arbitrary<
  JobRecord["state"]
>;
const effectStates = fc.constantFrom("started", "unknown", "released", "done") as fc.Arbitrary<
  EffectRecord["state"]
>;
const anyEffect: fc.Arbitrary<EffectRecord> = fc
  .record({ state: effectStates, nonce: fc.constantFrom("n-1", "n-2"), attempts: fc.nat(2) })
  .map((fields) => ({ ...started, ...fields }));
const anyEffectCondition = fc.record(
  {
    name: effectNames,
    states: fc.uniqueArray(effectStates, { minLength: 1, maxLength: 3 }),
    orAbsent: fc.boolean(),
    nonce: fc.constantFrom("n-1", "n-2"),
    attempts: fc.nat(2),
  },
  { requiredKeys: ["name", "states"] },
);
const anyCondition = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ absent: true as const }) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        epoch: fc.integer({ min: 1, max: 2 }),
        owner: fc.constantFrom("w-1:a", "w-2:b"),
        states: fc.uniqueArray(states, { minLength: 1, maxLength: 4 }),
        effect: anyEffectCondition,
        closed: fc.uniqueArray(effectNames, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  },
);
/** Any write of one job; the ones that make the record say all that a record must have. */
const anyWrite: fc.Arbitrary<Omit<LedgerWrite, "job">> = fc
  .record({
    condition: anyCondition,
    set: fc.record(
      {
        state: states,
        epoch: fc.integer({ min: 1, max: 2 }),
        owner: fc.constantFrom("w-1:a", "w-2:b"),
        failures: fc.nat(2),
        checkpoint: fc.constantFrom("1", "2"),
        expiresAtMs: fc.constantFrom(AT, AT + 1_000),
        parked: fc.constant(parked),
        vouched: fc.constant(true as const),
        resolution: fc.constant({ verdict: "done" as const, by: "ann", atMs: AT }),
      },
      { requiredKeys: ["failures"] },
    ),
    removeExpiry: fc.boolean(),
    effects: fc.dictionary(effectNames, anyEffect, { maxKeys: 2 }),
    returnsRecord: fc.boolean(),
  })
  .map(({ condition, set, removeExpiry, effects, returnsRecord }) => {
    const isNew = "absent" in condition;
    const { expiresAtMs, ...rest } = set;
    const kept = removeExpiry || expiresAtMs === undefined ? rest : { ...rest, expiresAtMs };
    return {
      name: isNew ? "open-new" : "end",
      condition,
      patch: {
        set: isNew ? { ...opened, ...kept } : kept,
        ...(removeExpiry && !isNew && { remove: ["expiresAtMs" as const] }),
        effects,
      },
      returnsRecord,
    };
  });
