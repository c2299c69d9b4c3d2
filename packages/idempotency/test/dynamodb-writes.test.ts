import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { itemKey } from "../dynamodb-item.ts";
import { putRequest, updateRequest } from "../dynamodb-writes.ts";
import { complete, startEffect, takeOver } from "../effect-writes.ts";
import type { EffectRecord } from "../ledger-record.ts";
import type { LedgerWrite } from "../ledger-store.ts";
import { openNew } from "../opening-writes.ts";
import { finish } from "../run-writes.ts";
import { job } from "./ledger-setup.ts";

const fence = { job, epoch: 4, owner: "w-1:a" };
const effect: EffectRecord = {
  state: "started",
  epoch: 4,
  nonce: "n-2",
  attempts: 1,
  firstSentAtMs: 1,
  deadlineAtMs: 2,
  inputHash: "i",
  providerKey: "k",
};

/** The request with its aliases put back. */
function plain(write: LedgerWrite) {
  const {
    ExpressionAttributeNames = {},
    ExpressionAttributeValues = {},
    ...request
  } = updateRequest("ledger", write);
  const spell = (expression = "") =>
    expression
      .replace(/#n\d+/g, (alias) => ExpressionAttributeNames[alias] ?? alias)
      .replace(/:v\d+/g, (alias) => {
        const { S, N, M } = ExpressionAttributeValues[alias] ?? {};
        return S ?? N ?? (M === undefined ? alias : `{${M["s"]?.S} ${M["n"]?.S}}`);
      });
  const { UpdateExpression, ConditionExpression } = request;
  const spelt = { update: spell(UpdateExpression), condition: spell(ConditionExpression) };
  return { ...spelt, request: { ...request, ExpressionAttributeNames } };
}

describe("a ledger write on DynamoDB", () => {
  test("starts an effect on condition of its epoch, owner and state, in the write that marks it", () => {
    const write = startEffect(fence, { name: "charge", effect }, { leaseUntilMs: 9, nowMs: 8 });
    const { update, condition, request } = plain(write);
    expect(condition).toBe(
      "epoch = 4 AND owner = w-1:a AND state = OPEN AND " +
        "(attribute_not_exists(fx:charge) OR (fx:charge.s = RELEASED))",
    );
    expect(update).toBe(
      "SET leaseUntil = 9, updatedAt = 8, fx:charge = {STARTED n-2} REMOVE expiresAt",
    );
    expect(request).toMatchObject({
      Key: { pk: { S: "J#acme#payment.capture#invoice-7" }, sk: { S: "LEDGER" } },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
  });

  test("takes an effect over from the attempt that was seen, and from no other", () => {
    const about = { oldNonce: "n-1", leaseUntilMs: 9, nowMs: 8 };
    const { condition } = plain(takeOver(fence, { name: "charge", effect }, about));
    expect(condition).toBe(
      "epoch = 4 AND owner = w-1:a AND state = OPEN AND " +
        "fx:charge.s IN (STARTED, UNKNOWN) AND fx:charge.n = n-1",
    );
  });

  test("completes an effect by its nonce alone, whoever has the job", () => {
    const completion = { outcome: "ok", result: { kind: "inline", json: "1" } } as const;
    const { update, condition } = plain(complete(job, "charge", effect, completion));
    expect(condition).toBe("fx:charge.s IN (STARTED, UNKNOWN) AND fx:charge.n = n-2");
    expect(update).toBe(
      "SET fx:charge.s = DONE, fx:charge.a = 1, fx:charge.d = 2, fx:charge.o = ok, " +
        'fx:charge.r = {"kind":"inline","json":"1"}',
    );
  });

  test("finishes a job only when each effect is closed in the record", () => {
    const { condition } = plain(finish(fence, { nowMs: 8, closed: ["charge", "refund"] }));
    expect(condition).toBe(
      "epoch = 4 AND owner = w-1:a AND state = OPEN AND " +
        "fx:charge.s IN (DONE, RELEASED) AND fx:refund.s IN (DONE, RELEASED)",
    );
  });

  test("never makes an item by changing one that is not there", () => {
    const write = { name: "start", job, patch: { set: { epoch: 4 } } } as const;
    const conditions = [
      {},
      { states: ["open"] },
      { closed: ["charge"] },
      { effect: { name: "charge", states: ["released"], orAbsent: true } },
    ] as const;
    for (const condition of conditions) {
      expect(plain({ ...write, condition }).condition).toMatch(/^attribute_exists\(pk\)/);
    }
  });

  test("says names as they are, but for those that DynamoDB reserves or cannot read", () => {
    const write = startEffect(fence, { name: "charge", effect }, { leaseUntilMs: 9, nowMs: 8 });
    const { ExpressionAttributeNames = {} } = plain(write).request;
    expect(Object.values(ExpressionAttributeNames).sort()).toEqual(["fx:charge", "owner", "state"]);
  });

  test("makes a record as a whole, and only where there is none", () => {
    const opening = {
      ...{ job, owner: "w-1:a", leaseUntilMs: 9, nowMs: 8 },
      ...{ messageId: "m-1", receiveCount: 1, payloadHash: "p" },
    };
    const request = putRequest("ledger", openNew(opening, { name: "charge", effect }));
    expect(request).toMatchObject({
      Item: {
        ...{ pk: { S: "J#acme#payment.capture#invoice-7" }, sk: { S: "LEDGER" } },
        ...{ tenantId: { S: "acme" }, state: { S: "OPEN" }, epoch: { N: "1" } },
        "fx:charge": { M: { s: { S: "STARTED" }, n: { S: "n-2" } } },
      },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
  });

  test("finds the item of a job by its tenant, type and id, each escaped", () => {
    const odd = {
      tenantId: parseTenantId("a#b%23"),
      jobType: parseJobType("x.y"),
      jobId: parseJobId("1#2"),
    };
    expect(itemKey(odd)["pk"]).toEqual({ S: "J#a%23b%2523#x.y#1%232" });
  });
});
