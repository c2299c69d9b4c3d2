/** Creates queues, dead-letter queues and tables exactly as the contract says. */

import { type Clock, systemClock } from "@leasehold/clock";
import {
  type DeploymentContract,
  queueSettings,
  tableSettings,
} from "@leasehold/deployment-contract";
import type { AwsClients } from "./endpoint.ts";
import { ProvisionConflictError, type SettingConflict } from "./errors.ts";
import { type LiveQueue, QueueProvisioning } from "./queue-provisioning.ts";
import { type TableDefinition, TableProvisioning } from "./table-provisioning.ts";

/** What to create, and where. */
export interface ProvisionOptions {
  readonly contract: DeploymentContract;
  /** Tables of the service besides the ledger's, which the contract has. */
  readonly tables?: readonly TableDefinition[];
  readonly clients: AwsClients;
  /** @defaultValue the clock of this process */
  readonly clock?: Clock;
}

/** What is there now. */
export interface Provisioned {
  /** URL of each queue by its name, dead-letter queues included. */
  readonly queueUrls: Readonly<Record<string, string>>;
  /** What this call created, for example `queue billing-jobs`, in order. */
  readonly created: readonly string[];
  /** What was there already, as the contract says. */
  readonly found: readonly string[];
}

/** One thing to create: asked first, created only when nothing anywhere contradicts the contract. */
interface Resource {
  readonly name: string;
  /** `undefined` when it does not exist. */
  inspect(): Promise<readonly SettingConflict[] | undefined>;
  /** Creates it, or does nothing when somebody else has just done so. */
  create(): Promise<void>;
  /** Finishes what an interrupted creation left undone. */
  complete?(): Promise<void>;
}

/**
 * Creates what is missing and leaves alone what is there.
 *
 * Everything is looked at before anything is created, so a refusal changes nothing. Somebody who
 * provisions the same contract at the same time is no fault: whoever comes second finds it there.
 * Settings for the cloud alone (point-in-time recovery, deletion protection) are left out.
 *
 * @throws ProvisionConflictError naming each setting that is not what the contract says
 */
export async function provision(options: ProvisionOptions): Promise<Provisioned> {
  const queueUrls: Record<string, string> = {};
  const resources = [...queuesOf(options, queueUrls), ...tablesOf(options)];
  const missing = await findMissing(resources);
  for (const resource of missing) await resource.create();
  // What was lost to somebody else's creation may have been created from other numbers.
  await findMissing(missing);
  for (const resource of resources) await resource.complete?.();
  const created = new Set(missing);
  return {
    queueUrls,
    created: missing.map(({ name }) => name),
    found: resources.filter((resource) => !created.has(resource)).map(({ name }) => name),
  };
}

async function findMissing(resources: readonly Resource[]): Promise<readonly Resource[]> {
  const missing: Resource[] = [];
  const conflicts: SettingConflict[] = [];
  for (const resource of resources) {
    const found = await resource.inspect();
    if (found === undefined) missing.push(resource);
    else conflicts.push(...found);
  }
  if (conflicts.length > 0) throw new ProvisionConflictError(conflicts);
  return missing;
}

/** Each dead-letter queue before its source, which names it. */
function queuesOf(
  { contract, clients }: ProvisionOptions,
  queueUrls: Record<string, string>,
): readonly Resource[] {
  const note = ({ name, url }: LiveQueue) => {
    queueUrls[name] = url;
  };
  return contract.queues.flatMap(({ name }) => {
    const settings = queueSettings(contract, name);
    const deadLetter = new QueueProvisioning(clients.sqs, settings.deadLetter, note);
    const redrive = { settings, deadLetter };
    return [deadLetter, new QueueProvisioning(clients.sqs, settings.queue, note, redrive)];
  });
}

function tablesOf({
  contract,
  tables = [],
  clients,
  clock = systemClock,
}: ProvisionOptions): readonly Resource[] {
  const ledger = tableSettings(contract);
  const wanted: readonly TableDefinition[] = ledger === undefined ? tables : [ledger, ...tables];
  return wanted.map((definition) => new TableProvisioning(clients, definition, clock));
}
