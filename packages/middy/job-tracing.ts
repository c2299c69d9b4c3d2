/** Middleware: a span for each run of a job, linked to the span that sent it. */

import type { JobContext } from "@leasehold/job";
import {
  context as active,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  type JobLambdaContext,
  type JobMiddleware,
  JobSurroundings,
  type WrappedEnd,
} from "./job-surroundings.ts";

/** What the middleware adds to the context. */
export type TracedContext = JobLambdaContext & {
  span: Span;
  /** Runs something with the span active, so that spans and jobs made in it belong to it. */
  inSpan<Result>(run: () => Result): Result;
};

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Opens a consumer span around everything that comes after it. A middleware cannot make a span
 * active for its handler, so that is left to `context.inSpan`.
 *
 * @param tracer - @defaultValue the tracer `@leasehold/middy` of the provider that is set up
 * @see OpenTelemetry, "Semantic conventions for messaging spans"
 */
export function jobTracing(tracer?: Tracer): JobMiddleware<unknown, TracedContext> {
  return {
    before: ({ context }) => {
      const surroundings = JobSurroundings.of(context, "jobTracing");
      const span = startSpan(tracer ?? trace.getTracer("@leasehold/middy"), context.job);
      context.span = span;
      context.inSpan = (run) => active.with(trace.setSpan(active.active(), span), run);
      surroundings.onClose((end) => endSpan(span, end));
    },
  };
}

function startSpan(tracer: Tracer, job: JobContext): Span {
  const { message, tenantId, jobId, jobType, attempt } = job;
  const { queue, messageId } = message;
  return tracer.startSpan(`process ${queue}`, {
    kind: SpanKind.CONSUMER,
    links: linksOf(job),
    attributes: {
      "messaging.system": "aws_sqs",
      "messaging.operation.type": "process",
      "messaging.operation.name": "process",
      "messaging.destination.name": queue,
      "messaging.message.id": messageId,
      "leasehold.tenant_id": tenantId,
      "leasehold.job_id": jobId,
      "leasehold.job_type": jobType,
      "leasehold.attempt": attempt,
    },
  });
}

function linksOf({ message }: JobContext): Link[] {
  const { value } = message.attributes["traceparent"] ?? {};
  const found = typeof value === "string" ? TRACEPARENT.exec(value) : null;
  if (found === null) return [];
  const [, traceId = "", spanId = "", flags = ""] = found;
  const traceFlags = Number.parseInt(flags, 16);
  return [{ context: { traceId, spanId, traceFlags, isRemote: true } }];
}

function endSpan(span: Span, end: WrappedEnd): void {
  if (end.kind === "threw") {
    const name = end.thrown instanceof Error ? end.thrown.name : typeof end.thrown;
    // Its message may quote what the job carries; the log line of the run has it.
    span.setAttribute("error.type", name);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
