/** A place to drill in: AWS in this process, a queue from the contract, real workers around it. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { target as billing } from "@leasehold/billing-worker/target";
import { systemClock } from "@leasehold/clock";
import {
  type ContractInput,
  type DeploymentContract,
  defineContract,
  type PresetName,
  type WorkerTimings,
  workerTimings,
} from "@leasehold/deployment-contract";
import { nodeCommand, startWorkerProcess, type WorkerProcess } from "@leasehold/drill";
import type { RequestAnswered, RequestBegun } from "@leasehold/embedded-sqs";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { createProducer, type Producer } from "@leasehold/producer";

/** The numbers of the drill: `drill` for every test run, others for the longer proofs. */
export const drillPreset: PresetName = (process.env["DRILL_PRESET"] as PresetName) ?? "drill";

type SqsRequest = RequestBegun | RequestAnswered;

/** One queue, all that was asked of it, and the workers that were started on it. */
export interface DrillSite extends AsyncDisposable {
  readonly contract: DeploymentContract;
  readonly timings: WorkerTimings;
  readonly queueUrl: string;
  /** The long poll's wait. */
  readonly waitMs: number;
  readonly receiptsFolder: string;
  readonly aws: LocalAws;
  readonly producer: Producer;
  /** Every request that SQS answered, in order of its answers. */
  readonly answered: readonly RequestAnswered[];
  /** Every request as it came in. */
  readonly begun: readonly RequestBegun[];
  /** The first request, past or future, that fits. */
  waitForRequest<Kind extends SqsRequest["kind"]>(
    kind: Kind,
    fits: (request: Extract<SqsRequest, { kind: Kind }>) => boolean,
  ): Promise<Extract<SqsRequest, { kind: Kind }>>;
  startWorker(environment?: Readonly<Record<string, string>>): WorkerProcess;
}

/** The billing worker's site: its queue, its table, its folder. */
export function openBillingSite(renderMs?: number): Promise<DrillSite> {
  const contract = billing.contract(drillPreset);
  return openSite(contract, async (folder) => {
    const companion = await billing.startCompanion({ folder: join(folder, "payments") });
    const environment = billing.environment({
      preset: drillPreset,
      folder,
      receiptsFolder: folder,
      adminPort: 0,
      logLevel: "debug",
      ...(renderMs === undefined ? {} : { renderMs }),
    });
    return {
      script: billing.command[0],
      environment: { ...environment, ...companion.environment },
      close: () => companion.close(),
    };
  });
}

/**
 * The site of `trial-service.ts`: handlers that misbehave in each known way.
 * @param numbers - of a drill that needs its own, with `preset`, `lease` and what else it changes
 */
export function openTrialSite(numbers: Partial<ContractInput> = {}): Promise<DrillSite> {
  const contract = defineContract({
    preset: drillPreset,
    service: "trial",
    queues: [{ name: "trial-jobs", deadLetter: { name: "trial-jobs-dead" } }],
    worker: { concurrency: 4, jobTimeoutMs: 600_000 },
    ledger: { kind: "none" },
    ...numbers,
  });
  return openSite(contract, async () => ({
    script: join(import.meta.dirname, "trial-service.ts"),
    environment: { TRIAL_CONTRACT: JSON.stringify(contract) },
    close: async () => {},
  }));
}

interface Program {
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Ends what it needs besides AWS. */
  readonly close: () => Promise<void>;
}

async function openSite(
  contract: DeploymentContract,
  programIn: (folder: string) => Promise<Program>,
): Promise<DrillSite> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-drill-"));
  const requests = new RequestRecord();
  const aws = await startLocalAws({
    mode: "embedded",
    onSqsRequest: (event) => requests.add(event),
  });
  const { queueUrls } = await provision({ contract, tables: billing.tables, clients: aws });
  const queueUrl = queueUrls[contract.queues[0]?.name ?? ""] ?? "";
  const program = await programIn(folder);
  const workers: WorkerProcess[] = [];
  return {
    contract,
    timings: workerTimings(contract),
    queueUrl,
    waitMs: contract.queues[0]?.waitMs ?? 0,
    receiptsFolder: folder,
    aws,
    producer: createProducer({ client: aws.sqs, queueUrl, clock: systemClock }),
    answered: requests.answered,
    begun: requests.begun,
    waitForRequest: (kind, fits) => requests.waitFor(kind, fits),
    startWorker: (environment = {}) => {
      const all = { ...definedOnly(aws.environment), ...program.environment, ...environment };
      const worker = startWorkerProcess(nodeCommand(program.script), all);
      workers.push(worker);
      return worker;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
      await program.close();
      await aws.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function definedOnly(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}

class RequestRecord {
  readonly begun: RequestBegun[] = [];
  readonly answered: RequestAnswered[] = [];
  readonly #waiters = new Set<(request: SqsRequest) => void>();

  add(request: SqsRequest): void {
    if (request.kind === "begun") this.begun.push(request);
    else this.answered.push(request);
    for (const tell of [...this.#waiters]) tell(request);
  }

  waitFor<Kind extends SqsRequest["kind"]>(
    kind: Kind,
    fits: (request: Extract<SqsRequest, { kind: Kind }>) => boolean,
  ): Promise<Extract<SqsRequest, { kind: Kind }>> {
    type Wanted = Extract<SqsRequest, { kind: Kind }>;
    const isIt = (request: SqsRequest): request is Wanted =>
      request.kind === kind && fits(request as Wanted);
    const past = [...this.begun, ...this.answered].find(isIt);
    if (past !== undefined) return Promise.resolve(past);
    const { promise, resolve } = Promise.withResolvers<Wanted>();
    const tell = (request: SqsRequest) => {
      if (!isIt(request)) return;
      this.#waiters.delete(tell);
      resolve(request);
    };
    this.#waiters.add(tell);
    return promise;
  }
}
