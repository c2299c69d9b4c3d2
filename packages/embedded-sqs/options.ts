/** What a caller may choose about an account. */

import { randomUUID } from "node:crypto";
import type { RequestObserver } from "./request-log.ts";

/** Every option has a default that is right for a laptop and for tests. */
export interface AccountOptions {
  /** @defaultValue "000000000000" */
  readonly accountId?: string;
  /** @defaultValue "us-east-1" */
  readonly region?: string;
  /**
   * Where queue URLs begin. Requests find their queue by the path of its URL, whatever stands here.
   * @defaultValue "http://localhost"
   */
  readonly endpoint?: string;
  /**
   * How many messages of one queue may be in flight.
   * @defaultValue 120_000
   */
  readonly inFlightLimit?: number;
  /**
   * Whether a poll ends when its client hangs up. SQS does not notice: a message that arrives while
   * the poll still waits goes to the dead socket, hides for its visibility timeout and has used up a
   * receive.
   * @defaultValue false
   */
  readonly noticesHangUps?: boolean;
  /**
   * A folder that keeps everything over a stop or a crash of this process; one process at a time.
   * @defaultValue none: everything is kept in memory only
   */
  readonly folder?: string;
  /**
   * Makes the ids of queues, messages and tasks; each call must give a new one.
   * @defaultValue random UUIDs
   */
  readonly newId?: () => string;
  /**
   * Told of every request when it comes and when it is answered.
   * @defaultValue nobody is told
   */
  readonly onRequest?: RequestObserver;
}

/** Every option, resolved. */
export interface ResolvedAccountOptions extends Required<Omit<AccountOptions, "folder">> {
  readonly folder: string | undefined;
}

/** @throws RangeError naming every option that makes no sense, not only the first */
export function resolveAccountOptions(options: AccountOptions): ResolvedAccountOptions {
  const resolved = {
    accountId: options.accountId ?? "000000000000",
    region: options.region ?? "us-east-1",
    endpoint: (options.endpoint ?? "http://localhost").replace(/\/+$/, ""),
    inFlightLimit: options.inFlightLimit ?? 120_000,
    noticesHangUps: options.noticesHangUps ?? false,
    folder: options.folder,
    newId: options.newId ?? randomUUID,
    onRequest: options.onRequest ?? (() => {}),
  };
  const problems = Object.keys(options)
    .filter((name) => !Object.hasOwn(resolved, name))
    .map((name) => `${name} is not an option of an account`);
  if (!/^\d{12}$/.test(resolved.accountId)) {
    problems.push(`accountId must have twelve digits, got ${resolved.accountId}`);
  }
  if (!/^[a-z0-9-]+$/.test(resolved.region)) {
    problems.push(`region must be the name of a region, got ${resolved.region}`);
  }
  if (!(Number.isInteger(resolved.inFlightLimit) && resolved.inFlightLimit > 0)) {
    problems.push(`inFlightLimit must be a whole number above 0, got ${resolved.inFlightLimit}`);
  }
  if (problems.length > 0) throw new RangeError(problems.join("; "));
  return Object.freeze(resolved);
}
