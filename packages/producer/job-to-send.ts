/** A job as its sender gives it. */

/** A job to send. */
export interface JobToSend<Payload = unknown> {
  readonly tenantId: string;
  /**
   * The job's business identity, for example an invoice id and its version: sending the same job
   * again is then the same job.
   * @defaultValue a new UUID of version 7: each call makes another job
   */
  readonly jobId?: string;
  readonly payload: Payload;
  /** Rounded up to whole seconds; 0..900,000, and 0 on FIFO queues. @defaultValue 0 */
  readonly delayMs?: number;
  /** FIFO queues only: jobs of the same key come in order. @defaultValue the tenant */
  readonly orderingKey?: string;
  /**
   * Message attributes for whoever filters by them, at most five; the handler does not see them.
   */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * W3C trace context, carried as attributes; an empty `traceparent` carries none.
   * @defaultValue the active OpenTelemetry span
   */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** The trace for X-Ray; empty for none. @defaultValue made from `traceparent` */
  readonly awsTraceHeader?: string;
}
