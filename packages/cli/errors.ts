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

/** A command was given something that it cannot work with; the message names it and the mend. */
export class CommandMisusedError extends Error {
  override readonly name = "CommandMisusedError";
  readonly code = "COMMAND_MISUSED";
}

/** The ledger cannot be read or written from here, or has no such job. */
export class LedgerCommandError extends Error {
  override readonly name = "LedgerCommandError";
  readonly code = "LEDGER_COMMAND";
}
