/** A ledger record for people, line by line. Pure. */

import type { EffectRecord, JobRecord } from "@leasehold/idempotency";
import type { JobIdentity } from "@leasehold/job";
import { alignPairs, showDuration } from "./output.ts";

const SHOWN_RESULT_CHARACTERS = 300;

/** Which job, in the order of the flags. */
export function showIdentity({ tenantId, jobType, jobId }: JobIdentity): string {
  return `${jobType} ${jobId} of ${tenantId}`;
}

/** The whole record. */
export function recordLines(record: JobRecord, nowMs: number): readonly string[] {
  const effects = Object.entries(record.effects);
  return [
    showIdentity(record),
    ...alignPairs([
      ["state", showState(record, nowMs)],
      ["opening", showOpening(record, nowMs)],
      ["delivery", `message ${record.messageId || "none yet"}, receive ${record.receiveCount}`],
      ["counts", showCounts(record)],
      ["checkpoint", sizeOf(record.checkpoint)],
      ["created", showMoment(record.createdAtMs, nowMs)],
      ["updated", showMoment(record.updatedAtMs, nowMs)],
      ["kept", showKept(record)],
      ...resolutionPairs(record, nowMs),
    ]),
    ...(effects.length === 0 ? ["  no effects"] : []),
    ...effects.flatMap(([name, effect]) => effectLines(name, effect, nowMs)),
  ];
}

/** One line of the list, and what an operator needs to find the effect at its provider. */
export function parkedLines(record: JobRecord, nowMs: number): readonly string[] {
  const { parked, resendToken } = record;
  const effect = parked?.effect === undefined ? undefined : record.effects[parked.effect];
  return [
    showIdentity(record),
    ...alignPairs([
      ["why", showWhy(record)],
      ["since", parked === undefined ? "unknown" : showMoment(parked.atMs, nowMs)],
      ...(effect === undefined ? [] : [["provider key", effect.providerKey] as const]),
      ...(resendToken === undefined ? [] : [["resolved", NOT_SENT] as const]),
    ]),
  ];
}

const NOT_SENT = "yes, but its message is not sent again yet: run the same resolve again";

function showState(record: JobRecord, nowMs: number): string {
  const { state, parked, reason } = record;
  if (state === "parked" && parked !== undefined) {
    return `parked: ${showWhy(record)}, since ${showMoment(parked.atMs, nowMs)}`;
  }
  return reason === undefined ? state : `${state}: ${reason.code}, ${reason.detail}`;
}

function showWhy({ parked }: JobRecord): string {
  switch (parked?.why) {
    case "outcome-unknown":
      return `nobody knows whether its effect ${parked.effect} happened`;
    case "too-old":
      return "too old to prove that it has not run before";
    case "applied-after-rejection":
      return `its effect ${parked.effect} happened although it was refused later`;
    default:
      return "it was parked";
  }
}

function showOpening({ generation, epoch, owner, leaseUntilMs }: JobRecord, nowMs: number): string {
  const lease = leaseUntilMs > nowMs ? `, lease until ${showMoment(leaseUntilMs, nowMs)}` : "";
  return `generation ${generation}, epoch ${epoch}, owner ${owner}${lease}`;
}

function showCounts(record: JobRecord): string {
  const { failures, interruptions, putOffs, starts, endings } = record;
  return (
    `failures ${failures}, interruptions ${interruptions}, put off ${putOffs}, ` +
    `starts ${starts}, recorded endings ${endings}`
  );
}

function showKept({ expiresAtMs }: JobRecord): string {
  return expiresAtMs === undefined ? "for ever" : `until ${new Date(expiresAtMs).toISOString()}`;
}

function resolutionPairs(
  { resolution, resendToken }: JobRecord,
  nowMs: number,
): readonly (readonly [string, string])[] {
  if (resolution === undefined) return [];
  const { verdict, by, atMs, reason } = resolution;
  const why = reason === undefined ? "" : `: ${reason}`;
  return [
    ["resolved", `${verdict} by ${by}, ${showMoment(atMs, nowMs)}${why}`],
    ...(resendToken === undefined
      ? []
      : [["sent again", NOT_SENT.replace("yes, but", "no:")] as const]),
  ];
}

function effectLines(name: string, effect: EffectRecord, nowMs: number): readonly string[] {
  const { state, outcome, attempts, epoch, firstSentAtMs, deadlineAtMs, providerKey } = effect;
  const end = state === "done" ? ` (${outcome}${effect.late === true ? ", late" : ""})` : "";
  return [
    `  effect ${name}: ${state}${end}`,
    ...alignPairs([
      ["  attempts", `${attempts}, the last in epoch ${epoch}`],
      ["  first send", showMoment(firstSentAtMs, nowMs)],
      ["  deadline", showMoment(deadlineAtMs, nowMs)],
      ["  provider key", providerKey],
      ...resultPairs(effect),
    ]),
  ];
}

function resultPairs(effect: EffectRecord): readonly (readonly [string, string])[] {
  const { result, rejection, lateResult, tombstone } = effect;
  return [
    ...(result === undefined ? [] : [["  result", showResult(result)] as const]),
    ...(rejection === undefined
      ? []
      : [["  refused", `${rejection.reason}: ${rejection.message}`] as const]),
    ...(lateResult === undefined ? [] : [["  late result", showResult(lateResult)] as const]),
    ...(tombstone === true ? [["  record", "kept for ever"] as const] : []),
  ];
}

function showResult(result: NonNullable<EffectRecord["result"]>): string {
  switch (result.kind) {
    case "inline":
      return result.json.length > SHOWN_RESULT_CHARACTERS
        ? `${result.json.slice(0, SHOWN_RESULT_CHARACTERS)}... (whole with --json)`
        : result.json;
    case "reference":
      return `in the result store, at ${result.at}`;
    case "dropped":
      return "not kept";
  }
}

function sizeOf(checkpoint: string | undefined): string {
  return checkpoint === undefined ? "none" : `${Buffer.byteLength(checkpoint)} bytes`;
}

function showMoment(atMs: number, nowMs: number): string {
  const moment = new Date(atMs).toISOString();
  const apartMs = Math.abs(nowMs - atMs);
  const apart = showLong(apartMs);
  return atMs > nowMs ? `${moment} (in ${apart})` : `${moment} (${apart} ago)`;
}

const HOUR_MS = 3_600_000;

/** Parked jobs wait for days. */
function showLong(durationMs: number): string {
  if (durationMs < HOUR_MS) return showDuration(durationMs);
  const hours = Math.floor(durationMs / HOUR_MS);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
