/** What must hold for a lease to outlive each wait, and a job to fit into one. */

import type { DeploymentContract, EffectContract } from "./deployment-contract.ts";
import { type Breach, type Inequality, inSeconds, upToSeconds } from "./inequality.ts";
import { MAX_HELD_IN_GROUP, MAX_VISIBILITY_MS, RECEIVE_REQUEST_EXTRA_MS } from "./limits.ts";

/** B4, B5, B6, B7, B16. */
export const leaseInequalities: readonly Inequality[] = [
  {
    rule: "B4",
    severity: "violation",
    reason:
      "a message that comes at the end of a long poll would lose its lease before the first " +
      "extension has an answer, and another worker would run the job too",
    breaches: firstExtensionTooLate,
  },
  {
    rule: "B4",
    severity: "violation",
    reason: "one failed extension would lose the lease, and another worker would run the job too",
    breaches: failedExtensionIsFatal,
  },
  {
    rule: "B5",
    severity: "violation",
    reason: "a slow receive would hand out messages whose lease is already over",
    breaches: receiveOutlivesLease,
  },
  {
    rule: "B6",
    severity: "warning",
    reason: "after a SIGKILL the job hides until its lease expires, longer than was agreed to",
    breaches: redeliveryTooLate,
  },
  {
    rule: "B7",
    severity: "violation",
    reason:
      "SQS ends a lease 12 h after the receive: the job could never finish, and starts anew each time",
    breaches: jobOutlivesLease,
  },
  {
    rule: "B7",
    severity: "violation",
    reason:
      "ten messages of a FIFO group may be held at once and run one after the other; the last " +
      "would be cut off by SQS's 12 h in the middle of its work",
    breaches: groupOutlivesLease,
  },
  {
    rule: "B16",
    severity: "violation",
    reason:
      "the effect would be cut off while its outcome is open: it may happen twice or be parked",
    breaches: effectOutlivesLease,
  },
  {
    rule: "B16",
    severity: "warning",
    reason:
      "one that started just before SIGTERM is cut off by the drain, and its outcome must be asked for",
    breaches: effectOutlivesDrain,
  },
];

/** What a lease is shorter than V by, as this worker sees it. */
function marginMs({ lease }: DeploymentContract): number {
  return Math.max(lease.clockMarginMs, lease.leaseMarginMs);
}

function firstExtensionTooLate(contract: DeploymentContract): Breach[] {
  const { visibilityTimeoutMs, extendEveryMs, callTimeoutMs } = contract.lease;
  const e = marginMs(contract);
  return contract.queues.flatMap(({ name, waitMs }) => {
    // 1.1 H as 11 H / 10: whole milliseconds must not gain a rounding error here.
    const neededMs = (10 * (waitMs + callTimeoutMs + e) + 11 * extendEveryMs) / 10;
    if (visibilityTimeoutMs >= neededMs) return [];
    const numbers = {
      V: inSeconds(visibilityTimeoutMs),
      W: inSeconds(waitMs),
      H: inSeconds(extendEveryMs),
      "R'": inSeconds(callTimeoutMs),
      e: inSeconds(e),
    };
    return [
      {
        numbers,
        message:
          `queue ${name}: V = ${numbers.V} s must be at least W ${numbers.W} + 1.1 x H ${numbers.H} ` +
          `+ R' ${numbers["R'"]} + e ${numbers.e} = ${inSeconds(neededMs)} s`,
        mend: mendLease(neededMs, "the queue's waitMs or lease.extendEveryMs"),
      },
    ];
  });
}

function failedExtensionIsFatal(contract: DeploymentContract): Breach[] {
  const { visibilityTimeoutMs, extendEveryMs, callTimeoutMs } = contract.lease;
  const e = marginMs(contract);
  const neededMs = 2 * extendEveryMs + 2 * callTimeoutMs + e;
  if (visibilityTimeoutMs >= neededMs) return [];
  const numbers = {
    V: inSeconds(visibilityTimeoutMs),
    H: inSeconds(extendEveryMs),
    "R'": inSeconds(callTimeoutMs),
    e: inSeconds(e),
  };
  return [
    {
      numbers,
      message:
        `V = ${numbers.V} s must be at least 2 x H ${numbers.H} + 2 x R' ${numbers["R'"]} ` +
        `+ e ${numbers.e} = ${inSeconds(neededMs)} s`,
      mend: mendLease(neededMs, "lease.extendEveryMs"),
    },
  ];
}

function mendLease(neededMs: number, others: string): string {
  const longerMs = upToSeconds(neededMs);
  if (longerMs > MAX_VISIBILITY_MS) return `lower ${others}`;
  return `raise lease.visibilityTimeoutMs to ${longerMs}, or lower ${others}`;
}

