import type { Message } from "@aws-sdk/client-sqs";
import {
  type Context,
  type ContextManager,
  context,
  createTraceState,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import { afterEach, describe, expect, test } from "vitest";
import { activeTrace, xrayHeader } from "../trace-context.ts";
import { openQueue } from "./queue-site.ts";

/** Keeps one context active for the whole test. */
class StillContext implements ContextManager {
  readonly #context: Context;

  constructor(still: Context) {
    this.#context = still;
  }

  active(): Context {
    return this.#context;
  }

  with: ContextManager["with"] = (_context, run, receiver, ...args) =>
    run.apply(receiver as never, args);

  bind<Target>(_context: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

afterEach(() => context.disable());

const traceId = "5759e988bd862e3fe1be46a994272793";
const spanId = "53995c3f42cd8ad8";

function activate(traceFlags: number, tracestate?: string) {
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  const span = trace.wrapSpanContext({ traceId, spanId, traceFlags, ...traceState });
  context.setGlobalContextManager(new StillContext(trace.setSpan(ROOT_CONTEXT, span)));
}

const textsOf = (attributes: Message["MessageAttributes"]) =>
  Object.fromEntries(
    Object.entries(attributes ?? {}).map(([name, { StringValue }]) => [name, StringValue]),
  );

describe("activeTrace", () => {
  test("is none without an SDK", () => {
    expect(activeTrace()).toEqual({});
  });

  test("is the active span in W3C's words", () => {
    activate(1, "vendor=a");

    expect(activeTrace()).toEqual({
      traceparent: "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01",
      tracestate: "vendor=a",
    });
  });

  test("is none for a span that is none", () => {
    const span = trace.wrapSpanContext({ traceId: "0".repeat(32), spanId, traceFlags: 1 });
    context.setGlobalContextManager(new StillContext(trace.setSpan(ROOT_CONTEXT, span)));

    expect(activeTrace()).toEqual({});
  });
});

describe("xrayHeader", () => {
  test.each([
    ["01", 1],
    ["00", 0],
    ["03", 1],
  ])("turns flags %s into Sampled=%d", (flags, sampled) => {
    expect(xrayHeader(`00-${traceId}-${spanId}-${flags}`)).toBe(
      `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=${sampled}`,
    );
  });

  test.each(["", "00-1-2-01", `00-${traceId}-${spanId}`, "x"])("is none for %j", (traceparent) => {
    expect(xrayHeader(traceparent)).toBeUndefined();
  });
});

describe("a sent job", () => {
  const job = { tenantId: "acme", jobId: "j", payload: null };

  test("carries the trace of its sender as attributes and as system attribute", async () => {
    const { producer, receive } = await openQueue();
    activate(1, "vendor=a");

    await producer.send("a.b", job);
    const [message = {}] = await receive();

    expect(textsOf(message.MessageAttributes)).toEqual({
      tenant_id: "acme",
      job_id: "j",
      job_type: "a.b",
      traceparent: `00-${traceId}-${spanId}-01`,
      tracestate: "vendor=a",
    });
    expect(message.Attributes?.["AWSTraceHeader"]).toBe(
      `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=${spanId};Sampled=1`,
    );
  });

  test("carries the trace that it was given instead of the active one, or none", async () => {
    const { producer, receiveAll } = await openQueue();
    activate(1, "vendor=a");
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;

    await producer.sendMany([
      { ...job, type: "a.b", traceparent },
      { ...job, type: "a.b", traceparent: "" },
      { ...job, type: "a.b", traceparent, awsTraceHeader: "" },
      { ...job, type: "a.b", traceparent: "", awsTraceHeader: "Root=1-2-3" },
    ]);
    const messages = await receiveAll();

    expect(messages.map((message) => textsOf(message.MessageAttributes)["traceparent"])).toEqual([
      traceparent,
      undefined,
      traceparent,
      undefined,
    ]);
    expect(messages.map(({ Attributes }) => Attributes?.["AWSTraceHeader"])).toEqual([
      `Root=1-aaaaaaaa-${"a".repeat(24)};Parent=${"b".repeat(16)};Sampled=0`,
      undefined,
      undefined,
      "Root=1-2-3",
    ]);
  });

  test("keeps the places of its trace free, whatever its sender adds (opentelemetry-js-contrib 1455; otel-java 13799)", async () => {
    const { producer, receive } = await openQueue();
    const adding = (count: number) => ({
      ...job,
      attributes: Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, "x"])),
    });
    const untraced = [await producer.send("a.b", adding(5)), await producer.send("a.b", adding(6))];

    activate(1, "vendor=a");
    const traced = [await producer.send("a.b", adding(5)), await producer.send("a.b", adding(6))];

    expect(untraced.map(({ kind }) => kind)).toEqual(["sent", "refused"]);
    expect(traced).toMatchObject([
      { kind: "sent" },
      { kind: "refused", error: { code: "UNSENDABLE_JOB" } },
    ]);
    const [, message = {}] = await receive();
    expect(Object.keys(message.MessageAttributes ?? {})).toHaveLength(10);
  });
});
