/** What a drill reads from the queue's record of requests, by the queue's own stamps. */

import type { RequestAnswered, RequestEntry } from "@leasehold/embedded-sqs";
import type { DrillSite } from "./drill-site.ts";

/** One thing that happened to one message at the queue. */
export interface MessageMoment extends RequestEntry {
  readonly action: string;
  /** When the request came in, Unix time. */
  readonly startedAtMs: number;
  /** When it was answered. */
  readonly endedAtMs: number;
}

/** All that happened to the message, in order of the answers. */
export function momentsOf(site: DrillSite, messageId: string): MessageMoment[] {
  return site.answered.flatMap((request) => entriesOf(request, messageId));
}

/** Visibility set to 0, or to whatever `seconds` says, at the queue. */
export function releasesOf(site: DrillSite, messageId: string): MessageMoment[] {
  return momentsOf(site, messageId).filter(
    ({ action, visibilityTimeoutSeconds }) =>
      action.startsWith("ChangeMessageVisibility") && visibilityTimeoutSeconds === 0,
  );
}

/** The one release of the message; a second one would free somebody else's lease. */
export function onlyReleaseOf(site: DrillSite, messageId: string): MessageMoment {
  const [release, ...others] = releasesOf(site, messageId);
  if (release === undefined || others.length > 0) {
    throw new Error(
      `${messageId} was released ${others.length + (release ? 1 : 0)} times, not once`,
    );
  }
  return release;
}

/** The receive that brought the message for the `nth` time, now or later. */
export async function nthReceive(
  site: DrillSite,
  messageId: string,
  nth: number,
): Promise<MessageMoment> {
  const isIt = (request: RequestAnswered) => entriesOf(request, messageId).some(isNth);
  const isNth = ({ outcome, receiveCount }: MessageMoment) =>
    outcome === "received" && receiveCount === nth;
  const request = await site.waitForRequest("answered", isIt);
  const moment = entriesOf(request, messageId).find(isNth);
  if (moment === undefined) throw new Error("the request that fitted does not fit any more");
  return moment;
}

function entriesOf(request: RequestAnswered, messageId: string): MessageMoment[] {
  const { action, startedAtMs, endedAtMs } = request;
  return request.entries
    .filter((entry) => entry.messageId === messageId)
    .map((entry) => ({ ...entry, action, startedAtMs, endedAtMs }));
}
