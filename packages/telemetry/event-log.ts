/** The wording and level of every event. */

import type { Worker, WorkerEvent } from "@leasehold/worker";
import { eventFields } from "./event-fields.ts";
import type { LineFields, Logger, LogLevel } from "./logger.ts";
import { causeFields, reportObject } from "./report-line.ts";

/** How one event is told: how grave, in which words, with which fields of its own. */
interface Telling {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: LineFields;
}

/** One entry for each kind of event; a kind without one does not compile. */
type Tellings = {
  readonly [Kind in WorkerEvent["kind"]]:
    | Telling
    | ((event: Extract<WorkerEvent, { readonly kind: Kind }>) => Telling);
};

const tellings: Tellings = {
  "worker.phase": (event) => ({ level: "info", message: `the worker is ${event.phase}` }),
  "worker.ready": { level: "info", message: "the worker is ready and claims" },
  "worker.contract-warning": (event) => ({
    level: "warn",
    message: "the contract holds, but costs time, money or clarity",
    fields: { detail: event.message },
  }),
  "worker.fatal": { level: "fatal", message: "the worker cannot go on" },

  "claim.poll": { level: "debug", message: "a poll has ended" },
  "claim.failed": (event) => ({
    level: event.retryable ? "warn" : "error",
    message: "a poll has failed",
    fields: { error_message: event.message },
  }),
  "claim.held": { level: "debug", message: "a message is held until its job may start" },
  "claim.memory-short": { level: "warn", message: "memory is short: nothing is claimed" },
  "claim.memory-eased": { level: "info", message: "memory is enough again" },
  "claim.stalled": { level: "error", message: "no poll has ended or begun for too long" },

  "claim.ledger-down": {
    level: "error",
    message: "the job ledger's store does not answer: nothing is claimed",
  },
  "claim.ledger-back": { level: "info", message: "the job ledger's store answers again" },

  "lease.claimed": { level: "debug", message: "a message was claimed" },
  "lease.extended": { level: "debug", message: "a lease was extended" },
  "lease.extension-failed": { level: "warn", message: "a lease could not be extended" },
  "lease.extension-call": { level: "debug", message: "a batch of extensions was sent" },
  "lease.loop-blocked": (event) => ({
    level: event.extensionsPaused ? "error" : "warn",
    message: event.extensionsPaused
      ? "a handler blocked the event loop for too long: leases were not extended meanwhile"
      : "a handler blocked the event loop; leases were extended meanwhile",
  }),
  "lease.extender-failed": (event) => ({
    level: "error",
    message: "the extender's thread does not work: this thread extends leases, and must not block",
    fields: { error_message: event.message },
  }),
  "lease.acked": { level: "debug", message: "a message was acked" },
  "lease.retried": { level: "debug", message: "a message was given back after a failure" },
  "lease.released": { level: "info", message: "a message was released" },
  "lease.dead-lettered": { level: "warn", message: "a message was dead-lettered" },
  "lease.lost": {
    level: "error",
    message: "a lease was lost: another worker may have the message",
  },
  "lease.lapsing": {
    level: "warn",
    message: "a lease is left to run out: the answer is unknown or no call is possible",
  },
  "lease.discarded": (event) => ({
    level: event.code === undefined ? "info" : "warn",
    message: "a message was deleted after its lease was lost: its job is done for good",
  }),
  "lease.settle-failed": { level: "error", message: "a message could not be settled" },

  "job.started": { level: "info", message: "a job has started" },
  "job.ended": ({ outcome }) => ({
    level: endLevel(outcome),
    message: ENDED_AS[outcome],
    // What was planned (a later retry, a drain) has no stack worth reading.
    fields: endLevel(outcome) === "info" ? { error_stack: undefined } : {},
  }),
  "job.stopped": ({ why }) => ({ level: stopLevel(why), message: STOPPED_AS[why] }),
  "job.aborted": { level: "warn", message: "a job was asked to stop" },
  "job.abort-answered": { level: "info", message: "a job has stopped as it was asked" },
  "job.ignored-abort": { level: "error", message: "a job does not stop although it was asked" },
  "job.quiet-return": {
    level: "warn",
    message: "a job returned after its signal had aborted, without saying that it is done",
  },
  "job.malformed": (event) => ({
    level: "error",
    message: `a message is no job and was ${event.disposal}`,
    fields: identityFields(event.identity),
  }),
  "job.unknown-type": (event) => ({
    level: "warn",
    message: `a job of a type or version unknown here was ${event.disposal}`,
  }),
  "job.uncounted": (event) => ({
    level: "error",
    message:
      event.during === "open"
        ? "the ledger of attempts is down: a job runs uncounted, and nothing is given up by its counts"
        : "the ledger of attempts is down: the end of an attempt is not counted",
  }),
  "job.given-up": {
    level: "error",
    message: "a job is given up by its earlier attempts, unstarted",
  },
  "job.schema-timeout": {
    level: "error",
    message: "the schema of a job did not answer in time, which counts as a failure",
  },
  "job.log": (event) => ({
    level: event.level,
    message: event.message,
    fields: { fields: event.fields },
  }),

  "effect.taken-over": {
    level: "warn",
    message: "an effect of unknown outcome is taken over as its policy says",
  },
  "effect.circuit-opened": {
    level: "error",
    message: "an effect's provider is down: its jobs are held back, and none of them fails by that",
  },
  "effect.circuit-probed": { level: "info", message: "a job asks an effect's provider again" },
  "effect.circuit-closed": { level: "info", message: "an effect's provider answers again" },
  "effect.rate-limited": {
    level: "warn",
    message: "an effect's provider asks for a pause: its jobs are held back until then",
  },
  "effect.unknown": { level: "warn", message: "an effect ended and nobody knows its outcome" },
  "effect.completion-unrecorded": ({ final }) => ({
    level: "error",
    message: final
      ? "an effect has happened and could not be recorded before the process ended"
      : "an effect has happened and is not recorded yet: that is tried on",
  }),
  "effect.completed-late": {
    level: "warn",
    message: "an effect that had been taken over turned out to have happened",
  },
  "effect.results-differ": {
    level: "error",
    message: "an effect happened twice at its provider, with different results",
  },
  "effect.applied-after-rejection": {
    level: "error",
    message: "an effect happened although a later attempt was rejected",
  },
  "effect.record-missing": {
    level: "error",
    message: "an effect has happened and its record is gone: it may happen again",
  },
  "effect.result-dropped": {
    level: "warn",
    message: "an effect has happened and its result could not be kept",
  },
  "ledger.parked": { level: "error", message: "a job is parked: an operator must decide" },
  "ledger.unparkable": {
    level: "error",
    message: "a job should be parked, and its message is too big to be stored: it is put off",
  },
  "ledger.payload-differs": {
    level: "warn",
    message: "the same job came with another payload: the first one's effects stand",
  },
  "ledger.store-failing": { level: "warn", message: "the job ledger's store did not answer" },

  "drain.started": (event) => ({
    level: "info",
    message: `the drain has started, with ${event.inFlight} in flight`,
    fields: causeFields(event.cause),
  }),
  "drain.in-flight": { level: "info", message: "in flight as the drain started" },
  "drain.late-arrival": { level: "info", message: "arrived after the drain started" },
  "drain.tapered": (event) => ({
    level: event.refused > 0 ? "warn" : "info",
    message: "leases were shortened, to be visible soon if the process is killed",
  }),
  "drain.escalated": (event) => ({ level: "warn", message: `the drain goes on to ${event.to}` }),
  "drain.signal-ignored": { level: "info", message: "a repeated signal was taken for the same" },
  "drain.finished": ({ report }) => ({
    level: report.exitCode === 0 ? "info" : "warn",
    message: report.summary,
    fields: { exit_code: report.exitCode, report: reportObject(report) },
  }),
};

