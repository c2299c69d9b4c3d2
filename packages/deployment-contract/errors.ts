/** A contract that makes no sense, and one that contradicts itself. */

import type { Finding } from "./finding.ts";
import { formatFindings } from "./finding.ts";

/** What was given is no contract; `problems` names each field, its value and the mend. */
export class InvalidContractError extends Error {
  override readonly name = "InvalidContractError";
  readonly code = "INVALID_CONTRACT";
  /** One sentence for each problem, in the order of the contract's fields. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid deployment contract:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** The contract's numbers contradict each other so that work would be lost or done twice. */
export class ContractViolationError extends Error {
  override readonly name = "ContractViolationError";
  readonly code = "CONTRACT_VIOLATED";
  /** Every violation, in the order of the rules. */
  readonly findings: readonly Finding[];

  constructor(service: string, findings: readonly Finding[]) {
    super(
      `the deployment contract of ${service} contradicts itself, ` +
        `${findings.length} violation${findings.length === 1 ? "" : "s"}:\n${formatFindings(findings)}`,
    );
    this.findings = findings;
  }
}
