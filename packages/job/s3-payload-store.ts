/** The payload store in an S3 bucket; an entrance of its own, for nobody else needs S3's client. */

import { GetObjectCommand, NoSuchKey, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { PayloadStore } from "./payload-store.ts";

/** Where in S3 the payloads lie. */
export interface S3Place {
  /** Its region and credentials decide where; its retries and timeouts are those of the store. */
  readonly client: S3Client;
  readonly bucket: string;
  /** Before every key, for example `payloads/`. @defaultValue nothing */
  readonly prefix?: string;
}

/**
 * A store in a bucket. Producers need `s3:PutObject`, workers `s3:GetObject` and `s3:ListBucket`:
 * without the latter S3 says "access denied" of a payload that is gone, and its job is tried again
 * instead of being dead-lettered.
 *
 * Let a lifecycle rule expire what is older than the retention of queue and dead-letter queue.
 */
export function s3PayloadStore({ client, bucket, prefix = "" }: S3Place): PayloadStore {
  const at = (key: string) => ({ Bucket: bucket, Key: `${prefix}${key}` });
  return {
    put: async (key, json) => {
      const content = { Body: json, ContentType: "application/json" };
      await client.send(new PutObjectCommand({ ...at(key), ...content }));
    },
    get: async (key) => {
      try {
        const { Body } = await client.send(new GetObjectCommand(at(key)));
        return await Body?.transformToString("utf-8");
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
  };
}
