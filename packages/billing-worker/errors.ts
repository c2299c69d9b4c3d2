/** What goes wrong in billing, apart from what a job handler says by throwing. */

/** A sum that no invoice can have: too large to be counted exactly, or not above zero. */
export class InvoiceAmountError extends Error {
  override readonly name = "InvoiceAmountError";
  readonly code = "INVOICE_AMOUNT";

  /** @param problem - which amount it is and why it cannot be, without names or texts of the invoice */
  constructor(problem: string) {
    super(problem);
  }
}

/** An environment variable that cannot be used. */
export interface ConfigProblem {
  readonly name: string;
  /** As it was given; absent when it was not set, or is a secret. */
  readonly value?: string;
  /** The end of "`name` must ...". */
  readonly must: string;
  /** What to do about it. */
  readonly mend: string;
}

/** The environment cannot be used; `problems` names every variable at once. */
export class InvalidConfigError extends Error {
  override readonly name = "InvalidConfigError";
  readonly code = "INVALID_CONFIG";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`the environment cannot be used:\n${problems.map(describeProblem).join("\n")}`);
    this.problems = problems;
  }
}

function describeProblem({ name, value, must, mend }: ConfigProblem): string {
  const got = value === undefined ? "it is not set" : `got ${JSON.stringify(value)}`;
  return `  ${name} must ${must}; ${got}. ${mend}`;
}
