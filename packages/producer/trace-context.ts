/** The trace that a job is sent in, in the words of W3C and of AWS X-Ray. */

import { isSpanContextValid, trace } from "@opentelemetry/api";

/** A W3C trace context; empty when there is no trace. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/**
 * The trace of the active OpenTelemetry span; none where no SDK is set up. Written here and not by
 * the global propagator, which may speak another language than the worker reads.
 */
export function activeTrace(): TraceContext {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span)) return {};
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0");
  const tracestate = span.traceState?.serialize();
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate ? { tracestate } : {}),
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{8})([0-9a-f]{24})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The same trace as `AWSTraceHeader`, by which X-Ray and Lambda follow it.
 *
 * @returns `undefined` for a `traceparent` that is none
 * @see X-Ray Developer Guide, "Tracing header"
 */
export function xrayHeader(traceparent: string): string | undefined {
  const found = TRACEPARENT.exec(traceparent);
  if (found === null) return undefined;
  const [, time, unique, parent, flags = ""] = found;
  const sampled = Number.parseInt(flags, 16) & 1;
  return `Root=1-${time}-${unique};Parent=${parent};Sampled=${sampled}`;
}