function receiveOutlivesLease({ lease, queues }: DeploymentContract): Breach[] {
  return queues.flatMap(({ name, waitMs }) => {
    const timeoutMs = waitMs + RECEIVE_REQUEST_EXTRA_MS;
    if (lease.visibilityTimeoutMs > timeoutMs) return [];
    const numbers = { V: inSeconds(lease.visibilityTimeoutMs), W: inSeconds(waitMs) };
    return [
      {
        numbers,
        message: `queue ${name}: V = ${numbers.V} s must be above W ${numbers.W} + 5 = ${numbers.W + 5} s`,
        mend: mendLease(timeoutMs + 1_000, "the queue's waitMs"),
      },
    ];
  });
}

function redeliveryTooLate({ lease }: DeploymentContract): Breach[] {
  const { visibilityTimeoutMs, acceptedRedeliveryMs } = lease;
  if (visibilityTimeoutMs <= acceptedRedeliveryMs) return [];
  const numbers = { V: inSeconds(visibilityTimeoutMs), accepted: inSeconds(acceptedRedeliveryMs) };
  return [
    {
      numbers,
      message: `V = ${numbers.V} s must be at most the accepted redelivery delay, ${numbers.accepted} s`,
      mend:
        `lower lease.visibilityTimeoutMs to ${acceptedRedeliveryMs}, or agree to the delay with ` +
        `lease.acceptedRedeliveryMs ${visibilityTimeoutMs}`,
    },
  ];
}

function jobOutlivesLease({ lease, worker: { jobTimeoutMs } }: DeploymentContract): Breach[] {
  const longestMs = MAX_VISIBILITY_MS - lease.clockMarginMs;
  if (jobTimeoutMs <= longestMs) return [];
  const numbers = { J: inSeconds(jobTimeoutMs), e: inSeconds(lease.clockMarginMs) };
  return [
    {
      numbers,
      message: `J = ${numbers.J} s must be at most 43200 - e ${numbers.e} = ${inSeconds(longestMs)} s`,
      mend: `lower worker.jobTimeoutMs to ${longestMs}, and split longer work into several jobs`,
    },
  ];
}

function groupOutlivesLease({ lease, worker, queues }: DeploymentContract): Breach[] {
  const longestMs = MAX_VISIBILITY_MS - lease.clockMarginMs;
  const neededMs = MAX_HELD_IN_GROUP * worker.jobTimeoutMs;
  if (neededMs <= longestMs) return [];
  const numbers = {
    J: inSeconds(worker.jobTimeoutMs),
    held: MAX_HELD_IN_GROUP,
    e: inSeconds(lease.clockMarginMs),
  };
  return queues
    .filter(({ fifo }) => fifo)
    .map(({ name }) => ({
      numbers,
      message:
        `queue ${name}: ${numbers.held} held messages x J ${numbers.J} = ${inSeconds(neededMs)} s ` +
        `must be at most 43200 - e ${numbers.e} = ${inSeconds(longestMs)} s`,
      mend: `lower worker.jobTimeoutMs to ${Math.floor(longestMs / MAX_HELD_IN_GROUP)}, or use a standard queue`,
    }));
}

function effectOutlivesLease(contract: DeploymentContract): Breach[] {
  const margin = marginMs(contract);
  const { jobTimeoutMs } = contract.worker;
  const reachMs = Math.min(jobTimeoutMs, MAX_VISIBILITY_MS - contract.lease.clockMarginMs);
  return effectsBeyond(contract, reachMs).map(({ name, timeoutMs }) => {
    const numbers = {
      timeout: inSeconds(timeoutMs),
      margin: inSeconds(margin),
      J: inSeconds(jobTimeoutMs),
    };
    return {
      numbers,
      message:
        `effect ${name}: timeout ${numbers.timeout} + margin ${numbers.margin} = ` +
        `${inSeconds(timeoutMs + margin)} s must be at most what a lease of a job with ` +
        `J = ${numbers.J} s can reach, ${inSeconds(reachMs)} s`,
      mend: `lower the timeoutMs of effect ${name} to ${Math.max(0, reachMs - margin)}, or raise worker.jobTimeoutMs`,
    };
  });
}

function effectOutlivesDrain(contract: DeploymentContract): Breach[] {
  const margin = marginMs(contract);
  const { drainMs } = contract.shutdown;
  return effectsBeyond(contract, drainMs).map(({ name, timeoutMs }) => {
    const numbers = {
      timeout: inSeconds(timeoutMs),
      margin: inSeconds(margin),
      D: inSeconds(drainMs),
    };
    return {
      numbers,
      message:
        `effect ${name}: timeout ${numbers.timeout} + margin ${numbers.margin} = ` +
        `${inSeconds(timeoutMs + margin)} s should be at most D = ${numbers.D} s`,
      mend: `lower the timeoutMs of effect ${name} to ${Math.max(0, drainMs - margin)}, or take a preset with a longer grace`,
    };
  });
}

function effectsBeyond(contract: DeploymentContract, reachMs: number): readonly EffectContract[] {
  const effects = contract.ledger.kind === "none" ? [] : contract.ledger.effects;
  return effects.filter(({ timeoutMs }) => timeoutMs + marginMs(contract) > reachMs);
}
