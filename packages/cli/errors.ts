/** Why a command cannot do what was asked; `cli.ts` turns each into an exit code. */

/** The file given as target exports no target, or one with something missing. */
export class TargetInvalidError extends Error {
  override readonly name = "TargetInvalidError";
  readonly code = "TARGET_INVALID";
  readonly problems: readonly string[];

  constructor(file: string, problems: readonly string[], options?: ErrorOptions) {
    super(`${file} is no target of the local command: ${problems.join("; ")}`, options);
    this.problems = problems;
  }
}
