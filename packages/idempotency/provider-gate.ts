/** Holds jobs back from an effect whose provider is down, or has asked to be left alone for a while. */

import type { Clock } from "@leasehold/clock";
import type { JobIdentity, LedgerListener } from "@leasehold/job";
import type { ResolvedLedgerOptions } from "./options.ts";
import { OutageSuspects } from "./outage-suspects.ts";

/** What the gates of a process work with. */
export interface ProviderGateParts {
  readonly clock: Clock;
  readonly options: Pick<
    ResolvedLedgerOptions,
    | "circuitFailures"
    | "circuitFirstPauseMs"
    | "circuitLongestPauseMs"
    | "longestQuietMs"
    | "outageForgivenMs"
  >;
  /** In [0, 1): spreads those who come back. */
  readonly random: () => number;
  readonly emit: LedgerListener;
}

/** Who asks for which effect. */
export interface GateRequest {
  readonly job: JobIdentity;
  readonly effect: string;
  /** Each delivery that was for nothing makes the next one wait longer: SQS counts receives. */
  readonly receiveCount: number;
}

/** What became of a call of the provider. */
export type GateVerdict =
  /** It answered, be it with a refusal. */
  | { readonly kind: "answered" }
  /** It did not, or not with sense. */
  | { readonly kind: "down" }
  /** It asks for a pause. */
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number };

/** Whose fault the end of a call is. */
export type GateBlame =
  | { readonly kind: "job" }
  /** The provider's, it seems: the job's failure is not counted. */
  | { readonly kind: "provider" }
  /** The provider's, for certain: the job comes back at `retryAtMs`, wall time. */
  | { readonly kind: "held"; readonly retryAtMs: number };

/** Leave to call the provider; to be given back by `leave`, whatever came of it. */
export interface GatePass {
  /** Says how the call ended. */
  tell(verdict: GateVerdict): GateBlame;
  leave(): void;
}

/** A pass, or when to come back, wall time. */
export type GateAnswer =
  | { readonly kind: "pass"; readonly pass: GatePass }
  | Extract<GateBlame, { readonly kind: "held" }>;

/** The shortest hold of one job, doubled at each further receive, whatever it is held for. */
const FIRST_HOLD_MS = 1_000;
/** With a hundred receives before SQS gives a message up, an outage of sixteen hours is survived. */
const LONGEST_HOLD_MS = 600_000;
/** Those who come back do so within this share of their wait. */
const SPREAD = 0.2;

/** The gates of one process: one for each effect of each job type. */
export class ProviderGates {
  readonly #parts: ProviderGateParts;
  readonly #gates = new Map<string, Gate>();

  constructor(parts: ProviderGateParts) {
    this.#parts = parts;
  }

  /** Asks for leave, right before an effect is begun. */
  enter(request: GateRequest): GateAnswer {
    const key = `${request.job.jobType}/${request.effect}`;
    const gate = this.#gates.get(key) ?? new Gate(this.#parts);
    this.#gates.set(key, gate);
    return gate.enter(request);
  }
}

/** A call that was let through. */
interface Begun {
  readonly request: GateRequest;
  /** Monotonic. */
  readonly atMs: number;
}

/** When a circuit was opened, and when its next probe is due; monotonic. */
interface OpenCircuit {
  readonly sinceMs: number;
  readonly pauseMs: number;
  readonly probeAtMs: number;
}

/**
 * One gate. Closed circuit: all pass. After so many failures on end it opens: all are held until the
 * pause is over; then one passes as a probe, and its fate is the fate of the circuit.
 */
