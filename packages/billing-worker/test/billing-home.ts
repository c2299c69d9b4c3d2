/** The jobs of this service in one of their homes, and what they have left when all are done. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import type { AnyJobDefinition } from "@leasehold/job";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import type { SqsLambdaHandler } from "@leasehold/middy";
import { createProducer, createService } from "leasehold";
import { onTestFinished, vi } from "vitest";
import { LambdaPoller, type MappedQueue } from "../../../test/support/lambda-poller.ts";
import { billingWorker } from "../billing-worker.ts";
import { readConfig } from "../config.ts";
import { BILLING_QUEUE, billingContract, invoicesTable } from "../contract.ts";
import { DynamoDbInvoiceStore } from "../invoice/dynamodb-invoice-store.ts";
import { isPaid } from "../invoice/invoice.ts";
import { startPaymentSandbox } from "../payment/payment-sandbox.ts";
import { FolderReceiptStore } from "../receipt/folder-receipt-store.ts";

const TENANT = "nordlicht";

/** One job to send. */
export interface JobToDo {
  readonly type: string;
  readonly jobId: string;
  readonly payload: unknown;
}

/** What is left of the jobs. */
export interface Effects {
  /** Version and means of payment of each invoice. */
  readonly invoices: readonly string[];
  /** Invoice and amount of each charge at the provider. */
  readonly charges: readonly string[];
  /** Digest of each receipt. */
  readonly receipts: readonly string[];
  /** Job and reason of each dead letter. */
  readonly deadLetters: readonly string[];
}

/** One run of the service. */
export interface BillingHome {
  send(jobs: readonly JobToDo[]): Promise<void>;
  /** Works everything that is in the queue, children included, by a worker. */
  workIt(wrap: (job: AnyJobDefinition) => AnyJobDefinition): Promise<void>;
  /** Invokes a function for everything that is in the queue, children included. */
  invokeIt(handler: SqsLambdaHandler): Promise<void>;
  effects(invoiceIds: readonly string[]): Promise<Effects>;
}

/** Opens it, with its variables in the environment of this process; all of it ends with the test. */
export async function openBillingHome(): Promise<BillingHome> {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-billing-"));
  const idle = new IdleWatch();
  const aws = await startLocalAws({
    mode: "embedded",
    clock: systemClock,
    onSqsRequest: () => idle.look(),
  });
  // The provider's time stands still, so that receipts of two homes show the same moment.
  const sandbox = await startPaymentSandbox({
    clock: new ManualClock(),
    file: join(folder, "charges.ndjson"),
  });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await sandbox.close();
    await aws.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const contract = billingContract("drill");
  const { queueUrls } = await provision({ contract, tables: [invoicesTable], clients: aws });
  const receiptsFolder = join(folder, "receipts");
  const environment = {
    ...aws.environment,
    ...{ STRIPE_SECRET_KEY: "sk_test_local", BILLING_PAYMENT_ENDPOINT: sandbox.endpoint },
    ...{ BILLING_RECEIPTS_DIR: receiptsFolder, BILLING_RENDER_THREADS: "1" },
    ...{ BILLING_PRESET: "drill", LOG_LEVEL: "error" },
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const queue = mappedQueue(aws, queueUrls);
  idle.watch(queue);
  return {
    send: async (jobs) => {
      const producer = createProducer({
        ...{ client: aws.sqs, queueUrl: queue.queueUrl, clock: systemClock },
      });
      const results = await producer.sendMany(jobs.map((job) => ({ ...job, tenantId: TENANT })));
      if (results.some(({ kind }) => kind !== "sent")) throw new Error("a job was not sent");
    },
    workIt: async (wrap) => {
      const parts = await billingWorker(readConfig());
      const service = createService({ ...parts, jobs: parts.jobs.map(wrap) });
      await service.worker.start();
      await idle.reached();
      await service.worker.drain({ kind: "request", by: "test" });
      service.close();
      await parts.dispose?.();
    },
    invokeIt: async (handler) => {
      const numbers = { timeoutMs: 60_000, visibilityTimeoutMs: 60_000, waitMs: 1_000 };
      const poller = new LambdaPoller({ clock: systemClock, queue, ...numbers });
      while (!idle.isIdle()) await poller.invoke(handler, await poller.take());
    },
    effects: (invoiceIds) => effectsOf(invoiceIds, { aws, sandbox, receiptsFolder, queueUrls }),
  };
}

function mappedQueue({ embedded }: LocalAws, urls: Readonly<Record<string, string>>): MappedQueue {
  const queueUrl = urls[BILLING_QUEUE];
  if (embedded === undefined || queueUrl === undefined) throw new Error("there is no queue");
  return { account: embedded.account, queueUrl, name: BILLING_QUEUE };
}

/** Nothing is left in the queue, seen whenever SQS was asked anything. */
class IdleWatch {
  #queue: MappedQueue | undefined;
  #wake = () => {};

  watch(queue: MappedQueue): void {
    this.#queue = queue;
  }

  look(): void {
    // Within a request the queue is not in order yet.
    setImmediate(() => {
      if (this.isIdle()) this.#wake();
    });
  }

  isIdle(): boolean {
    const counts = this.#queue?.account.report().queues[BILLING_QUEUE];
    return counts !== undefined && counts.visible + counts.inFlight + counts.delayed === 0;
  }

  reached(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.look();
    });
  }
}

async function effectsOf(
  invoiceIds: readonly string[],
  {
    aws,
    sandbox,
    receiptsFolder,
    queueUrls,
  }: {
    readonly aws: LocalAws;
    readonly sandbox: { readonly charges: readonly { invoiceId: string; amountMinor: number }[] };
    readonly receiptsFolder: string;
    readonly queueUrls: Readonly<Record<string, string>>;
  },
): Promise<Effects> {
  const store = new DynamoDbInvoiceStore(aws.dynamodb, invoicesTable.tableName);
  const receipts = new FolderReceiptStore(receiptsFolder);
  const keys = invoiceIds.map((invoiceId) => ({ tenantId: TENANT, invoiceId }));
  const invoices = await Promise.all(keys.map((key) => store.find(key)));
  const pdfs = await Promise.all(keys.map((key) => receipts.find(key)));
  return {
    invoices: invoices.map((invoice, index) => {
      const paid = invoice && isPaid(invoice) ? ` paid by ${invoice.payment.method}` : "";
      return `${invoiceIds[index]} v${invoice?.version}${paid}`;
    }),
    charges: sandbox.charges
      .map(({ invoiceId, amountMinor }) => `${invoiceId} ${amountMinor}`)
      .sort(),
    receipts: pdfs.map((pdf) => (pdf === undefined ? "none" : digestOf(pdf))),
    deadLetters: await deadLettersOf(aws, queueUrls),
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function deadLettersOf(
  { embedded }: LocalAws,
  queueUrls: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const answer = await embedded?.account.perform("ReceiveMessage", {
    QueueUrl: queueUrls[`${BILLING_QUEUE}-dead`] ?? "",
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ["All"],
  });
  return (answer?.Messages ?? [])
    .map(({ MessageAttributes: attributes }) => {
      const text = (name: string) => attributes?.[name]?.StringValue;
      return `${text("job_id")} ${text("dead_letter_reason")}`;
    })
    .sort();
}
