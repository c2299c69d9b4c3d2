import { defineJob, PermanentJobError } from "@leasehold/job";
import middy from "@middy/core";
import { context, type Span, type SpanOptions, type Tracer, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { message } from "../../../test/support/worker-world.ts";
import { jobTracing, middyHandler, type TracedContext } from "../index.ts";
import { openSite } from "./lambda-site.ts";

const schema = z.object({ n: z.number() });
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A tracer that keeps what became of its spans. */
class KeptSpans {
  readonly started: { readonly name: string; readonly options: SpanOptions | undefined }[] = [];
  readonly ends: string[] = [];

  readonly tracer: Tracer = {
    startSpan: (name, options) => {
      this.started.push({ name, options });
      return this.#span(name);
    },
    startActiveSpan: () => {
      throw new Error("a middleware has no function to make it active for");
    },
  } as Tracer;

  #span(name: string): Span {
    const span = trace.wrapSpanContext({
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      traceFlags: 1,
    });
    const words: string[] = [];
    span.setAttribute = (key, value) => {
      words.push(`${key}=${value}`);
      return span;
    };
    span.setStatus = ({ code }) => {
      words.push(`status=${code}`);
      return span;
    };
    span.end = () => void this.ends.push([name, ...words].join(" "));
    return span;
  }
}

async function setup(handler: (event: unknown, context: TracedContext) => unknown) {
  const spans = new KeptSpans();
  const wrapped = middy()
    .use(jobTracing(spans.tracer))
    .handler(handler as never);
  const job = defineJob({ type: "test.work", schema, handler: middyHandler(wrapped) });
  const site = await openSite({ jobs: [job] });
  const { body, attributes } = message(1);
  const id = await site.queue.send({
    body: body ?? "",
    attributes: { ...attributes, traceparent },
  });
  return { site, spans, id };
}

describe("jobTracing", () => {
  afterEach(() => context.disable());

  test("opens a span for the run, linked to the one that sent the job", async () => {
    const { site, spans, id } = await setup(() => undefined);
    await site.invoke();
    expect(spans.started).toEqual([
      {
        name: "process jobs",
        options: {
          kind: 4,
          links: [
            {
              context: {
                ...{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" },
                ...{ traceFlags: 1, isRemote: true },
              },
            },
          ],
          attributes: {
            "messaging.system": "aws_sqs",
            "messaging.operation.type": "process",
            "messaging.operation.name": "process",
            "messaging.destination.name": "jobs",
            "messaging.message.id": id,
            "leasehold.tenant_id": "acme",
            "leasehold.job_id": "job-1",
            "leasehold.job_type": "test.work",
            "leasehold.attempt": 1,
          },
        },
      },
    ]);
    expect(spans.ends).toEqual(["process jobs"]);
  });

  test("ends it with the name of what was thrown, and without its words", async () => {
    const { site, spans } = await setup(() => {
      throw new PermanentJobError("secret");
    });
    await site.invoke();
    expect(spans.ends).toEqual(["process jobs error.type=PermanentJobError status=2"]);
  });

  test("makes the span active where it is asked to", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    const active: unknown[] = [];
    const activeId = () => trace.getActiveSpan()?.spanContext().spanId;
    const { site } = await setup(async (_, given) => {
      active.push(activeId());
      await given.inSpan(async () => {
        await site.clock.settle();
        active.push(activeId());
      });
    });
    await site.invoke();
    expect(active).toEqual([undefined, "2".repeat(16)]);
  });
});
