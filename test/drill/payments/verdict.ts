/** Whether a cell kept its promises, from what was seen. Pure. */

import type { Cell } from "./cells.ts";

/** What was seen of one cell, once nothing happened any more. */
export interface CellEvidence {
  /** Whether the moment came at which it was to happen. */
  readonly isReached: boolean;
  /** Why it did not come to an end; absent when it did. */
  readonly problem?: string;
  /** The provider's payments for the invoice, oldest first. */
  readonly payments: readonly string[];
  /** The key of each charge that was sent. */
  readonly keys: readonly string[];
  /** The payment of each receipt that was marked. */
  readonly receipts: readonly string[];
  /** Of the job's record; `none` without one. */
  readonly state: string;
  /** The state of the record at each ack. */
  readonly ackedIn: readonly string[];
  readonly messages: { readonly waiting: number; readonly dead: number };
  /** Events and messages of the log that want a person. */
  readonly alarms: readonly string[];
  /** How many payments there were when the job was parked; absent when it never was. */
  readonly parkedWith?: number;
  /** What went wrong with the operator's command. */
  readonly commandProblem?: string;
}

/** `listed`: charged more than once where no ledger can help, and an alarm says so. */
export interface Verdict {
  readonly kind: "kept" | "listed" | "broken";
  /** Every broken promise. */
  readonly broken: readonly string[];
}

/** Under which states of its record a message may be deleted. */
const ACKABLE: ReadonlySet<string> = new Set(["done", "dead", "cancelled", "parked"]);

/** Judges one cell. */
export function judge(cell: Cell, evidence: CellEvidence): Verdict {
  if (!evidence.isReached) {
    return { kind: "broken", broken: [`the moment never came: ${evidence.problem ?? ""}`] };
  }
  const isListed = isPermittedDouble(cell, evidence);
  const broken = [
    ...(evidence.problem === undefined ? [] : [evidence.problem]),
    ...(isListed ? [] : chargeProblems(evidence)),
    ...parkProblems(cell, evidence),
    ...endProblems(evidence),
  ];
  if (broken.length > 0) return { kind: "broken", broken };
  return { kind: isListed ? "listed" : "kept", broken };
}

function isPermittedDouble({ moment, policy }: Cell, { payments, alarms }: CellEvidence): boolean {
  const isMeant = policy === "query" && moment.exceedsSettle === true;
  return isMeant && payments.length === 2 && alarms.length > 0;
}

function chargeProblems({ payments, alarms }: CellEvidence): readonly string[] {
  if (payments.length === 1) return [];
  const alarm = alarms.length > 0 ? `with alarm ${alarms.join(", ")}` : "and nobody was told";
  return [`the invoice was charged ${payments.length} times, ${alarm}`];
}

function parkProblems({ moment, policy }: Cell, evidence: CellEvidence): readonly string[] {
  const { parkedWith, commandProblem } = evidence;
  const mustPark = policy === "park" && moment.isUnknown;
  return [
    ...(mustPark && parkedWith === undefined
      ? ["nobody could know whether it was charged, and it was not parked"]
      : []),
    ...(!mustPark && parkedWith !== undefined
      ? ["it was parked although the outcome was known or could be found out"]
      : []),
    ...(parkedWith !== undefined && parkedWith > 1
      ? [`the invoice was charged ${parkedWith} times before it was parked`]
      : []),
    ...(commandProblem === undefined ? [] : [commandProblem]),
  ];
}

function endProblems(evidence: CellEvidence): readonly string[] {
  const { keys, receipts, payments, state, ackedIn, messages } = evidence;
  const early = ackedIn.filter((at) => !ACKABLE.has(at));
  const isBooked = receipts.length === 1 && payments.includes(receipts[0] ?? "");
  return [
    ...(new Set(keys).size > 1 ? [`the provider was given ${new Set(keys).size} keys`] : []),
    ...(state === "done" ? [] : [`the record is ${state}, not done`]),
    ...(isBooked ? [] : [`the later effect ran for ${receipts.join(" ") || "nothing"}`]),
    ...(early.length > 0 ? [`a message was deleted while the record was ${early.join(", ")}`] : []),
    ...(messages.waiting > 0 ? [`${messages.waiting} messages are left in the queue`] : []),
    ...(messages.dead > 0 ? [`${messages.dead} messages are dead letters`] : []),
  ];
}
