/** What must hold between the shutdown and the platform that ends the process. */

import type { DeploymentContract, PlatformContract } from "./deployment-contract.ts";
import {
  anyOf,
  type Breach,
  downToSeconds,
  type Inequality,
  inSeconds,
  upToSeconds,
} from "./inequality.ts";
import {
  BATCH_ENTRIES,
  FARGATE_GRACE_MS,
  RECEIVE_REQUEST_EXTRA_MS,
  SPOT_GRACE_MS,
} from "./limits.ts";

/** B1, B2, B3, B8, B11, B12, B13. */
export const platformInequalities: readonly Inequality[] = [
  {
    rule: "B1",
    severity: "violation",
    reason:
      "SIGKILL would come before the leases are given back and the acks are sent: " +
      "finished jobs run twice, unfinished ones hide until their lease expires",
    breaches: shutdownOutlivesGrace,
  },
  {
    rule: "B2",
    severity: "violation",
    reason: "the platform refuses such a grace, or takes the machine away before it has passed",
    breaches: graceOutsidePlatform,
  },
  {
    rule: "B3",
    severity: "violation",
    reason:
      "an open long poll must end by itself within the drain: SQS delivers to a poll that was " +
      "cut off, and that message hides for a full lease and loses one of its receives",
    breaches: pollOutlivesDrain,
  },
  {
    rule: "B8",
    severity: "violation",
    reason:
      "leases whose release has no answer by then are left to lapse, and interruptions that " +
      "were not noted count as crashes of the job",
    breaches: releaseTooShort,
  },
  {
    rule: "B11",
    severity: "warning",
    reason: "ECS may pick a busy task for scale-in, and the job it runs is interrupted",
    breaches: protectionTooShort,
  },
  {
    rule: "B12",
    severity: "violation",
    reason: "a node that goes away kills the pod earlier than the drain was promised",
    breaches: nodeCutsGrace,
  },
  {
    rule: "B13",
    severity: "violation",
    reason: "the platform would kill a worker that is only busy, with all the jobs it holds",
    breaches: livenessTooStrict,
  },
  {
    rule: "B13",
    severity: "violation",
    reason: "a blocked handler would keep its leases beyond the drain deadline and die with them",
    breaches: blockedBeyondDrain,
  },
];

function shutdownOutlivesGrace({ platform, shutdown, queues }: DeploymentContract): Breach[] {
  const { drainMs, abortMs, releaseMs, flushMs, marginMs } = shutdown;
  const { graceMs, preStopMs } = platform;
  const neededMs = preStopMs + drainMs + abortMs + releaseMs + flushMs + marginMs;
  if (neededMs <= graceMs) return [];
  const numbers = {
    P: inSeconds(preStopMs),
    D: inSeconds(drainMs),
    A: inSeconds(abortMs),
    L: inSeconds(releaseMs),
    F: inSeconds(flushMs),
    X: inSeconds(marginMs),
    G: inSeconds(graceMs),
  };
  const { P, D, A, L, F, X, G } = numbers;
  const shorterDrainMs = drainMs - (neededMs - graceMs);
  const longestWaitMs = Math.max(0, ...queues.map(({ waitMs }) => waitMs));
  const graceIsGranted = upToSeconds(neededMs) <= graceRange(platform.kind).max;
  return [
    {
      numbers,
      message:
        `P ${P} + D ${D} + A ${A} + L ${L} + F ${F} + X ${X} = ` +
        `${inSeconds(neededMs)} s must be at most G = ${G} s`,
      mend: anyOf(
        [
          graceIsGranted && `raise platform.graceMs to ${upToSeconds(neededMs)}`,
          shorterDrainMs >= longestWaitMs + RECEIVE_REQUEST_EXTRA_MS &&
            `lower shutdown.drainMs to ${shorterDrainMs}`,
        ],
        `take ${inSeconds(neededMs - graceMs)} s out of platform.preStopMs and the parts of shutdown`,
      ),
    },
  ];
}

function graceOutsidePlatform({ platform: { kind, graceMs } }: DeploymentContract): Breach[] {
  const { min, max } = graceRange(kind);
  if (graceMs >= min && graceMs <= max) return [];
  const numbers = { G: inSeconds(graceMs), min: inSeconds(min), max: inSeconds(max) };
  return [
    {
      numbers,
      message: `G = ${numbers.G} s must be between ${numbers.min} and ${numbers.max} s on ${kind}`,
      mend: `set platform.graceMs to ${graceMs < min ? min : max}, and fit the parts of shutdown into it`,
    },
  ];
}

function graceRange(kind: PlatformContract["kind"]): {
  readonly min: number;
  readonly max: number;
} {
  if (kind === "ecs-fargate") return FARGATE_GRACE_MS;
  if (kind === "ec2-spot") return { min: 0, max: SPOT_GRACE_MS };
  return { min: 0, max: Number.POSITIVE_INFINITY };
}

