/** What a producer tells beside its results: things that work and should be otherwise. */

/** A job was sent without a business identity; told once for each type of job. */
export interface ProducerEvent {
  readonly kind: "job-id-made-up";
  readonly jobType: string;
  readonly tenantId: string;
  readonly jobId: string;
  /** What it costs and what to do, for people. */
  readonly message: string;
}

/** A type may come from outside, so that what was told must not be remembered without end. */
const MAX_REMEMBERED_TYPES = 100;

/** Says once for each type why a business identity is better than a random one. */
export class MadeUpIds {
  readonly #told = new Set<string>();
  readonly #tell: (event: ProducerEvent) => void;

  /** @param tell - Node's own warnings unless told otherwise */
  constructor(tell: (event: ProducerEvent) => void = warn) {
    this.#tell = tell;
  }

  note(jobType: string, tenantId: string, jobId: string): void {
    if (this.#told.has(jobType) || this.#told.size === MAX_REMEMBERED_TYPES) return;
    this.#told.add(jobType);
    const message =
      `a job ${jobType} was sent without jobId and was given ${jobId}: sent again, after a timeout ` +
      `or a crash of its sender, it is another job and its work is done twice; give it a business ` +
      `identity, for example an invoice's id and version or a webhook's event id`;
    this.#tell({ kind: "job-id-made-up", jobType, tenantId, jobId, message });
  }
}

function warn({ message }: ProducerEvent): void {
  process.emitWarning(message, { type: "LeaseholdWarning", code: "LEASEHOLD_JOB_ID_MADE_UP" });
}
