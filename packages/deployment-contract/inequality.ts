/** What an inequality between the numbers of a contract is, and the words all of them share. */

import type { DeploymentContract } from "./deployment-contract.ts";
import type { Finding, Rule } from "./finding.ts";

/** One thing that must hold, and where it does not. Several may share a rule. */
export interface Inequality {
  readonly rule: Rule;
  readonly severity: Finding["severity"];
  readonly reason: string;
  /** Each place where it is broken; empty when it holds. Never throws, whatever the numbers. */
  readonly breaches: (contract: DeploymentContract) => readonly Breach[];
}

/** What one breach adds to its inequality. */
export type Breach = Pick<Finding, "numbers" | "message" | "mend">;

/** Milliseconds as seconds, in as many digits as they need. */
export function inSeconds(durationMs: number): number {
  return Number((durationMs / 1_000).toFixed(4));
}

/** Milliseconds as days, in as many digits as they need. */
export function inDays(durationMs: number): number {
  return Number((durationMs / 86_400_000).toFixed(6));
}

/** The next whole second, because AWS takes no others. */
export function upToSeconds(durationMs: number): number {
  return Math.ceil(durationMs / 1_000) * 1_000;
}

/** The last whole second before. */
export function downToSeconds(durationMs: number): number {
  return Math.floor(durationMs / 1_000) * 1_000;
}

/** The ways out that are open, joined; `otherwise` when none is. */
export function anyOf(ways: readonly (string | false)[], otherwise: string): string {
  return ways.filter((way) => way !== false).join(", or ") || otherwise;
}
