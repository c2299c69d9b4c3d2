/** The kill matrix as data: at which moment what happens to a worker, under which policy. */

import type { WirePoint } from "./wire-point.ts";

/** What an effect's author says is to be done when nobody knows whether it happened. */
export type Policy = "replay" | "query" | "park" | "rerun";

/** Every policy, in the order of the table's columns. */
export const policies: readonly Policy[] = ["replay", "query", "park", "rerun"];

/** What happens at the moment. */
export type Deed =
  /** SIGKILL; what is held never goes on. */
  | { readonly kind: "kill" }
  /** SIGKILL; the held request gets there all the same, so long after. */
  | { readonly kind: "kill-and-land"; readonly afterMs: number }
  /** SIGSTOP until others have settled the job; then what is held goes on, and SIGCONT. */
  | { readonly kind: "stop" }
  /** The answer never comes. */
  | { readonly kind: "lose" }
  /** DynamoDB refuses so many times for the rate of requests. */
  | { readonly kind: "throttle"; readonly times: number };

/** One moment in the life of a job. */
export interface Moment {
  readonly name: string;
  /** The first worker's first request of this kind is held ... */
  readonly at: WirePoint;
  /** ... before it gets there, or after it took effect, with its answer. */
  readonly side: "before" | "after";
  readonly deed: Deed;
  /** The opening is a write of its own, or goes with the first START. @defaultValue "eager" */
  readonly opening?: "eager" | "lazy";
  /** Whether the next worker cannot know if the charge happened: `park` must ask an operator then. */
  readonly isUnknown: boolean;
  /**
   * The pause lies between the last check and the send, and exceeds settle: no ledger can close that
   * gap for a provider without keys. Two charges are listed then, if the alarm was raised.
   */
  readonly exceedsSettle?: true;
}

const kill = { kind: "kill" } as const;
const stop = { kind: "stop" } as const;
const lose = { kind: "lose" } as const;

/** How long after its START a charge lands whose worker is dead: past its deadline, before settle. */
const LATE_LANDING_MS = 8_000;
/** More than the SDK tries by itself. */
const THROTTLES = 5;

/** The rows of the matrix. */
export const moments: readonly Moment[] = [
  { name: "SIGKILL before opening", at: "open", side: "before", deed: kill, isUnknown: false },
  { name: "SIGKILL after opening", at: "open", side: "after", deed: kill, isUnknown: false },
  { name: "SIGKILL after START", at: "start", side: "after", deed: kill, isUnknown: true },
  {
    ...{ name: "SIGKILL after a START that opened the job", at: "start", side: "after" },
    ...{ deed: kill, opening: "lazy", isUnknown: true },
  },
  {
    ...{ name: "SIGKILL, and the charge lands late", at: "charge", side: "before" },
    ...{ deed: { kind: "kill-and-land", afterMs: LATE_LANDING_MS }, isUnknown: true },
  },
  {
    ...{ name: "SIGKILL after the provider got it", at: "charge", side: "after" },
    ...{ deed: kill, isUnknown: true },
  },
  {
    ...{ name: "SIGKILL after its answer, before COMPLETE", at: "complete", side: "before" },
    ...{ deed: kill, isUnknown: true },
  },
  { name: "SIGKILL after COMPLETE", at: "complete", side: "after", deed: kill, isUnknown: false },
  { name: "SIGKILL after FINISH", at: "finish", side: "after", deed: kill, isUnknown: false },
  { name: "SIGKILL before the ack", at: "ack", side: "before", deed: kill, isUnknown: false },
  { name: "SIGSTOP before opening", at: "open", side: "before", deed: stop, isUnknown: false },
  {
    ...{ name: "SIGSTOP between START and send", at: "start", side: "after" },
    ...{ deed: stop, isUnknown: true },
  },
  {
    ...{ name: "SIGSTOP between last check and send", at: "charge", side: "before" },
    ...{ deed: stop, isUnknown: true, exceedsSettle: true },
  },
  {
    ...{ name: "SIGSTOP after the provider got it", at: "charge", side: "after" },
    ...{ deed: stop, isUnknown: true },
  },
  {
    ...{ name: "SIGSTOP before COMPLETE gets there", at: "complete", side: "before" },
    ...{ deed: stop, isUnknown: true },
  },
  { name: "SIGSTOP after COMPLETE", at: "complete", side: "after", deed: stop, isUnknown: false },
  { name: "lost reply to OPEN", at: "open", side: "after", deed: lose, isUnknown: false },
  { name: "lost reply to START", at: "start", side: "after", deed: lose, isUnknown: false },
  { name: "lost reply to COMPLETE", at: "complete", side: "after", deed: lose, isUnknown: false },
  { name: "lost reply to FINISH", at: "finish", side: "after", deed: lose, isUnknown: false },
  {
    ...{ name: "throttled START", at: "start", side: "before" },
    ...{ deed: { kind: "throttle", times: THROTTLES }, isUnknown: false },
  },
  {
    ...{ name: "throttled COMPLETE", at: "complete", side: "before" },
    ...{ deed: { kind: "throttle", times: THROTTLES }, isUnknown: false },
  },
];

/** At which of its steps `leasehold ledger resolve` is killed; then it is run again. */
export interface CliKill {
  readonly name: string;
  readonly at: WirePoint;
  readonly side: "before" | "after";
}

/** The rows of the second table. */
export const cliKills: readonly CliKill[] = [
  { name: "CLI killed before its word is kept", at: "word", side: "before" },
  { name: "CLI killed after its word is kept", at: "word", side: "after" },
  { name: "CLI killed after it sent the message", at: "send", side: "after" },
  { name: "CLI killed after it cleared the mark", at: "clear", side: "after" },
];

/** One run of the matrix. */
export interface Cell {
  readonly moment: Moment;
  readonly policy: Policy;
  readonly cliKill?: CliKill;
}

/** Parked without a charge, and with one: the operator says `--not-done`, and `--done`. */
const parkedAt: readonly string[] = ["SIGKILL after START", "SIGKILL after the provider got it"];

/** Every cell, first by moment and then by policy; those of the operator's command come last. */
export const cells: readonly Cell[] = [
  ...moments.flatMap((moment) => policies.map((policy) => ({ moment, policy }))),
  ...cliKills.flatMap((cliKill) =>
    moments
      .filter(({ name }) => parkedAt.includes(name))
      .map((moment) => ({ moment, policy: "park" as const, cliKill })),
  ),
];

/** A cell in words. */
export function cellName({ moment, policy, cliKill }: Cell): string {
  return [moment.name, cliKill?.name, policy].filter((part) => part !== undefined).join(" / ");
}
