/** Proven sets of these numbers, one for each platform. */

import type {
  LeaseContract,
  PlatformContract,
  PresetName,
  ShutdownContract,
} from "./deployment-contract.ts";

/** The numbers that depend on the platform; all others have one default for all. */
export interface Preset {
  readonly platform: Pick<PlatformContract, "kind" | "graceMs" | "preStopMs">;
  readonly shutdown: ShutdownContract;
  readonly lease: Pick<LeaseContract, "visibilityTimeoutMs" | "extendEveryMs" | "callTimeoutMs">;
  /** W of every queue. */
  readonly waitMs: number;
}

type Numbers = Readonly<
  Record<"G" | "P" | "W" | "D" | "A" | "L" | "F" | "X" | "V" | "H" | "R", number>
>;

/**
 * Every preset, in milliseconds.
 *
 * `default-30` is for what ECS, Kubernetes and Docker Compose users get when they choose nothing;
 * `drill` has short waits, for tests and laptops.
 */
export const presets: Readonly<Record<PresetName, Preset>> = Object.freeze({
  "default-30": preset("plain", {
    ...{ G: 30, P: 0, W: 10, D: 20, A: 2, L: 3, F: 2, X: 3 },
    ...{ V: 60, H: 20, R: 2 },
  }),
  "fargate-120": preset("ecs-fargate", {
    ...{ G: 120, P: 0, W: 20, D: 105, A: 5, L: 4, F: 3, X: 3 },
    ...{ V: 60, H: 20, R: 2 },
  }),
  "k8s-120": preset("kubernetes", {
    ...{ G: 120, P: 0, W: 20, D: 105, A: 5, L: 4, F: 3, X: 3 },
    ...{ V: 60, H: 20, R: 2 },
  }),
  "ec2-spot-100": preset("ec2-spot", {
    ...{ G: 100, P: 0, W: 20, D: 85, A: 5, L: 4, F: 3, X: 3 },
    ...{ V: 60, H: 20, R: 2 },
  }),
  "k8s-600": preset("kubernetes", {
    ...{ G: 600, P: 0, W: 20, D: 580, A: 8, L: 5, F: 4, X: 3 },
    ...{ V: 60, H: 20, R: 2 },
  }),
  drill: preset("plain", {
    ...{ G: 14, P: 0, W: 2, D: 8, A: 1, L: 2, F: 1, X: 2 },
    ...{ V: 10, H: 3, R: 1 },
  }),
});

/** The symbols of the inequalities, in seconds, as the fields that they stand for. */
function preset(kind: PlatformContract["kind"], seconds: Numbers): Preset {
  const ms = (symbol: keyof Numbers) => seconds[symbol] * 1_000;
  return Object.freeze({
    platform: Object.freeze({ kind, graceMs: ms("G"), preStopMs: ms("P") }),
    shutdown: Object.freeze({
      drainMs: ms("D"),
      abortMs: ms("A"),
      releaseMs: ms("L"),
      flushMs: ms("F"),
      marginMs: ms("X"),
    }),
    lease: Object.freeze({
      visibilityTimeoutMs: ms("V"),
      extendEveryMs: ms("H"),
      callTimeoutMs: ms("R"),
    }),
    waitMs: ms("W"),
  });
}
