import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { ManualClock } from "@leasehold/clock/manual";
import { type LeaseQueue, sqsClients, sqsLeaseQueue } from "@leasehold/lease";
import { afterEach, describe, expect, test } from "vitest";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A lease queue whose SQS is the listener; without one, nobody listens at its address. */
async function setup(listener?: RequestListener) {
  const server = createServer(listener ?? (() => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  if (listener === undefined) await stop();
  else closing.push(stop);
  const endpoint = `http://127.0.0.1:${port}`;
  const clients = sqsClients({
    region: "us-east-1",
    endpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  closing.push(async () => clients.destroy());
  const clock = new ManualClock();
  const queueUrl = `${endpoint}/000000000000/jobs`;
  const queue = sqsLeaseQueue({ clients, queueUrl, deadLetterQueueUrl: `${queueUrl}-dlq`, clock });
  return { queue, clock };
}

/** Answers every request with this status and body. */
function answering(status: number, body: object | string): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const fault = (name: string) => ({ __type: `com.amazonaws.sqs#${name}`, message: name });

async function release(queue: LeaseQueue) {
  const answers = await queue.changeVisibility([{ receiptHandle: "h", visibilityTimeoutMs: 0 }]);
  expect(answers).toHaveLength(1);
  return answers[0];
}

const poll = { maxMessages: 1, waitMs: 0, visibilityTimeoutMs: 30_000 };

describe("a release through the SDK", () => {
  test("was not applied when nobody listens", async () => {
    const { queue } = await setup();
    expect(await release(queue)).toMatchObject({ kind: "not-applied", code: "ECONNREFUSED" });
  });

  test("was not applied when SQS throttles", async () => {
    const { queue } = await setup(answering(400, fault("RequestThrottled")));
    expect(await release(queue)).toMatchObject({ kind: "not-applied", code: "RequestThrottled" });
  });

  test("is unknown when the connection breaks after the request", async () => {
    const { queue } = await setup((request) => request.socket.destroy());
    expect(await release(queue)).toMatchObject({ kind: "unknown" });
  });

  test("is unknown when SQS has an internal error, and is not repeated by the SDK", async () => {
    let requests = 0;
    const { queue } = await setup((request, response) => {
      requests += 1;
      answering(500, fault("InternalFailure"))(request, response);
    });
    expect(await release(queue)).toMatchObject({ kind: "unknown" });
    expect(requests).toBe(1);
  });

  test("is unknown when the answer is no answer", async () => {
    const { queue } = await setup(answering(200, "<html>a proxy's page</html>"));
    expect(await release(queue)).toMatchObject({ kind: "unknown" });
  });

  test("is unknown when the answer leaves the entry out", async () => {
    const { queue } = await setup(answering(200, { Successful: [], Failed: [] }));
    expect(await release(queue)).toEqual({ kind: "unknown", code: "EntryNotAnswered" });
  });

  test("is judged by its own entry when SQS answers 200", async () => {
    const entry = { Id: "0", Code: "ReceiptHandleIsInvalid", SenderFault: true };
    const { queue } = await setup(answering(200, { Successful: [], Failed: [entry] }));
    expect(await release(queue)).toEqual({ kind: "refused", code: "ReceiptHandleIsInvalid" });
  });

  test.each([
    ["before the headers", (() => undefined) as RequestListener],
    [
      "in the middle of the body",
      ((_request, response) => {
        response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
        response.write('{"Successful":[');
      }) as RequestListener,
    ],
  ])("is unknown after its hard timeout when SQS stalls %s", async (_where, stall) => {
    const arrived = Promise.withResolvers<void>();
    const { queue, clock } = await setup((request, response) => {
      arrived.resolve();
      stall(request, response);
    });
    const answer = release(queue);
    await arrived.promise;
    await clock.advance(2_000);
    expect(await answer).toMatchObject({ kind: "unknown", code: "TimeoutError" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("is not sent at all once a blocked event loop has used up its time", async () => {
    let requests = 0;
    const { queue, clock } = await setup((request, response) => {
      requests += 1;
      answering(200, { Successful: [{ Id: "0" }], Failed: [] })(request, response);
    });
    const answer = release(queue);
    const blocked = clock.block(2_000);
    expect(await answer).toMatchObject({ code: expect.stringMatching(/TimeoutError|TooLate/) });
    await blocked;
    expect(requests).toBe(0);
  });
});

describe("a claim through the SDK", () => {
  test("fails for good when access is denied", async () => {
    const { queue } = await setup(answering(403, fault("AccessDeniedException")));
    await expect(queue.receive(poll)).rejects.toMatchObject({
      reason: "AccessDeniedException",
      retryable: false,
      queue: "jobs",
    });
  });

  test("may be tried again when nobody listens", async () => {
    const { queue } = await setup();
    await expect(queue.receive(poll)).rejects.toMatchObject({
      reason: "ECONNREFUSED",
      retryable: true,
    });
  });

  test("gives up five seconds after its wait, not earlier (bbc/sqs-consumer 136; aws-sdk-js 1005)", async () => {
    const arrived = Promise.withResolvers<void>();
    const { queue, clock } = await setup(() => arrived.resolve());
    let isOver = false;
    const claim = queue.receive({ ...poll, waitMs: 20_000 }).catch((error) => {
      isOver = true;
      return error;
    });
    await arrived.promise;
    await clock.advance(24_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await claim).toMatchObject({ reason: "TimeoutError", retryable: true });
  });
});
