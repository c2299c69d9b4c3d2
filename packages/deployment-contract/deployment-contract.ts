/** Every number that process, queue and platform must agree on. */

/** Where a contract starts from; any number may be overridden. */
export type PresetName =
  | "default-30"
  | "fargate-120"
  | "k8s-120"
  | "ec2-spot-100"
  | "k8s-600"
  | "drill";

/**
 * One service's numbers, complete and frozen. The worker, the infrastructure, local provisioning
 * and the drill all read this one value; none of them chooses a number by itself.
 *
 * Letters in the docs are the symbols of the inequalities (`verifyContract`). Ranges are those of
 * a single field; what must hold between fields is verified apart.
 */
export interface DeploymentContract {
  /** Name of the service: letters, digits, `-` and `_`. */
  readonly service: string;
  /** The preset that the numbers started from. */
  readonly preset: PresetName;
  readonly platform: PlatformContract;
  readonly shutdown: ShutdownContract;
  readonly lease: LeaseContract;
  /** At least one; names are unique, dead-letter queues included. */
  readonly queues: readonly QueueContract[];
  readonly worker: WorkerContract;
  readonly ledger: LedgerContract;
}

/** What runs the process and may end it. `ec2-spot` is ECS or plain EC2 on Spot capacity. */
export type PlatformKind = "ecs-fargate" | "ecs-ec2" | "ec2-spot" | "kubernetes" | "plain";

/** What the platform grants a process that it ends, and when it takes one for dead. */
export interface PlatformContract {
  readonly kind: PlatformKind;
  /**
   * G: from the platform's wish to stop the process to its SIGKILL, as ECS `stopTimeout` or
   * Kubernetes `terminationGracePeriodSeconds`. Whole seconds, 1 s to 24 h; by preset.
   */
  readonly graceMs: number;
  /** P: time that a preStop hook takes out of G before SIGTERM. Whole seconds, 0 to 1 h; by preset. */
  readonly preStopMs: number;
  /**
   * The shortest grace that node autoscaler, Karpenter or kubelet leave a pod. Whole seconds, 0 to
   * 24 h; 600 s on Kubernetes (cluster-autoscaler's own default), absent elsewhere.
   */
  readonly autoscalerGraceMs?: number;
  /**
   * ECS task protection, taken while leases are held. 1 to 2,880 minutes; on ECS as many as J + D
   * need, absent elsewhere.
   */
  readonly taskProtectionMinutes?: number;
  readonly liveness: LivenessContract;
}

/** When the platform takes a process for dead. */
export interface LivenessContract {
  /** Time between two probes. Whole seconds, 1 s to 1 h; 10 s. */
  readonly periodMs: number;
  /** Failed probes in a row that end the process. 1 to 100; 3. */
  readonly failures: number;
  /** The longest stall of the event loop that is still normal for this service. 0 to 1 h; 5 s. */
  readonly longestStallMs: number;
}

/** How the time between SIGTERM and SIGKILL is divided. Each 0 (D: 1 ms) to 24 h; by preset. */
export interface ShutdownContract {
  /** D: jobs may end by themselves until then, counted from SIGTERM. */
  readonly drainMs: number;
  /** A: from a handler's abort until it has stopped. */
  readonly abortMs: number;
  /** L: the calls that give unfinished leases back. */
  readonly releaseMs: number;
  /** F: acks, logs and metrics that still wait to be written. */
  readonly flushMs: number;
  /** X: what the platform's clock and ours may differ, and process exit itself. */
  readonly marginMs: number;
}

/** How a received message is held. */
export interface LeaseContract {
  /** V: visibility timeout of a receive and of each extension. Whole seconds, 1 s to 12 h; by preset. */
  readonly visibilityTimeoutMs: number;
  /** H: time between two extensions of one lease. 100 ms to 6 h; by preset. */
  readonly extendEveryMs: number;
  /** R': hard timeout of one extend, release or delete call. 50 ms to 1 min; by preset. */
  readonly callTimeoutMs: number;
  /** Connecting to SQS, part of the first call after an idle time. 0 to 1 min; 1 s. */
  readonly connectTimeoutMs: number;
  /** e: what clocks and timers may be off within one lease. 0 to 1 min; 1 s. */
  readonly clockMarginMs: number;
  /** How much earlier than SQS the worker takes a lease for lost. 0 to 1 min; 1 s. */
  readonly leaseMarginMs: number;
  /** How late a job may start again after its worker was killed. 1 s to 12 h; 60 s. */
  readonly acceptedRedeliveryMs: number;
  /**
   * How long a handler may block the event loop before its leases are no longer extended on its
   * behalf. 0 to 12 h; the smaller of H and D.
   */
  readonly maxBlockedMs: number;
}

