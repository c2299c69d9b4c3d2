/** What the local payment provider remembers: intents, charges, answers under keys, and late requests. */

/** The states of a payment intent that can occur here. */
export type IntentStatus =
  | "requires_payment_method"
  | "requires_confirmation"
  | "requires_action"
  | "requires_capture"
  | "succeeded"
  | "canceled";

/** Why the last try to charge failed, in Stripe's words. */
export interface Decline {
  readonly code: string;
  readonly declineCode?: string;
  readonly message: string;
}

/** A payment intent as it is kept. */
export interface SandboxIntent {
  readonly id: string;
  readonly status: IntentStatus;
  readonly amountMinor: number;
  readonly receivedMinor: number;
  /** Lower case, as Stripe writes it. */
  readonly currency: string;
  readonly captureMethod: "automatic" | "manual";
  readonly paymentMethod?: string;
  readonly customer?: string;
  readonly description?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly lastDecline?: Decline;
  readonly latestCharge?: string;
  readonly createdAtMs: number;
  readonly canceledAtMs?: number;
  readonly cancellationReason?: string;
}

/** Money that moved, once for each line of this kind in the file. */
export interface SandboxCharge {
  readonly chargeId: string;
  readonly paymentId: string;
  /** The intent's `metadata.tenant_id` and `metadata.invoice_id`; empty when it has none. */
  readonly tenantId: string;
  readonly invoiceId: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** The idempotency key of the request that moved it; empty when it had none. */
  readonly key: string;
  readonly atMs: number;
}

/** An answer as it goes over the wire. */
export interface SandboxAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The answer that every request with this key gets within the key's window. */
export interface StoredAnswer extends SandboxAnswer {
  readonly key: string;
  /** Of address and parameters: the same key with another one is refused. */
  readonly fingerprint: string;
  readonly requestId: string;
  readonly atMs: number;
}

/** A request whose effect comes only at `landsAtMs`, long after its client has given up. */
export interface LateRequest {
  readonly requestId: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly path: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Unix time. */
  readonly landsAtMs: number;
  readonly atMs: number;
}

/** One thing that changes. Those of one request are written together or not at all. */
export type SandboxChange =
  | { readonly kind: "intent"; readonly intent: SandboxIntent; readonly atMs: number }
  | { readonly kind: "charge"; readonly charge: SandboxCharge }
  | { readonly kind: "answer"; readonly answer: StoredAnswer }
  | { readonly kind: "late"; readonly request: LateRequest }
  | { readonly kind: "landed"; readonly requestId: string };
