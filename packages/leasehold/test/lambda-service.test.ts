import { defineContract } from "@leasehold/deployment-contract";
import { InvalidOptionsError } from "@leasehold/options";
import { describe, expect, test } from "vitest";
import { openLambdaService } from "../lambda-service.ts";
import { mail, nowhere, startSqs } from "./fixtures.ts";

describe("openLambdaService", () => {
  test("finds the queues of the contract, with their dead-letter queues, and sends children there", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const { wiring, close } = await openLambdaService({ contract: mail, sqs: sqs.connection });
    const sent = await wiring.sender.sendJob({
      ...{ type: "mail.greet", tenantId: "acme", jobId: "greet-1", payload: {}, delayMs: 0 },
    });
    close();
    expect(sent.jobId).toBe("greet-1");
    expect(wiring.queues).toMatchObject([{ name: "mail", fifo: false, hasDeadLetterQueue: true }]);
    expect(wiring.openLedger).toBeUndefined();
    expect(wiring.options).toMatchObject({
      ...{ queueVisibilityTimeoutMs: 10_000, maxAttempts: 5, backoffBaseMs: 5_000 },
    });
  });

  test("writes what an invocation reports as lines", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const lines: unknown[] = [];
    const { wiring, close } = await openLambdaService({
      ...{ contract: mail, sqs: sqs.connection, version: "1.2.3" },
      log: { destination: { write: (line) => void lines.push(JSON.parse(line)) } },
    });
    const event = { kind: "lambda.answered", requestId: "r-1", messages: 3, failures: 1 };
    wiring.onEvent(event);
    close();
    expect(lines).toEqual([
      {
        ...{ level: "info", time: expect.any(String), service: "mail", version: "1.2.3" },
        ...{ worker_id: expect.stringMatching(/^lambda-/), event: "lambda.answered" },
        ...{ request_id: "r-1", messages: 3, failures: 1, msg: "the batch is answered" },
      },
    ]);
  });

  test("does not open where a queue is not there", async () => {
    await using sqs = await startSqs();
    await expect(openLambdaService({ contract: mail, sqs: sqs.connection })).rejects.toThrow(
      /queue mail(-dlq)? does not exist in this account and region/,
    );
  });

  test("does not open where something that its jobs need is missing", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const checkDependencies = async () => {
      throw new Error("the table is missing");
    };
    const parts = { contract: mail, sqs: sqs.connection, checkDependencies };
    await expect(openLambdaService(parts)).rejects.toThrow("the table is missing");
  });

  test.each([
    ["a ledger", { ledger: { kind: "memory" } }, 'ledger must not be of kind "memory" in Lambda'],
    ["attempts", { attempts: "memory" }, 'attempts must not be "memory" in Lambda'],
  ] as const)("refuses %s that would be forgotten with the sandbox", async (_, parts, problem) => {
    const opened = openLambdaService({ contract: mail, sqs: nowhere, ...parts });
    await expect(opened).rejects.toThrow(InvalidOptionsError);
    await expect(opened).rejects.toThrow(problem);
  });

  test("refuses a contract with a ledger that it was not given", async () => {
    const contract = defineContract({
      ...{ preset: "drill", service: "mail", queues: [{ name: "mail" }] },
      ledger: { kind: "dynamodb" },
    });
    await expect(openLambdaService({ contract, sqs: nowhere })).rejects.toThrow(
      "the contract has a ledger in DynamoDB",
    );
  });
});
