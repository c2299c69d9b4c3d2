/**
 * The states of a drain, what a repeated signal means, its deadlines and release delays. Pure.
 *
 * *draining*: jobs may end by themselves. *aborting*: handlers were asked to stop. *releasing*: what
 * is left is given back. *flushing*: acks are awaited. *exited*. A phase ends when nothing is left
 * of its work, when its deadline passes, or when a signal says so; no phase ever comes again.
 */

import type { DrainTimings } from "@leasehold/deployment-contract";

/** Where a drain stands, in order. */
export type DrainPhase = "draining" | "aborting" | "releasing" | "flushing" | "exited";

/** Instants on the monotonic clock, fixed when the drain begins and shared by every part of it. */
export interface DrainDeadlines {
  readonly startedAtMs: number;
  readonly drainByMs: number;
  readonly abortByMs: number;
  readonly releaseByMs: number;
  readonly flushByMs: number;
  /** When the process ends by itself, whatever still runs. */
  readonly exitAtMs: number;
  /** When the platform kills. */
  readonly killAtMs: number;
  /** Where the taper lets leases end. */
  readonly taperAtMs: number;
}

/** A drain that has begun. */
export interface DrainState {
  readonly phase: DrainPhase;
  readonly deadlines: DrainDeadlines;
  /** Steps of the ladder that signals have taken; 0 for a drain that nobody signalled. */
  readonly rungs: number;
  readonly lastSignalAtMs?: number;
  /** When each phase that was entered began. */
  readonly enteredAtMs: Readonly<Partial<Record<DrainPhase, number>>>;
}

/** What is left to do. */
export interface WorkLeft {
  /** Messages whose end is not known yet. */
  readonly held: number;
  readonly openPolls: number;
  /** Whether acks still wait to be confirmed. */
  readonly unflushed: boolean;
}

/** What a signal led to; the words of `Worker.signal`. */
export type SignalEffect = "draining" | "escalated" | "ignored" | "force-exit";

/** npm and terminals deliver one Ctrl-C twice, so a repeat within this time counts as the same. */
const REPEAT_WINDOW_MS = 1_000;
const SECOND_MS = 1_000;
const ORDER: readonly DrainPhase[] = ["draining", "aborting", "releasing", "flushing", "exited"];
/** Where each rung of the ladder leads at least; the fourth forces the end. */
const LADDER: readonly DrainPhase[] = ["draining", "draining", "aborting", "releasing", "exited"];
const LAST_RUNG = 4;

/** A drain that begins now, by no signal yet. */
export function beginDrain(nowMs: number, timings: DrainTimings): DrainState {
  const drainByMs = nowMs + timings.drainMs;
  const abortByMs = drainByMs + timings.abortMs;
  const releaseByMs = abortByMs + timings.releaseMs;
  return {
    phase: "draining",
    deadlines: {
      startedAtMs: nowMs,
      drainByMs,
      abortByMs,
      releaseByMs,
      flushByMs: releaseByMs + timings.flushMs,
      exitAtMs: nowMs + timings.exitAfterMs,
      killAtMs: nowMs + timings.killAfterMs,
      taperAtMs: nowMs + timings.taperAfterMs,
    },
    rungs: 0,
    enteredAtMs: { draining: nowMs },
  };
}

/**
 * The drain after a signal, and what the signal led to.
 *
 * A drain that was asked for otherwise takes its first signal as a first one. SIGQUIT asks for the
 * second rung at once, and is no repeat of a gentler signal.
 */
export function signalDrain(
  state: DrainState,
  signal: string,
  nowMs: number,
  timings: DrainTimings,
): { readonly state: DrainState; readonly effect: SignalEffect } {
  const isQuit = signal === "SIGQUIT";
  const sinceLastMs = nowMs - (state.lastSignalAtMs ?? Number.NEGATIVE_INFINITY);
  const isSharper = isQuit && state.rungs < 2;
  if (sinceLastMs < REPEAT_WINDOW_MS && !isSharper) return { state, effect: "ignored" };
  const rungs = Math.min(LAST_RUNG, isSharper ? 2 : state.rungs + 1);
  const counted: DrainState = { ...state, rungs, lastSignalAtMs: nowMs };
  const target = LADDER[rungs] ?? "exited";
  if (rungs === LAST_RUNG) return { state: enter(counted, "exited", nowMs), effect: "force-exit" };
  if (!isBefore(state.phase, target)) {
    return { state: counted, effect: rungs === 1 ? "draining" : "ignored" };
  }
  return { state: escalate(counted, target, nowMs, timings), effect: "escalated" };
}

