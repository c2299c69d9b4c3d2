import {
  type AttemptHistory,
  type AttemptLedger,
  type JobEndingNote,
  type JobIdentity,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryAttemptLedger } from "../index.ts";

const NOTHING: AttemptHistory = { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 };
const reason = { code: "permanent", detail: "no such customer" };

function job(jobId = "job-1", tenantId = "acme"): JobIdentity {
  return {
    tenantId: parseTenantId(tenantId),
    jobId: parseJobId(jobId),
    jobType: parseJobType("test.work"),
  };
}

interface Delivery {
  readonly job?: JobIdentity;
  readonly messageId?: string;
  readonly receiveCount: number;
}

function setup(options: Parameters<typeof memoryAttemptLedger>[0] = {}) {
  const ledger = memoryAttemptLedger(options);
  const openAny = (delivery: Delivery) => openNow(ledger, delivery);
  const open = (delivery: Delivery) => {
    const opening = openAny(delivery);
    if (opening.kind === "dead") throw new Error("the job has been given up");
    return opening;
  };
  /** One delivery from start to end; says what was known at its start. */
  const tryOnce = (receiveCount: number, kind: "failed" | "interrupted" | "put-off") => {
    const attempt = open({ receiveCount });
    attempt.end({ kind });
    return attempt.history;
  };
  return { open, openAny, tryOnce };
}

function openNow(ledger: AttemptLedger, delivery: Delivery) {
  const opening = ledger.open({ job: job(), messageId: "m-1", ...delivery });
  if (opening instanceof Promise) throw new Error("the memory ledger has nobody to ask");
  return opening;
}

describe("the memory ledger", () => {
  test("counts each kind of ending for itself", () => {
    const { open, tryOnce } = setup();
    tryOnce(1, "failed");
    tryOnce(2, "interrupted");
    tryOnce(3, "put-off");
    tryOnce(4, "failed");
    expect(open({ receiveCount: 5 }).history).toEqual({
      failures: 2,
      interruptions: 1,
      crashes: 0,
      putOffs: 1,
    });
  });

  test("counts as crashes the starts that nothing followed, save that of the first receive", () => {
    const { open } = setup();
    open({ receiveCount: 1 });
    expect(open({ receiveCount: 2 }).history.crashes).toBe(0);
    expect(open({ receiveCount: 3 }).history.crashes).toBe(1);
    expect(open({ receiveCount: 4 }).history.crashes).toBe(2);
  });

  test("takes a start back that came to nothing", () => {
    const { open } = setup();
    for (const receiveCount of [1, 2, 3, 4]) open({ receiveCount }).end({ kind: "uncounted" });
    expect(open({ receiveCount: 5 }).history).toEqual(NOTHING);
  });

  test("keeps crashes in mind when a later attempt fails", () => {
    const { open, tryOnce } = setup();
    open({ receiveCount: 2 });
    tryOnce(3, "failed");
    expect(open({ receiveCount: 4 }).history).toMatchObject({ failures: 1, crashes: 1 });
  });

  test("forgets a job that has succeeded", () => {
    const { open, tryOnce } = setup();
    tryOnce(1, "failed");
    open({ receiveCount: 2 }).end({ kind: "succeeded" });
    expect(open({ receiveCount: 2 }).history).toEqual(NOTHING);
  });

  test("knows a job by tenant, type and id", () => {
    const { open, tryOnce } = setup();
    tryOnce(1, "failed");
    expect(open({ receiveCount: 2, job: job("job-1", "other") }).history.failures).toBe(0);
    expect(open({ receiveCount: 2, job: job("job-2") }).history.failures).toBe(0);
    expect(open({ receiveCount: 2 }).history.failures).toBe(1);
  });

  test("keeps a job given up as long as the same message comes, and starts afresh with another", () => {
    const { open, openAny } = setup();
    open({ receiveCount: 4 }).end({ kind: "given-up", reason });
    expect(openAny({ receiveCount: 5 })).toEqual({ kind: "dead", reason });
    expect(open({ receiveCount: 6, messageId: "m-2" }).history).toEqual(NOTHING);
  });

  test("starts afresh, too, when the new message fails at its first receive", () => {
    const { open, tryOnce } = setup();
    tryOnce(1, "failed");
    open({ receiveCount: 2 }).end({ kind: "given-up", reason });
    open({ receiveCount: 1, messageId: "m-2" }).end({ kind: "failed" });
    expect(open({ receiveCount: 2, messageId: "m-2" }).history).toEqual({
      ...NOTHING,
      failures: 1,
    });
  });

  test("forgets whom it heard of least lately when it is full", () => {
    const { open } = setup({ maxJobs: 2 });
    const fail = (id: string) => open({ receiveCount: 1, job: job(id) }).end({ kind: "failed" });
    for (const id of ["a", "b", "a", "c"]) fail(id);
    expect(open({ receiveCount: 2, job: job("a") }).history.failures).toBe(2);
    expect(open({ receiveCount: 2, job: job("c") }).history.failures).toBe(1);
    expect(open({ receiveCount: 2, job: job("b") }).history.failures).toBe(0);
  });

  test.each([0, 1.5, 1_000_001, Number.NaN])("refuses to remember %s jobs", (maxJobs) => {
    expect(() => memoryAttemptLedger({ maxJobs })).toThrow(
      `maxJobs must be a whole number between 1 and 1000000, got ${maxJobs}`,
    );
  });
});

describe("over every series of deliveries", () => {
  const kinds = ["failed", "interrupted", "put-off", "uncounted", "crashed"] as const;

  test("the history is what happened, and no more", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 30 }), (happened) => {
        const { open } = setup();
        const seen = happened.map((kind, index) => {
          const attempt = open({ receiveCount: index + 1 });
          if (kind !== "crashed") attempt.end({ kind } as JobEndingNote);
          return attempt.history;
        });
        const times = (kind: (typeof kinds)[number], before: number) =>
          happened.filter((each, index) => each === kind && index < before).length;
        for (const [index, history] of seen.entries()) {
          const firstCrashed = index > 0 && happened[0] === "crashed" ? 1 : 0;
          expect(history).toEqual({
            failures: times("failed", index),
            interruptions: times("interrupted", index),
            putOffs: times("put-off", index),
            crashes: times("crashed", index) - firstCrashed,
          });
        }
      }),
    );
  });
});
