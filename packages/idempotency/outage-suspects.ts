/** Tells a job that makes its provider fail from a job that met a provider which is down. */

import type { JobIdentity } from "@leasehold/job";

/** More than a process works at a time; whoever is forgotten is given the benefit of the doubt again. */
const MOST_SUSPECTS = 1_000;

/**
 * The jobs whose calls found the provider down. Whose call does so twice, while others were answered
 * in between, has itself to blame. Once is no proof: each process would find a job guilty anew, and a
 * job that comes to another one each time would have failed for good before any of them knew better.
 */
export class OutageSuspects {
  /** When each was last found so, monotonic; the longest ago first. */
  readonly #downAtMs = new Map<string, number>();
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  /** When the provider last answered anybody, monotonic. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** The provider has answered a call of the job. */
  answered(job: JobIdentity, atMs: number): void {
    this.#answeredAtMs = atMs;
    this.#downAtMs.delete(keyOf(job));
  }

  /** A call of the job found it down. @returns whether that is the job's own fault */
  isToBlame(job: JobIdentity, atMs: number): boolean {
    const key = keyOf(job);
    const lastMs = this.#downAtMs.get(key);
    this.#downAtMs.delete(key);
    this.#downAtMs.set(key, atMs);
    if (this.#downAtMs.size > MOST_SUSPECTS) this.#forgetOldest();
    return lastMs !== undefined && lastMs < this.#answeredAtMs;
  }

  #forgetOldest(): void {
    for (const oldest of this.#downAtMs.keys()) {
      this.#downAtMs.delete(oldest);
      return;
    }
  }
}

function keyOf({ tenantId, jobId }: JobIdentity): string {
  return `${tenantId.length}:${tenantId}${jobId}`;
}
