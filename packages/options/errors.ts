/** Options that make no sense, all of them at once. */

/** The options of one call contradict their documentation; `problems` names each of them. */
export class InvalidOptionsError extends Error {
  override readonly name = "InvalidOptionsError";
  readonly code = "INVALID_OPTIONS";
  /** Whose options they are, for example `"lease"`. */
  readonly subject: string;
  /** One sentence for each problem, naming the option, its range and the value given. */
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`invalid ${subject} options: ${problems.join("; ")}`);
    this.subject = subject;
    this.problems = problems;
  }
}
