import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ForeignMessage,
  fromEventBridge,
  fromJson,
  fromS3,
  fromSns,
  parseJobId,
  parseJobType,
  parseTenantId,
  readMessage,
  writeEnvelope,
} from "../index.ts";

interface Order {
  readonly shop: string;
  readonly orderId: string;
}

const orders = fromJson<Order>({
  type: "order.placed",
  accepts: (body) => typeof body === "object" && body !== null && "orderId" in body,
  identity: ({ shop, orderId }) => ({ tenantId: shop, jobId: orderId }),
});

function messageOf(body: string, more: Partial<ForeignMessage> = {}): ForeignMessage {
  return { messageId: "m-1", body, attributes: {}, sentAtMs: 1_767_225_600_000, ...more };
}

const own = writeEnvelope({
  tenantId: parseTenantId("acme"),
  jobId: parseJobId("1"),
  jobType: parseJobType("mail.greet"),
  payload: { name: "Ada" },
  createdAtMs: 0,
});

describe("fromJson", () => {
  test("makes a job of any JSON, by an identity from a function", () => {
    expect(readMessage(messageOf('{"shop":"acme","orderId":"o-1"}'), [orders])).toEqual({
      kind: "job",
      job: {
        ...{ tenantId: "acme", jobId: "o-1", jobType: "order.placed" },
        ...{ payload: { shop: "acme", orderId: "o-1" }, createdAtMs: 1_767_225_600_000 },
      },
    });
  });

  test("takes the message's id where there is no business identity, and a type from its content", () => {
    const reader = fromJson<{ kind: string; data: unknown }>({
      type: ({ kind }) => `legacy.${kind}`,
      identity: (_, { attributes }) => ({ tenantId: attributes["customer"] ?? "" }),
      payload: ({ data }) => data,
    });
    const message = messageOf('{"kind":"mail","data":[1]}', { attributes: { customer: "acme" } });
    expect(readMessage(message, [reader])).toMatchObject({
      job: { tenantId: "acme", jobId: "m-1", jobType: "legacy.mail", payload: [1] },
    });
  });

  test("leaves what it does not accept to the next reader, and the rest to the envelope's own words", () => {
    const everything = fromJson({ type: "any.thing", identity: () => ({ tenantId: "acme" }) });
    const numbers = messageOf("[1,2]");
    expect(readMessage(numbers, [orders, everything])).toMatchObject({
      job: { jobType: "any.thing", payload: [1, 2] },
    });
    expect(readMessage(numbers, [orders])).toMatchObject({ reason: "not-an-object" });
    expect(readMessage(messageOf("no json"), [everything])).toMatchObject({ reason: "not-json" });
  });

  test.each([
    ["an identity that is none", '{"orderId":"o-1"}', "tenant_id must be a text, got a undefined"],
    [
      "a tenant that is too long",
      JSON.stringify({ orderId: "o-1", shop: "x".repeat(300) }),
      "tenant_id must have at most 256 bytes",
    ],
  ])("says what is wrong with %s", (_, body, detail) => {
    expect(readMessage(messageOf(body), [orders])).toMatchObject({
      kind: "malformed",
      reason: "invalid-field",
      detail: expect.stringContaining(detail),
    });
  });

  test("does not show what a rule that threw has said", () => {
    const reader = fromJson({
      type: "order.placed",
      identity: () => {
        throw new TypeError("card 4242 4242");
      },
    });
    expect(readMessage(messageOf("{}"), [reader])).toMatchObject({
      detail: "the rules of its reader threw (TypeError)",
    });
  });

  test("never takes an envelope of the producer for something else, malformed or not", () => {
    const everything = fromJson({ type: "any.thing", identity: () => ({ tenantId: "acme" }) });
    const { body, attributes } = own;
    expect(readMessage(messageOf(body, { attributes }), [everything])).toMatchObject({
      job: { jobType: "mail.greet" },
    });
    const broken = body.replace('"job_id":"1",', "");
    expect(readMessage(messageOf(broken), [everything])).toMatchObject({
      kind: "malformed",
      reason: "missing-field",
    });
  });
});

/** As the SNS Developer Guide shows one. */
function notification(Message: string, MessageAttributes?: object): string {
  return JSON.stringify({
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
    Message,
    Timestamp: "2012-05-02T00:54:06.655Z",
    SignatureVersion: "1",
    ...(MessageAttributes && { MessageAttributes }),
  });
}

describe("fromSns", () => {
  test("unwraps a job of the producer, and its attributes must agree", () => {
    const wrapped = notification(own.body, { tenant_id: { Type: "String", Value: "acme" } });
    expect(readMessage(messageOf(wrapped), [fromSns()])).toMatchObject({
      job: { tenantId: "acme", jobId: "1", payload: { name: "Ada" } },
    });
    const forged = notification(own.body, { tenant_id: { Type: "String", Value: "other" } });
    expect(readMessage(messageOf(forged), [fromSns()])).toMatchObject({
      reason: "attribute-mismatch",
    });
  });

  test("needs no unwrapping where SNS delivers raw", () => {
    const { body, attributes } = own;
    expect(readMessage(messageOf(body, { attributes }), [fromSns()])).toMatchObject({
      job: { jobType: "mail.greet" },
    });
  });

  test("hands what it has unwrapped to its readers, with the id and the time of SNS", () => {
    const reader = fromSns(fromJson({ type: "any.thing", identity: () => ({ tenantId: "acme" }) }));
    expect(readMessage(messageOf(notification('"Hello world!"')), [reader])).toMatchObject({
      job: {
        jobId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        payload: "Hello world!",
        createdAtMs: Date.UTC(2012, 4, 2, 0, 54, 6, 655),
      },
    });
  });

  test("leaves other messages alone", () => {
    expect(
      readMessage(messageOf('{"shop":"acme","orderId":"o-1"}'), [fromSns(), orders]),
    ).toMatchObject({
      job: { jobType: "order.placed" },
    });
  });
});