class Gate {
  readonly #parts: ProviderGateParts;
  readonly #suspects = new OutageSuspects();
  #failures = 0;
  #circuit: OpenCircuit | undefined;
  #probe: GatePass | undefined;
  /** Until when the provider wants to hear nothing, monotonic. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(parts: ProviderGateParts) {
    this.#parts = parts;
  }

  enter(request: GateRequest): GateAnswer {
    if (this.#nowMs < this.#quietUntilMs) return this.#held(this.#quietUntilMs, request);
    const circuit = this.#circuit;
    if (circuit === undefined) return { kind: "pass", pass: this.#pass(request) };
    if (this.#nowMs < circuit.probeAtMs || this.#probe !== undefined) {
      return this.#held(this.#nextProbeAtMs(circuit), request);
    }
    const { job, effect } = request;
    this.#parts.emit({ kind: "effect.circuit-probed", job, effect });
    this.#probe = this.#pass(request);
    return { kind: "pass", pass: this.#probe };
  }

  get #nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }

  #pass(request: GateRequest): GatePass {
    const begun = { request, atMs: this.#nowMs };
    const pass: GatePass = {
      tell: (verdict) => this.#tell(verdict, pass, begun),
      leave: () => {
        if (this.#probe === pass) this.#probe = undefined;
      },
    };
    return pass;
  }

  #tell(verdict: GateVerdict, pass: GatePass, begun: Begun): GateBlame {
    if (verdict.kind === "down") return this.#down(pass, begun);
    const { request } = begun;
    this.#answered(request);
    if (verdict.kind === "answered") return { kind: "job" };
    const { job, effect } = request;
    const retryAfterMs = Math.min(verdict.retryAfterMs, this.#parts.options.longestQuietMs);
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#nowMs + retryAfterMs);
    this.#parts.emit({ kind: "effect.rate-limited", job, effect, retryAfterMs });
    return this.#held(this.#quietUntilMs, request);
  }

  #answered({ job, effect }: GateRequest): void {
    this.#suspects.answered(job, this.#nowMs);
    this.#failures = 0;
    if (this.#circuit === undefined) return;
    const outageMs = this.#nowMs - this.#circuit.sinceMs;
    this.#circuit = undefined;
    this.#parts.emit({ kind: "effect.circuit-closed", job, effect, outageMs });
  }

  #down(pass: GatePass, { request, atMs }: Begun): GateBlame {
    if (this.#parts.options.circuitFailures === 0) return { kind: "job" };
    // Somebody was answered since it began: a time limit of the last outage says nothing of today.
    const isNews = atMs >= this.#suspects.answeredAtMs;
    const isToBlame = this.#suspects.isToBlame(request.job, this.#nowMs);
    if (isNews) this.#count(pass, request);
    const circuit = this.#circuit;
    if (circuit === undefined) return { kind: isToBlame ? "job" : "provider" };
    if (!this.#isForgiven(circuit)) return { kind: "job" };
    return this.#held(this.#nextProbeAtMs(circuit), request);
  }

  #count(pass: GatePass, request: GateRequest): void {
    const { circuitFailures, circuitFirstPauseMs, circuitLongestPauseMs } = this.#parts.options;
    this.#failures += 1;
    const before = this.#circuit;
    if (before === undefined && this.#failures >= circuitFailures) {
      this.#open(this.#nowMs, circuitFirstPauseMs, request);
    } else if (before !== undefined && this.#probe === pass) {
      this.#open(before.sinceMs, Math.min(2 * before.pauseMs, circuitLongestPauseMs), request);
    }
  }

  #open(sinceMs: number, pauseMs: number, { job, effect }: GateRequest): void {
    const probeAtMs = this.#nowMs + pauseMs;
    this.#circuit = { sinceMs, pauseMs, probeAtMs };
    const outageMs = this.#nowMs - sinceMs;
    this.#parts.emit({ kind: "effect.circuit-opened", job, effect, pauseMs, outageMs });
  }

  /** A job that brings its provider down by itself must come to an end some time. */
  #isForgiven({ sinceMs }: OpenCircuit): boolean {
    return this.#nowMs - sinceMs < this.#parts.options.outageForgivenMs;
  }

  /** One that found the probe under way waits for the next. */
  #nextProbeAtMs({ probeAtMs, pauseMs }: OpenCircuit): number {
    return probeAtMs > this.#nowMs ? probeAtMs : this.#nowMs + pauseMs;
  }

  /** It comes back not before `untilMs`, and each time later than the last. */
  #held(untilMs: number, { receiveCount }: GateRequest): GateAnswer & GateBlame {
    const doublings = Math.min(20, Math.max(0, receiveCount - 1));
    const growingMs = Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** doublings);
    const waitMs = Math.max(untilMs - this.#nowMs, growingMs);
    const spreadMs = Math.ceil(this.#parts.random() * SPREAD * waitMs);
    return { kind: "held", retryAtMs: this.#parts.clock.wallMs() + waitMs + spreadMs };
  }
}
