/** Checks a contract: every violation and every warning at once. */

import type { DeploymentContract } from "./deployment-contract.ts";
import { ContractViolationError } from "./errors.ts";
import type { Finding } from "./finding.ts";
import type { Inequality } from "./inequality.ts";
import { leaseInequalities } from "./lease-inequalities.ts";
import { platformInequalities } from "./platform-inequalities.ts";
import { queueInequalities } from "./queue-inequalities.ts";

/** Everything that is wrong with a contract, in the order of the rules. */
export interface Verification {
  /** What would lose work or do it twice; a worker refuses to start with any. */
  readonly violations: readonly Finding[];
  /** What only costs time, money or clarity. */
  readonly warnings: readonly Finding[];
}

const INEQUALITIES: readonly Inequality[] = [
  ...platformInequalities,
  ...leaseInequalities,
  ...queueInequalities,
].sort((one, other) => Number(one.rule.slice(1)) - Number(other.rule.slice(1)));

/** Whether the numbers fit each other (B1 to B16). Never throws, and stops at nothing. */
export function verifyContract(contract: DeploymentContract): Verification {
  const findings = INEQUALITIES.flatMap(({ rule, severity, reason, breaches }) =>
    breaches(contract).map((breach): Finding => ({ rule, severity, reason, ...breach })),
  );
  return {
    violations: findings.filter(({ severity }) => severity === "violation"),
    warnings: findings.filter(({ severity }) => severity === "warning"),
  };
}

/**
 * Refuses a contract that contradicts itself; warnings pass.
 *
 * @throws ContractViolationError naming every violation with its numbers, reason and mend
 */
export function assertContract(contract: DeploymentContract): void {
  const { violations } = verifyContract(contract);
  if (violations.length > 0) throw new ContractViolationError(contract.service, violations);
}