describe("fromEventBridge", () => {
  const event = {
    version: "0",
    id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
    "detail-type": "EC2 Instance State-change Notification",
    source: "aws.ec2",
    account: "111122223333",
    time: "2017-12-22T18:43:48Z",
    region: "us-west-1",
    resources: ["arn:aws:ec2:us-west-1:123456789012:instance/i-1234567890abcdef0"],
    detail: { "instance-id": "i-1234567890abcdef0", state: "terminated" },
  };
  const reader = fromEventBridge({
    type: "instance.changed",
    accepts: ({ source }) => source === "aws.ec2",
    identity: ({ account = "" }) => ({ tenantId: account }),
  });

  test("makes a job of an event: its detail is the payload, its id the job's", () => {
    expect(readMessage(messageOf(JSON.stringify(event)), [reader])).toEqual({
      kind: "job",
      job: {
        ...{ tenantId: "111122223333", jobId: "6a7e8feb-b491-4cf7-a9f1-bf3703467718" },
        ...{ jobType: "instance.changed", createdAtMs: Date.UTC(2017, 11, 22, 18, 43, 48) },
        payload: { "instance-id": "i-1234567890abcdef0", state: "terminated" },
      },
    });
  });

  test.each([
    ["another source", { ...event, source: "aws.s3" }],
    ["no detail", { ...event, detail: undefined }],
    ["no id", { ...event, id: undefined }],
  ])("leaves an event with %s alone", (_, other) => {
    expect(readMessage(messageOf(JSON.stringify(other)), [reader])).toMatchObject({
      kind: "malformed",
      reason: "missing-field",
    });
  });
});

describe("fromS3", () => {
  const record = {
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "us-west-2",
    eventTime: "1970-01-01T00:00:00.000Z",
    eventName: "ObjectCreated:Put",
    s3: {
      s3SchemaVersion: "1.0",
      bucket: { name: "mybucket", arn: "arn:aws:s3:::mybucket" },
      object: {
        key: "red+flower%C3%A4.jpg",
        size: 1024,
        eTag: "d41d8cd98f00b204e9800998ecf8427e",
        sequencer: "0055AED6DCD90281E5",
      },
    },
  };
  const reader = fromS3({ type: "upload.scan", identity: () => ({ tenantId: "acme" }) });
  const read = (body: object) => readMessage(messageOf(JSON.stringify(body)), [reader]);

  test("makes a job of a notification, with the key as it was named", () => {
    expect(read({ Records: [record] })).toEqual({
      kind: "job",
      job: {
        ...{ tenantId: "acme", jobType: "upload.scan", createdAtMs: 0 },
        jobId: "mybucket/red%20flower%C3%A4.jpg//0055AED6DCD90281E5/ObjectCreated%3APut",
        payload: {
          ...{ eventName: "ObjectCreated:Put", bucket: "mybucket", key: "red flowerä.jpg" },
          ...{ sizeBytes: 1024, eTag: "d41d8cd98f00b204e9800998ecf8427e" },
          sequencer: "0055AED6DCD90281E5",
        },
      },
    });
  });

  test("makes the same id of the same event, and another of the longest keys", () => {
    const named = (key: string) => {
      const object = { ...record.s3.object, key };
      const reading = read({ Records: [{ ...record, s3: { ...record.s3, object } }] });
      return reading.kind === "job" ? reading.job.jobId : reading;
    };
    expect(named("k".repeat(1_024))).toBe(named("k".repeat(1_024)));
    expect(named("k".repeat(1_024))).not.toBe(named(`${"k".repeat(1_023)}x`));
    expect(named("k".repeat(1_024))).toMatch(/^mybucket\/[0-9a-f]{64}$/);
  });

  test.each([
    [
      "the test event of S3",
      { Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "mybucket" },
      "a test event of S3: its notifications arrive",
    ],
    ["two records", { Records: [record, record] }, "2 records of S3 in one message"],
    [
      "a record without an object",
      { Records: [{ ...record, s3: {} }] },
      "a record of S3 without a bucket, a key or an eventName",
    ],
  ])("says why %s is no job", (_, body, detail) => {
    expect(read(body)).toEqual({ kind: "malformed", reason: "invalid-field", detail });
  });

  test("reads what comes by way of SNS", () => {
    const message = messageOf(notification(JSON.stringify({ Records: [record] })));
    expect(readMessage(message, [fromSns(reader)])).toMatchObject({
      job: { payload: { key: "red flowerä.jpg" } },
    });
  });
});

test("no message makes a reading throw, whatever its readers are", () => {
  const identity = () => ({ tenantId: "acme" });
  const readers = [
    fromSns(fromS3({ type: "a.b", identity }), fromEventBridge({ type: "a.b", identity })),
    fromS3({ type: "a.b", identity }),
    fromEventBridge({ type: "a.b", identity }),
    fromJson({ type: "a.b", identity }),
  ];
  const anything = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((inner) => notification(inner)),
    fc
      .record({
        Records: fc.array(fc.record({ eventSource: fc.constant("aws:s3"), s3: fc.jsonValue() })),
      })
      .map((body) => JSON.stringify(body)),
  );
  fc.assert(
    fc.property(anything, (body) => {
      expect(["job", "malformed", "newer-version"]).toContain(
        readMessage(messageOf(body), readers).kind,
      );
    }),
  );
});