/** One queue that the worker claims from, and where its dead letters go. */
export interface QueueContract {
  /** SQS name: up to 80 letters, digits, `-`, `_`; a FIFO queue's ends in `.fifo`. */
  readonly name: string;
  /** Whether it is FIFO; follows from the name. */
  readonly fifo: boolean;
  /** W: long poll. Whole seconds, 1 to 20 s; by preset. */
  readonly waitMs: number;
  /** How long SQS keeps a message. Whole seconds, 60 s to 14 d; 4 d. */
  readonly retentionMs: number;
  /**
   * Receives after which SQS itself dead-letters. 1 to 1,000; with a ledger 100 (FIFO 1,000),
   * without one the larger of 5 and `maxAttempts` + `interruptionBudget` + 2. A FIFO queue that
   * allows fewer than 100 is polled for one message at a time.
   */
  readonly maxReceiveCount: number;
  readonly deadLetter: DeadLetterContract;
  /** Its share of the slots while several queues are busy. 1 to 100; 1. */
  readonly weight: number;
}

/** A dead-letter queue; FIFO exactly when its source is. */
export interface DeadLetterContract {
  /** SQS name; the source's with `-dlq` appended (before `.fifo`). */
  readonly name: string;
  /** Whole seconds, 60 s to 14 d; 14 d. On standard queues it counts from the first send. */
  readonly retentionMs: number;
}

/** How much one worker takes on, and how often a job may fail. */
export interface WorkerContract {
  /** N: jobs that run at once. 1 to 1,000; 10. */
  readonly concurrency: number;
  /** J: the longest that one run may take. 100 ms to 12 h; 10 min. */
  readonly jobTimeoutMs: number;
  /** Failures after which a job is dead-lettered. 1 to 1,000; 5. */
  readonly maxAttempts: number;
  /** Interruptions without saved progress after which a job is dead-lettered. 0 to 1,000; 10. */
  readonly interruptionBudget: number;
  /** Runs that may end with their worker's death before the job is blamed. 0 to 1,000; 3. */
  readonly crashBudget: number;
  /** Delay after the first failure; doubles with each. 0 to 12 h; 5 s. */
  readonly backoffBaseMs: number;
  /** Longest delay after a failure; on FIFO no longer than 5 V. 0 to 12 h; 15 min. */
  readonly backoffCapMs: number;
  /** How long an ack waits for company in its batch; 0 on FIFO. 0 to 10 s; 100 ms. */
  readonly ackLingerMs: number;
  /** How long free slots wait for company before a poll asks for them. 0 to 10 s; 50 ms. */
  readonly claimLingerMs: number;
  /** Messages leased without a slot, over their tenant's cap. 0 to 10,000; N. */
  readonly holdLimit: number;
  /** How long a job of an unknown type waits for a newer worker. 0 to 14 d; 1 h. */
  readonly unknownTypeGraceMs: number;
  /** Workers at the widest scale-out. 1 to 100,000; 10. */
  readonly expectedWorkers: number;
  /** Messages, in flight included, for which the autoscaler plans one worker. 1 to 1,000; N. */
  readonly backlogPerWorker: number;
  /** Connections of one AWS client. 1 to 10,000; 50. */
  readonly sockets: number;
}

/**
 * Where attempts and effects are remembered.
 *
 * With `none` nothing is: the receive count of SQS is the attempt counter, and each release,
 * retry and double delivery spends one of `maxAttempts` + `interruptionBudget` receives.
 */
export type LedgerContract = { readonly kind: "none" } | DynamodbLedgerContract;

/** A job ledger in DynamoDB. */
export interface DynamodbLedgerContract {
  readonly kind: "dynamodb";
  /** 3 to 255 letters, digits, `-`, `_`, `.`; `<service>-ledger`. */
  readonly tableName: string;
  /** How long a finished job is remembered. Whole seconds, 1 d to 10 years; 35 d. */
  readonly doneRetentionMs: number;
  /** What the clocks of two workers may differ. 0 to 10 min; 5 s. */
  readonly ledgerSkewMs: number;
  /** How long the outcome of an effect may still change after its deadline. 0 to 24 h; 60 s. */
  readonly settleMs: number;
  /** The effects of this service's jobs; none unless named. */
  readonly effects: readonly EffectContract[];
}

/** One side effect that must happen once. */
export interface EffectContract {
  readonly name: string;
  /** The longest it may take, retries of the provider's SDK included. 1 ms to 12 h; required. */
  readonly timeoutMs: number;
}
