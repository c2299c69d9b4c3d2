import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { defineJob, park } from "@leasehold/job";
import { provision, startLocalAws } from "@leasehold/local-aws";
import { describe, expect, test } from "vitest";
import { createService } from "../leasehold.ts";
import { type LedgerChoice, openLedger } from "../ledger-choice.ts";
import { anything, mail } from "./fixtures.ts";

const recorded = defineContract({
  preset: "drill",
  service: "mail",
  queues: [{ name: "mail" }],
  ledger: { kind: "dynamodb", tableName: "mail-ledger" },
});
const ACCOUNT = {
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const;

function open(contract: typeof mail, ledger?: unknown, attempts?: unknown) {
  return openLedger({
    ...{ contract, attempts, clock: new ManualClock(), workerId: "w-1" },
    ...(ledger === undefined ? {} : { ledger: ledger as LedgerChoice }),
  });
}

describe("the choice of a ledger", () => {
  test("is none unless one is wanted", () => {
    expect(open(mail)).toBeUndefined();
    expect(open(mail, "none")).toBeUndefined();
    expect(open(mail, { kind: "memory" })?.ledger.unrecorded).toBe(0);
  });

  const table = { kind: "dynamodb", client: {}, environment: "test" };
  test.each<[string, typeof mail, unknown, unknown, string]>([
    ["an unknown kind", mail, { kind: "redis" }, undefined, 'kind "memory" or "dynamodb"'],
    ["a table that the contract knows nothing of", mail, table, undefined, "set its ledger.kind"],
    ["a contract whose ledger is missing", recorded, undefined, undefined, "give the service"],
    [
      "an option that is none",
      recorded,
      { ...table, options: { restoredAtMs: -1, circuits: 3 } },
      undefined,
      "restoredAtMs",
    ],
    ["two that count attempts", recorded, table, "memory", "leave attempts out"],
    [
      "an empty environment",
      recorded,
      { ...table, environment: " " },
      undefined,
      "ledger.environment must be a name",
    ],
  ])("refuses %s", (_, contract, ledger, attempts, problem) => {
    expect(() => open(contract, ledger, attempts)).toThrow(problem);
  });

  test("claims once its table is there, and has an effect happen once for two messages", async () => {
    await using aws = await local();
    let runs = 0;
    const job = defineJob({
      type: "mail.greet",
      schema: anything,
      guard: true,
      handler: (_job, { once }) =>
        once("send", {}, { timeoutMs: 500, recover: park(), run: async () => (runs += 1) }),
    });
    const service = createService({
      ...{ contract: recorded, jobs: [job], sqs: { ...ACCOUNT, endpoint: aws.sqsEndpoint } },
      ledger: { kind: "dynamodb", client: aws.dynamodb, environment: "test" },
    });
    const { worker } = service;
    const missing = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<void>();
    const acked: string[] = [];
    worker.onEvent((event) => {
      if (event.kind === "claim.failed" && event.message.includes("mail-ledger")) {
        missing.resolve(event.code);
      }
      if (event.kind !== "lease.acked") return;
      acked.push(event.lease.messageId);
      if (acked.length === 2) ended.resolve();
    });
    await provision({ contract: { ...recorded, ledger: { kind: "none" } }, clients: aws });
    void worker.start();
    expect(await missing.promise).toBe("ResourceNotFoundException");
    await provision({ contract: recorded, clients: aws });
    await worker.start();
    const producer = await service.producer("mail");
    for (let sent = 0; sent < 2; sent += 1) {
      await producer.send(job, { tenantId: "acme", jobId: "g-1", payload: {} });
    }
    await ended.promise;
    expect(runs).toBe(1);
    await worker.drain({ kind: "request", by: "test" });
    service.close();
  });
});

async function local() {
  const aws = await startLocalAws({ mode: "embedded", clock: systemClock });
  return { ...aws, [Symbol.asyncDispose]: () => aws.close() };
}
