import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { defineContract } from "@leasehold/deployment-contract";
import { provision, startLocalAws } from "@leasehold/local-aws";
import { describe, expect, onTestFinished, test } from "vitest";

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** What a store in front of the embedded one answers about time to live; undefined asks that one. */
type TimeToLive = (operation: string, input: Record<string, unknown>) => Answer | undefined;

async function setup(timeToLive: TimeToLive) {
  const aws = await startLocalAws({ mode: "embedded" });
  const front = createServer(async (request, response) => {
    const body = await text(request);
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    const answer =
      timeToLive(operation, JSON.parse(body)) ??
      (await forward(aws.dynamodbEndpoint, request, body));
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify(answer.body));
  });
  await once(front.listen(0, "127.0.0.1"), "listening");
  const { port } = front.address() as AddressInfo;
  const dynamodb = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  onTestFinished(async () => {
    dynamodb.destroy();
    front.close();
    await aws.close();
  });
  const contract = defineContract({
    service: "mailer",
    preset: "default-30",
    queues: [{ name: "mails" }],
    ledger: { kind: "dynamodb" },
  });
  return () => provision({ contract, clients: { sqs: aws.sqs, dynamodb } });
}

async function forward(endpoint: string, request: IncomingMessage, body: string): Promise<Answer> {
  const { host: _, "content-length": __, ...headers } = request.headers;
  const answer = await fetch(endpoint, {
    method: "POST",
    body,
    headers: headers as Record<string, string>,
  });
  return { status: answer.status, body: (await answer.json()) as object };
}

function describeAs(status: string, name?: string): Answer {
  return {
    status: 200,
    body: { TimeToLiveDescription: { TimeToLiveStatus: status, AttributeName: name } },
  };
}

function refuseAs(name: string): Answer {
  return {
    status: 400,
    body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name },
  };
}

describe("the time to live of a table", () => {
  test("is turned on once, and found there the next time", async () => {
    const updates: unknown[] = [];
    const provisionAgain = await setup((operation, input) => {
      if (operation === "DescribeTimeToLive") {
        return updates.length === 0 ? describeAs("DISABLED") : describeAs("ENABLING", "expiresAt");
      }
      if (operation !== "UpdateTimeToLive") return undefined;
      updates.push(input);
      return { status: 200, body: { TimeToLiveSpecification: input["TimeToLiveSpecification"] } };
    });

    await provisionAgain();
    await provisionAgain();

    expect(updates).toEqual([
      {
        TableName: "mailer-ledger",
        TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      },
    ]);
  });

  test("on another attribute is refused", async () => {
    const provisionAgain = await setup((operation) =>
      operation === "DescribeTimeToLive" ? describeAs("ENABLED", "deleteAfter") : undefined,
    );

    await expect(provisionAgain()).rejects.toMatchObject({
      code: "PROVISION_CONFLICT",
      conflicts: [
        {
          resource: "table mailer-ledger",
          setting: "time to live attribute",
          contractValue: "expiresAt",
          liveValue: "deleteAfter",
        },
      ],
    });
  });

  test("may have been turned on by somebody else in between", async () => {
    let isOn = false;
    const provisionAgain = await setup((operation) => {
      if (operation === "DescribeTimeToLive") {
        return isOn ? describeAs("ENABLED", "expiresAt") : describeAs("DISABLED");
      }
      if (operation !== "UpdateTimeToLive") return undefined;
      isOn = true;
      return refuseAs("ValidationException");
    });

    expect((await provisionAgain()).created).toContain("table mailer-ledger");
  });

  test("is excused for a store that has none, wherever it runs", async () => {
    const provisionAgain = await setup(() => undefined);

    expect((await provisionAgain()).created).toContain("table mailer-ledger");
  });

  test("is not excused for a store that refuses it", async () => {
    const provisionAgain = await setup((operation) =>
      operation === "UpdateTimeToLive" ? refuseAs("AccessDeniedException") : undefined,
    );

    await expect(provisionAgain()).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});
