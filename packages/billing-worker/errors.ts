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

/** One thing in the environment that cannot be used. */
export interface ConfigProblem {
  /** The variable. */
  readonly name: string;
  /** The end of "`name` must ...". */
  readonly must: string;
  /** What it is instead. */
  readonly got: string;
  /** What to do about it, as a sentence. */
  readonly mend: string;
}

/** The environment cannot be used; `problems` names every variable at once. */
export class InvalidConfigError extends Error {
  override readonly name = "InvalidConfigError";
  readonly code = "INVALID_CONFIG";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(
      ({ name, must, got, mend }) => `- ${name} must ${must}, got ${got}. ${mend}`,
    );
    super(`the environment cannot be used, ${problems.length} problem(s):\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

/** The local payment provider cannot run: its port, its file or its options cannot be used. */
export class PaymentSandboxError extends Error {
  override readonly name = "PaymentSandboxError";
  readonly code = "PAYMENT_SANDBOX";

  /** @param problem - what cannot be used, with its value, and what to do about it */
  constructor(problem: string, options?: ErrorOptions) {
    super(problem, options);
  }
}
