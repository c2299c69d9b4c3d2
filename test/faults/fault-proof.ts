/** Whether a cell tried what it is about: the proxy's log against the fault that it names. Pure. */

import type { ProxiedRequest } from "@leasehold/local-aws";
import type { FaultCell } from "./fault-cells.ts";

/** What a cell has not tried, one sentence each: it then proves nothing, however well it went. */
export function missingFaults(
  { mustSuffer }: Pick<FaultCell, "mustSuffer">,
  faulted: readonly ProxiedRequest[],
): readonly string[] {
  const suffered = new Set(faulted.filter(hasSuffered).map(({ action }) => action));
  if (suffered.size === 0) return ["no request has suffered from the fault"];
  return mustSuffer
    .filter((action) => !suffered.has(action))
    .map((action) => `no ${action} has suffered from the fault`);
}

/** Whether the fault came out as its kind says: delayed, refused, done and untold, or not done. */
function hasSuffered(request: ProxiedRequest): boolean {
  const { fault, arrivedAtMs, forwardedAtMs, answeredAtMs, status, entries } = request;
  const isDone = answeredAtMs !== undefined;
  const isUntouched = forwardedAtMs === undefined;
  // Whoever gave up before the end has waited long enough to call it slow.
  const repliedAtMs = request.repliedAtMs ?? request.clientGoneAtMs ?? 0;
  switch (fault?.kind) {
    case "latency":
      return fault.side === "before"
        ? (forwardedAtMs ?? 0) - arrivedAtMs >= fault.delayMs
        : isDone && (request.clientGoneAtMs ?? repliedAtMs - fault.delayMs) >= answeredAtMs;
    case "throttle":
      return isUntouched && status === 403;
    case "server-error":
      return (fault.side === "before" ? isUntouched : isDone) && status === (fault.status ?? 500);
    case "reset":
      return (fault.side === "before" ? isUntouched : isDone) && status === undefined;
    case "hung":
      return isUntouched && status === undefined;
    case "lost-reply":
      return isDone && status === undefined;
    case "slow-body":
      return isDone && repliedAtMs > answeredAtMs;
    case "failed-entries":
      return entries.some(({ outcome }) => outcome === "InternalError");
    case undefined:
      return false;
  }
}
