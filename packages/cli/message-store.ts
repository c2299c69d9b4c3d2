/** Where a worker keeps messages that are too big for a record, as the flags say. */

import { existsSync } from "node:fs";
import type { ResultStore } from "@leasehold/idempotency";
import { folderPayloadStore } from "@leasehold/job";
import type { AwsAccess } from "./aws-access.ts";
import { CommandMisusedError } from "./errors.ts";

/** Which store; none when both are absent. */
export interface MessageStoreFlags {
  readonly storeFolder?: string;
  readonly storeBucket?: string;
  /** Before every key in the bucket. */
  readonly storePrefix?: string;
}

/**
 * The store; S3 is loaded only when a bucket is named.
 * @throws CommandMisusedError when the folder is not there
 */
export async function openMessageStore(
  { storeFolder, storeBucket, storePrefix = "" }: MessageStoreFlags,
  aws: Pick<AwsAccess, "settingsOf">,
): Promise<ResultStore | undefined> {
  if (storeFolder !== undefined) {
    if (existsSync(storeFolder)) return folderPayloadStore(storeFolder);
    throw new CommandMisusedError(`there is no folder ${storeFolder}: give the worker's own`);
  }
  if (storeBucket === undefined) return undefined;
  const { S3Client } = await import("@aws-sdk/client-s3");
  const { s3PayloadStore } = await import("@leasehold/job/s3");
  const settings = aws.settingsOf("s3");
  // Emulators and other stores that speak S3 rarely have a name for each bucket.
  const client = new S3Client({ ...settings, forcePathStyle: settings.endpoint !== undefined });
  return s3PayloadStore({ client, bucket: storeBucket, prefix: storePrefix });
}
