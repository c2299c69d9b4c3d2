/** An SQS over HTTP that answers SendMessageBatch as it is told: for faults that no healthy queue shows. */

import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SQSClient } from "@aws-sdk/client-sqs";

/** What one entry looks like on the wire. */
export interface WireEntry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId?: string;
}

/** Answers one request; one that does nothing leaves the caller waiting. */
export type Answer = (entries: readonly WireEntry[], response: ServerResponse) => void;

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

/** Takes every entry, except that those of the given jobs fail with the given code. */
export function take(failing: Readonly<Record<string, string>> = {}, senderFault = false): Answer {
  return (entries, response) => {
    const codeOf = ({ MessageBody }: WireEntry) => failing[JSON.parse(MessageBody).job_id];
    const successful = entries.filter((entry) => codeOf(entry) === undefined);
    const failed = entries.filter((entry) => codeOf(entry) !== undefined);
    const body = {
      Successful: successful.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: `m-${JSON.parse(MessageBody).job_id}`,
        MD5OfMessageBody: md5(MessageBody),
      })),
      Failed: failed.map((entry) => ({
        Id: entry.Id,
        Code: codeOf(entry),
        SenderFault: senderFault,
        Message: "no",
      })),
    };
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify(body));
  };
}

/** Refuses the whole call. */
export function fail(status: number, type: string): Answer {
  return (_entries, response) => {
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message: "no" }));
  };
}

/** Cuts the connection without a word. */
export const reset: Answer = (_entries, response) => response.destroy();

/** Never answers. */
export const hang: Answer = () => undefined;

/**
 * Starts it. The answers are given in turn; the last one serves all further requests.
 *
 * @returns a client that goes there, the batches seen so far, and how to wait for the nth request
 */
export async function startScriptedSqs(answers: readonly Answer[]) {
  const seen: (readonly WireEntry[])[] = [];
  const waiting = new Map<number, () => void>();
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { Entries } = JSON.parse(Buffer.concat(chunks).toString()) as { Entries: WireEntry[] };
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(Entries);
    answer?.(Entries, response);
    waiting.get(seen.length)?.();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = new SQSClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  return {
    client,
    queueUrl: `http://127.0.0.1:${port}/000000000000/jobs`,
    /** The job ids of each call, in order. */
    calls: () =>
      seen.map((batch) => batch.map(({ MessageBody }) => JSON.parse(MessageBody).job_id)),
    seen,
    requests: (count: number) =>
      seen.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => void waiting.set(count, resolve)),
    close: async () => {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
