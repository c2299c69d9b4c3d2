/** One bound of a contract, tried from both sides. */

import {
  type ContractInput,
  defineContract,
  type Finding,
  verifyContract,
} from "@leasehold/deployment-contract";
import { expect } from "vitest";

/** What a test changes in a plain contract of one queue, `jobs`, on preset `default-30`. */
export type Overrides = Partial<ContractInput>;

/** The last value that holds, the next that does not, and what is then said. */
export interface Bound {
  /** Rule and severity, as "B1 violation". */
  readonly rule: string;
  readonly where: string;
  readonly holds: Overrides;
  readonly broken: Overrides;
  readonly message: string;
  readonly mend: string;
}

/** Everything that is found in a contract. */
export function findings(overrides: Overrides): Finding[] {
  const contract = defineContract({
    preset: "default-30",
    service: "billing",
    queues: [{ name: "jobs" }],
    ...overrides,
  });
  const { violations, warnings } = verifyContract(contract);
  return [...violations, ...warnings];
}

/** What the second list has more of than the first, as "B1 violation". */
export function added(before: readonly Finding[], after: readonly Finding[]): string[] {
  const left = before.map(({ rule, severity }) => `${rule} ${severity}`);
  return after
    .map(({ rule, severity }) => `${rule} ${severity}`)
    .filter((name) => {
      const index = left.indexOf(name);
      if (index === -1) return true;
      left.splice(index, 1);
      return false;
    });
}

/** Crossing the bound brings exactly its own rule, with this message and mend. */
export function expectBound({ rule, holds, broken, message, mend }: Bound): void {
  const before = findings(holds);
  const after = findings(broken);
  expect(added(before, after)).toEqual([rule]);
  expect(added(after, before)).toEqual([]);
  expect(before.map((finding) => finding.message)).not.toContain(message);
  expect(after.find((finding) => finding.message === message)?.mend).toBe(mend);
}

/** A contract of one queue with these numbers. */
export function queue(numbers: object, name = "jobs"): Overrides {
  return { queues: [{ name, ...numbers }] };
}

/** A contract with a ledger of these numbers. */
export function ledger(numbers: object): Overrides {
  return { ledger: { kind: "dynamodb", ...numbers } };
}
