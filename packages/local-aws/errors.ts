/** Why AWS on this machine cannot be used as asked. */

/** The environment does not say where AWS is, or says it twice. */
export class EndpointUnknownError extends Error {
  override readonly name = "EndpointUnknownError";
  readonly code = "ENDPOINT_UNKNOWN";
}

/** One setting that is not what the contract says. */
export interface SettingConflict {
  /** For example `queue billing-jobs`. */
  readonly resource: string;
  /** For example `VisibilityTimeout`. */
  readonly setting: string;
  readonly contractValue: string;
  readonly liveValue: string;
  /** What to do about it, as a command or a sentence. */
  readonly mend: string;
}

/** Something is there already and differs from the contract; nothing of it was changed. */
export class ProvisionConflictError extends Error {
  override readonly name = "ProvisionConflictError";
  readonly code = "PROVISION_CONFLICT";
  readonly conflicts: readonly SettingConflict[];

  constructor(conflicts: readonly SettingConflict[]) {
    const lines = conflicts.map(
      ({ resource, setting, contractValue, liveValue, mend }) =>
        `\n  ${resource}: ${setting} is ${liveValue}, the contract says ${contractValue}; ${mend}`,
    );
    super(`what is there differs from the contract, nothing of it was changed:${lines.join("")}`);
    this.conflicts = conflicts;
  }
}

/** A table that was created does not become usable. */
export class TableNotActiveError extends Error {
  override readonly name = "TableNotActiveError";
  readonly code = "TABLE_NOT_ACTIVE";

  constructor(tableName: string, status: string, waitedMs: number) {
    super(`table ${tableName} is still ${status} after ${Math.round(waitedMs)} ms`);
  }
}

/** Another process has the folder. */
export class FolderBusyError extends Error {
  override readonly name = "FolderBusyError";
  readonly code = "FOLDER_BUSY";

  constructor(folder: string, owner: string, lockFile: string) {
    super(
      `${folder} is in use (${owner}): stop that process or choose another folder; ` +
        `if there is none, remove ${lockFile}`,
    );
  }
}
