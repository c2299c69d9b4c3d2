/** How the extender's thread reaches SQS: as plain data, or as a module that it imports itself. */

import { InvalidOptionsError } from "@leasehold/options";
import type { SqsConnection } from "./sqs-clients.ts";

/** Credentials that do not change; without any the thread asks the SDK's own chain. */
export interface StaticCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * What the thread needs to know of AWS.
 *
 * Plain data is enough for most: region and endpoint, and the SDK's chain of credentials
 * (environment, container, instance, web identity, profile), which the thread walks by itself.
 * Functions cannot be sent to a thread, so whoever has a provider of his own names a module, whose
 * export `sqsConnection` is the connection or a function that makes it, there.
 */
export type ThreadConnection =
  | {
      readonly region?: string;
      readonly endpoint?: string;
      readonly credentials?: StaticCredentials;
      readonly [setting: string]: unknown;
    }
  | { readonly module: string };

/** What such a module exports. */
export interface ConnectionModule {
  readonly sqsConnection?: SqsConnection | (() => SqsConnection | Promise<SqsConnection>);
}

/** @throws InvalidOptionsError naming all that cannot be sent to a thread */
export function assertSendable(connection: ThreadConnection): void {
  const problems = Object.entries(connection)
    .filter(([, value]) => !isPlain(value))
    .map(
      ([name]) =>
        `${name} is no plain data, and a thread can be sent nothing else: give ` +
        "{ module } instead, the URL of a module that exports sqsConnection",
    );
  if (problems.length > 0) throw new InvalidOptionsError("extender thread", problems);
}

/** Makes the connection in the thread. */
export async function openConnection(connection: ThreadConnection): Promise<SqsConnection> {
  if (!isModule(connection)) return connection as SqsConnection;
  const { sqsConnection } = (await import(connection.module)) as ConnectionModule;
  const made = typeof sqsConnection === "function" ? await sqsConnection() : sqsConnection;
  if (typeof made === "object") return made;
  const problem = `module must export sqsConnection, which ${connection.module} does not`;
  throw new InvalidOptionsError("extender thread", [problem]);
}

function isModule(connection: ThreadConnection): connection is { readonly module: string } {
  return "module" in connection;
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) {
    return value === undefined || ["string", "number", "boolean"].includes(typeof value);
  }
  const prototype = Object.getPrototypeOf(value);
  const isRecord = prototype === Object.prototype || prototype === null || Array.isArray(value);
  return isRecord && Object.values(value).every(isPlain);
}
