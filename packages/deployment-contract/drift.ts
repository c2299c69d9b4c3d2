/** Where a live queue or table differs from its contract. */

import type { QueueAttributes } from "./queue-settings.ts";
import type { IndexSettings, KeyAttribute, TableSettings } from "./table-settings.ts";

/** One difference between the contract and what is deployed. */
export interface Drift {
  /** The attribute or setting that differs. */
  readonly setting: string;
  readonly expected: string;
  /** Absent when the live side does not have it at all. */
  readonly live?: string;
  readonly mend: string;
}

/** What a live table tells of itself; what it does not tell is not compared. */
export type LiveTable = Partial<Omit<TableSettings, "tableName">>;

/** Attributes that SQS sets once and for ever. */
const FIXED_ATTRIBUTES: ReadonlySet<string> = new Set(["FifoQueue"]);

/**
 * Every attribute of the contract that the live queue lacks or has otherwise; attributes that only
 * the live queue has are not the contract's business.
 *
 * @param expected - `QueueResource.attributes`, with `RedrivePolicy` added where there is one
 * @param live - as `GetQueueAttributes` answers
 */
export function queueDrift(expected: QueueAttributes, live: QueueAttributes): readonly Drift[] {
  return Object.entries(expected).flatMap(([setting, wanted]) => {
    const found = live[setting];
    if (found !== undefined && canonical(setting, found) === canonical(setting, wanted)) return [];
    const mend = FIXED_ATTRIBUTES.has(setting)
      ? "it cannot be changed: create a queue of another name, and drain this one"
      : `set ${setting} to ${wanted} with SetQueueAttributes, or write the live value into the contract`;
    return [drift(setting, wanted, found, mend)];
  });
}

/** Every setting of the contract that the live table has otherwise. */
export function tableDrift(expected: TableSettings, live: LiveTable): readonly Drift[] {
  const names = Object.keys(live) as (keyof LiveTable)[];
  return names.flatMap((setting) => {
    const found = live[setting];
    if (found === undefined) return [];
    if (setting === "indexes")
      return indexDrift(expected.indexes, found as readonly IndexSettings[]);
    const wanted = show(expected[setting] as Shown);
    const shown = show(found as Shown);
    return wanted === shown ? [] : [drift(setting, wanted, shown, mendTable(setting, wanted))];
  });
}

/** Indexes by name; those that only the live table has are left alone. */
function indexDrift(
  expected: readonly IndexSettings[],
  live: readonly IndexSettings[],
): readonly Drift[] {
  return expected.flatMap((index) => {
    const found = live.find(({ name }) => name === index.name);
    const wanted = keysOf(index);
    const shown = found && keysOf(found);
    if (shown === wanted) return [];
    const mend = found
      ? "delete the index and create it anew with UpdateTable"
      : "create the index with UpdateTable";
    return [drift(`index ${index.name}`, wanted, shown, mend)];
  });
}

function mendTable(setting: keyof LiveTable, wanted: string): string {
  if (setting === "partitionKey" || setting === "sortKey") {
    return "keys cannot be changed: create a table of another name while no job is open";
  }
  return `set ${setting} to ${wanted} on the table`;
}

function keysOf({ partitionKey, sortKey }: IndexSettings): string {
  return `${show(partitionKey)}, ${show(sortKey)}`;
}

type Shown = KeyAttribute | string | boolean;

function show(value: Shown): string {
  return typeof value === "object" ? `${value.name} (${value.type})` : String(value);
}

/** A redrive policy is JSON: order of fields and quotes around the number say nothing. */
function canonical(setting: string, value: string): string {
  if (setting !== "RedrivePolicy") return value;
  try {
    const policy = JSON.parse(value) as Record<string, unknown> | null;
    return JSON.stringify([policy?.["deadLetterTargetArn"], String(policy?.["maxReceiveCount"])]);
  } catch {
    return value; // No JSON: shown as it is, and different from any policy of ours.
  }
}

function drift(setting: string, expected: string, live: string | undefined, mend: string): Drift {
  return live === undefined ? { setting, expected, mend } : { setting, expected, live, mend };
}
