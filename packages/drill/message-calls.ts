/** What each worker asked of SQS about each message, from the requests that went by. Pure. */

import type { ProxiedRequest } from "@leasehold/local-aws";
import type { DrillRecord, WorkerRecord } from "./drill-record.ts";

/** One call about one message. */
export interface MessageCall {
  readonly worker: string;
  readonly kind: "receive" | "extend" | "release" | "delete";
  readonly messageId: string;
  /** When it left for SQS; of a receive, when the message came. */
  readonly atMs: number;
  /** When SQS had answered; absent when it never did. */
  readonly answeredAtMs?: number;
  /** SQS took it. */
  readonly ok: boolean;
}

/** All calls of all workers in the order of their moments. */
export function messageCalls({ workers }: Pick<DrillRecord, "workers">): readonly MessageCall[] {
  const messageOf = new Map<string, string>();
  for (const { entries } of workers.flatMap(({ requests }) => requests)) {
    for (const { messageId, receiptHandle } of entries) {
      if (messageId !== undefined && receiptHandle !== undefined)
        messageOf.set(receiptHandle, messageId);
    }
  }
  return workers
    .flatMap((worker) => callsOf(worker, messageOf))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function callsOf(
  { name, requests }: WorkerRecord,
  messageOf: ReadonlyMap<string, string>,
): readonly MessageCall[] {
  return requests.flatMap((request) =>
    request.entries.flatMap((entry): readonly MessageCall[] => {
      const kind = kindOf(request, entry.visibilityTimeoutSeconds);
      const messageId = entry.messageId ?? messageOf.get(entry.receiptHandle ?? "");
      if (kind === undefined || messageId === undefined) return [];
      const { answeredAtMs, forwardedAtMs, arrivedAtMs } = request;
      const leftAtMs = forwardedAtMs ?? arrivedAtMs;
      return [
        {
          ...{ worker: name, kind, messageId },
          atMs: kind === "receive" ? (answeredAtMs ?? leftAtMs) : leftAtMs,
          ...(answeredAtMs !== undefined && { answeredAtMs }),
          ok: entry.outcome === "ok",
        },
      ];
    }),
  );
}

function kindOf(
  { action }: ProxiedRequest,
  visibilityTimeoutSeconds: number | undefined,
): MessageCall["kind"] | undefined {
  if (action === "ReceiveMessage") return "receive";
  if (action.startsWith("DeleteMessage")) return "delete";
  if (!action.startsWith("ChangeMessageVisibility")) return undefined;
  return visibilityTimeoutSeconds === 0 ? "release" : "extend";
}