/**
 * The drain after time has passed or work has ended: the same, or one phase further. Asked again
 * until it stays the same, so that whoever acts on a phase sees each one.
 */
export function advanceDrain(state: DrainState, nowMs: number, left: WorkLeft): DrainState {
  const next = nextPhase(state, nowMs, left);
  return next === undefined ? state : enter(state, next, nowMs);
}

/** When, at the latest, the phase ends; `undefined` after the last. */
export function phaseDeadlineMs({ phase, deadlines }: DrainState): number | undefined {
  switch (phase) {
    case "draining":
      return deadlines.drainByMs;
    case "aborting":
      return deadlines.abortByMs;
    case "releasing":
      return deadlines.releaseByMs;
    case "flushing":
      return deadlines.flushByMs;
    case "exited":
      return undefined;
  }
}

/** How long a message stays hidden whose handler does not stop: until this process is surely gone. */
export function ignoredAbortDelayMs({ deadlines }: DrainState, nowMs: number): number {
  const exitByMs = Math.min(deadlines.flushByMs, Math.max(nowMs, deadlines.exitAtMs));
  return wholeSeconds(exitByMs - nowMs) + SECOND_MS;
}

/** How long a message stays hidden that an open poll of our own would take back: the rest of its wait. */
export function openPollDelayMs(pollRestMs: number): number {
  return wholeSeconds(pollRestMs) + SECOND_MS;
}

/** How long each phase took until `nowMs`; 0 for one that was not entered. */
export function phasesMs(
  { enteredAtMs }: DrainState,
  nowMs: number,
): Readonly<Record<Exclude<DrainPhase, "exited">, number>> {
  const spentMs = (phase: DrainPhase) => {
    const fromMs = enteredAtMs[phase];
    if (fromMs === undefined) return 0;
    const later = ORDER.slice(ORDER.indexOf(phase) + 1);
    const untilMs = later.map((name) => enteredAtMs[name]).find((at) => at !== undefined);
    return (untilMs ?? nowMs) - fromMs;
  };
  return {
    draining: spentMs("draining"),
    aborting: spentMs("aborting"),
    releasing: spentMs("releasing"),
    flushing: spentMs("flushing"),
  };
}

function nextPhase(state: DrainState, nowMs: number, left: WorkLeft): DrainPhase | undefined {
  const isOver = nowMs >= (phaseDeadlineMs(state) ?? Number.POSITIVE_INFINITY);
  switch (state.phase) {
    case "draining":
      if (left.held === 0 && left.openPolls === 0) return "flushing";
      return isOver ? "aborting" : undefined;
    case "aborting":
      // A poll that is still open holds nothing that we know of: it is left, and reported.
      if (left.held === 0) return "flushing";
      return isOver ? "releasing" : undefined;
    case "releasing":
      return left.held === 0 || isOver ? "flushing" : undefined;
    case "flushing":
      return !left.unflushed || isOver ? "exited" : undefined;
    case "exited":
      return undefined;
  }
}

/** Escalation only ever shortens: each later deadline is at most its own length after the one before. */
function escalate(
  state: DrainState,
  phase: DrainPhase,
  nowMs: number,
  timings: DrainTimings,
): DrainState {
  const { deadlines } = state;
  const drainByMs = Math.min(deadlines.drainByMs, nowMs);
  const abortMs = phase === "aborting" ? timings.abortMs : 0;
  const abortByMs = Math.min(deadlines.abortByMs, nowMs + abortMs);
  const releaseByMs = Math.min(deadlines.releaseByMs, abortByMs + timings.releaseMs);
  const flushByMs = Math.min(deadlines.flushByMs, releaseByMs + timings.flushMs);
  const shortened = { ...deadlines, drainByMs, abortByMs, releaseByMs, flushByMs };
  return enter({ ...state, deadlines: shortened }, phase, nowMs);
}

function enter(state: DrainState, phase: DrainPhase, nowMs: number): DrainState {
  if (state.phase === phase) return state;
  return { ...state, phase, enteredAtMs: { ...state.enteredAtMs, [phase]: nowMs } };
}

function isBefore(phase: DrainPhase, other: DrainPhase): boolean {
  return ORDER.indexOf(phase) < ORDER.indexOf(other);
}

function wholeSeconds(durationMs: number): number {
  return Math.ceil(Math.max(0, durationMs) / SECOND_MS) * SECOND_MS;
}