function pollOutlivesDrain({ queues, shutdown: { drainMs } }: DeploymentContract): Breach[] {
  return queues.flatMap(({ name, waitMs }, index) => {
    if (waitMs + RECEIVE_REQUEST_EXTRA_MS <= drainMs) return [];
    const numbers = { W: inSeconds(waitMs), D: inSeconds(drainMs) };
    const shorterMs = downToSeconds(drainMs - RECEIVE_REQUEST_EXTRA_MS);
    return [
      {
        numbers,
        message: `queue ${name}: W ${numbers.W} + 5 = ${numbers.W + 5} s must be at most D = ${numbers.D} s`,
        mend: anyOf(
          [
            shorterMs >= 1_000 && `lower queues[${index}].waitMs to ${shorterMs}`,
            `raise shutdown.drainMs to ${waitMs + RECEIVE_REQUEST_EXTRA_MS}`,
          ],
          "",
        ),
      },
    ];
  });
}

/**
 * Releases go ten in a call, each queue for itself; with a ledger each job notes its interruption
 * with a write of its own. All calls share the client's connections, a round after the other.
 */
function releaseTooShort(contract: DeploymentContract): Breach[] {
  const { shutdown, lease, worker, queues, ledger } = contract;
  const spread = Math.ceil(worker.concurrency / BATCH_ENTRIES) + queues.length - 1;
  const writes = ledger.kind === "none" ? 0 : worker.concurrency;
  const calls = Math.min(worker.concurrency, spread) + writes;
  const rounds = Math.ceil(calls / worker.sockets);
  const neededMs = rounds * lease.callTimeoutMs + lease.connectTimeoutMs;
  if (neededMs <= shutdown.releaseMs) return [];
  const numbers = {
    L: inSeconds(shutdown.releaseMs),
    "R'": inSeconds(lease.callTimeoutMs),
    connect: inSeconds(lease.connectTimeoutMs),
    N: worker.concurrency,
    calls,
    sockets: worker.sockets,
    rounds,
  };
  const { connect, N, sockets } = numbers;
  return [
    {
      numbers,
      message:
        `rounds ${rounds} (calls ${calls} for N ${N} over ${sockets} sockets) ` +
        `x R' ${numbers["R'"]} + connect ${connect} = ${inSeconds(neededMs)} s ` +
        `must be at most L = ${numbers.L} s`,
      mend: anyOf(
        [
          `raise shutdown.releaseMs to ${neededMs}`,
          lease.callTimeoutMs + lease.connectTimeoutMs <= shutdown.releaseMs &&
            `raise worker.sockets to ${calls}`,
        ],
        "",
      ),
    },
  ];
}

function protectionTooShort({ platform, worker, shutdown }: DeploymentContract): Breach[] {
  const { taskProtectionMinutes } = platform;
  const neededMs = worker.jobTimeoutMs + shutdown.drainMs;
  if (taskProtectionMinutes === undefined || taskProtectionMinutes * 60_000 >= neededMs) return [];
  const numbers = {
    minutes: taskProtectionMinutes,
    J: inSeconds(worker.jobTimeoutMs),
    D: inSeconds(shutdown.drainMs),
  };
  return [
    {
      numbers,
      message:
        `task protection of ${numbers.minutes} min = ${numbers.minutes * 60} s must be at least ` +
        `J ${numbers.J} + D ${numbers.D} = ${inSeconds(neededMs)} s`,
      mend: `raise platform.taskProtectionMinutes to ${Math.ceil(neededMs / 60_000)}, or lower worker.jobTimeoutMs`,
    },
  ];
}

function nodeCutsGrace({ platform: { autoscalerGraceMs, graceMs } }: DeploymentContract): Breach[] {
  if (autoscalerGraceMs === undefined || autoscalerGraceMs >= graceMs) return [];
  const numbers = { autoscaler: inSeconds(autoscalerGraceMs), G: inSeconds(graceMs) };
  return [
    {
      numbers,
      message: `the node's grace of ${numbers.autoscaler} s must be at least G = ${numbers.G} s`,
      mend:
        `raise cluster-autoscaler's max-graceful-termination-sec, Karpenter's terminationGracePeriod ` +
        `and kubelet's shutdownGracePeriod to ${numbers.G} s and platform.autoscalerGraceMs to ` +
        `${graceMs}, or lower platform.graceMs`,
    },
  ];
}

function livenessTooStrict({ platform: { liveness } }: DeploymentContract): Breach[] {
  const { periodMs, failures, longestStallMs } = liveness;
  if (periodMs * failures > longestStallMs) return [];
  const numbers = {
    period: inSeconds(periodMs),
    failures,
    stall: inSeconds(longestStallMs),
  };
  return [
    {
      numbers,
      message:
        `liveness period ${numbers.period} x ${failures} failures = ` +
        `${inSeconds(periodMs * failures)} s must be above the longest stall, ${numbers.stall} s`,
      mend:
        `raise platform.liveness.failures to ${Math.floor(longestStallMs / periodMs) + 1}, ` +
        "or move the work that stalls the event loop into a thread and lower longestStallMs",
    },
  ];
}

function blockedBeyondDrain({ lease: { maxBlockedMs }, shutdown }: DeploymentContract): Breach[] {
  if (maxBlockedMs <= shutdown.drainMs) return [];
  const numbers = { maxBlocked: inSeconds(maxBlockedMs), D: inSeconds(shutdown.drainMs) };
  return [
    {
      numbers,
      message: `maxBlocked ${numbers.maxBlocked} s must be at most D = ${numbers.D} s`,
      mend: `lower lease.maxBlockedMs to ${shutdown.drainMs}`,
    },
  ];
}