/** What a function in Lambda reports besides what its jobs do. */
const LAMBDA_TELLINGS: Readonly<Record<string, Telling>> = {
  "lambda.not-held": {
    level: "warn",
    message: "a message of the batch is not known to be held to the end, and is not run here",
  },
  "lambda.answered": { level: "info", message: "the batch is answered" },
};

const UNKNOWN: Telling = { level: "info", message: "the worker reports what has no wording yet" };

type JobOutcome = Extract<WorkerEvent, { kind: "job.ended" }>["outcome"];

const ENDED_AS: Readonly<Record<JobOutcome, string>> = {
  succeeded: "a job succeeded",
  "retry-later": "a job asked to be tried again later",
  interrupted: "a job was interrupted and goes back to the queue",
  failed: "a job failed and will be tried again",
  "dead-lettered": "a job goes to the dead-letter queue",
  "lease-lost": "a job ended after its lease was lost; nothing was settled",
  stopped: "a job was ended by its ledger",
};

type StopWord = Extract<WorkerEvent, { kind: "job.stopped" }>["why"];

const STOPPED_AS: Readonly<Record<StopWord, string>> = {
  busy: "a job is with another worker, or an effect of it has not settled: it comes back later",
  fenced: "a newer delivery has the job: nothing is said of it any more",
  parked: "a job is parked, and its message is stored",
  "lease-lost": "the lease does not reach as far as an effect may take: it runs out",
  draining: "an effect that cannot end before the drain deadline was not begun",
  "store-down":
    "the job ledger cannot be reached: a job goes back, and nothing counts as a failure",
  "held-back":
    "an effect's provider is down or asks for a pause: a job comes back later, and nothing counts as a failure",
  done: "a job was done before: its message is acked",
  cancelled: "a job was cancelled: its message is acked",
  dead: "a job was given up before: its message goes to the dead-letter queue",
  unsettled: "a job ended with effects of unknown outcome: it comes back when they have settled",
};

function stopLevel(why: StopWord): LogLevel {
  if (why === "store-down") return "error";
  return why === "busy" || why === "done" || why === "draining" ? "info" : "warn";
}

function endLevel(outcome: JobOutcome): LogLevel {
  switch (outcome) {
    case "succeeded":
    case "retry-later":
    case "interrupted":
    case "stopped":
      return "info";
    case "failed":
    case "dead-lettered":
    case "lease-lost":
      return "warn";
  }
}

function identityFields(identity: Extract<WorkerEvent, { kind: "job.malformed" }>["identity"]) {
  return identity === undefined ? {} : eventFields({ ...identity });
}

/** Writes one event as one line, of a worker or of a function in Lambda. */
export function logEvent(event: { readonly kind: string }, logger: Logger): void {
  const known = Object.hasOwn(tellings, event.kind)
    ? tellings[event.kind as WorkerEvent["kind"]]
    : LAMBDA_TELLINGS[event.kind];
  // The tables have every kind; another version of the worker may have more.
  const telling = (known ?? UNKNOWN) as Telling | ((event: object) => Telling);
  const { level, message, fields } = typeof telling === "function" ? telling(event) : telling;
  if (!logger.isEnabled(level)) return;
  logger.write(level, event.kind, message, { ...eventFields(event), ...fields });
}

/**
 * Writes every event of a worker from now on, one line each; `drain.finished` carries the whole
 * shutdown report as `report`.
 *
 * @returns how to stop
 */
export function logEvents(worker: Pick<Worker, "onEvent">, logger: Logger): () => void {
  return worker.onEvent((event) => logEvent(event, logger));
}
