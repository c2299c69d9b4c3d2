/** Makes a complete contract of what a service writes down. */

import type { ContractInput } from "./contract-input.ts";
import { ContractReader, type Given } from "./contract-reader.ts";
import { type NumberPath, numberRules } from "./defaults.ts";
import type {
  DeadLetterContract,
  DeploymentContract,
  DynamodbLedgerContract,
  EffectContract,
  LeaseContract,
  LedgerContract,
  LivenessContract,
  PlatformContract,
  PlatformKind,
  PresetName,
  QueueContract,
  ShutdownContract,
  WorkerContract,
} from "./deployment-contract.ts";
import { InvalidContractError } from "./errors.ts";
import { presets } from "./presets.ts";

const PLATFORM_KINDS: readonly PlatformKind[] = [
  "ecs-fargate",
  "ecs-ec2",
  "ec2-spot",
  "kubernetes",
  "plain",
];
const SECTIONS = [
  ...["preset", "service", "queues", "platform", "shutdown", "lease", "worker", "ledger"],
];
const SERVICE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const QUEUE_NAME = /^(?=.{1,80}$)[A-Za-z0-9_-]+(\.fifo)?$/;
const TABLE_NAME = /^[A-Za-z0-9_.-]{3,255}$/;
const EFFECT_NAME = /^[A-Za-z0-9_-]{1,64}$/;

type PlatformNumbers = Omit<PlatformContract, "kind" | "liveness">;
type LedgerNumbers = Omit<DynamodbLedgerContract, "kind" | "tableName" | "effects">;
type QueueNumbers = Omit<QueueContract, "name" | "fifo" | "deadLetter">;
type DeadLetterNumbers = Omit<DeadLetterContract, "name">;

/**
 * The contract of a service: the preset, with every number given laid over it, complete and frozen.
 *
 * Looks at one field at a time. Whether the numbers fit each other is asked by `verifyContract`.
 *
 * @throws InvalidContractError naming every malformed or unknown field, not only the first
 * @example
 * ```ts
 * import { assertContract, defineContract } from "@leasehold/deployment-contract";
 *
 * export const contract = defineContract({
 *   preset: "fargate-120",
 *   service: "billing",
 *   queues: [{ name: "billing-jobs" }],
 *   worker: { concurrency: 20 },
 * });
 * assertContract(contract);
 * ```
 */
export function defineContract(input: ContractInput): DeploymentContract {
  const reader = new ContractReader();
  const contract = new ContractDraft(reader, reader.section("", input, SECTIONS)).read();
  if (reader.problems.length > 0) throw new InvalidContractError(reader.problems);
  return deepFreeze(contract);
}

/** One contract while it is read. The order of `read` is the order in which defaults derive. */
class ContractDraft {
  readonly #reader: ContractReader;
  readonly #input: Given;
  readonly #presetName: PresetName;
  readonly #platform: Given;
  readonly #platformKind: PlatformKind;
  readonly #ledger: Given;
  readonly #hasLedger: boolean;

  constructor(reader: ContractReader, input: Given) {
    this.#reader = reader;
    this.#input = input;
    const presetNames = Object.keys(presets) as PresetName[];
    this.#presetName = reader.word("preset", input["preset"], presetNames) ?? "default-30";
    const platformFields = ["kind", ...fieldsOf("platform"), "liveness"];
    this.#platform = reader.section("platform", input["platform"], platformFields);
    const { kind = presets[this.#presetName].platform.kind } = this.#platform;
    this.#platformKind = reader.word("platform.kind", kind, PLATFORM_KINDS) ?? "plain";
    const ledgerFields = ["kind", "tableName", ...fieldsOf("ledger"), "effects"];
    this.#ledger = reader.section("ledger", input["ledger"], ledgerFields);
    const ledgerKind = input["ledger"] === undefined ? "none" : this.#ledger["kind"];
    this.#hasLedger = reader.word("ledger.kind", ledgerKind, ["dynamodb", "none"]) === "dynamodb";
  }

  read(): DeploymentContract {
    const service = this.#reader.name(
      "service",
      this.#input["service"],
      SERVICE_NAME,
      "1 to 64 letters, digits, - and _",
      "billing",
    );
    const shutdown = this.#section<ShutdownContract>("shutdown");
    const lease = this.#section<LeaseContract>("lease");
    const worker = this.#section<WorkerContract>("worker");
    const platform = this.#readPlatform();
    const ledger = this.#readLedger(service);
    const queues = this.#readQueues();
    return { service, preset: this.#presetName, platform, shutdown, lease, queues, worker, ledger };
  }

  #section<Section>(path: "shutdown" | "lease" | "worker"): Section {
    const given = this.#reader.section(path, this.#input[path], fieldsOf(path));
    return this.#numbers<Section>(path, path, given);
  }

  #readPlatform(): PlatformContract {
    const path = "platform.liveness";
    const given = this.#reader.section(path, this.#platform["liveness"], fieldsOf(path));
    const liveness = this.#numbers<LivenessContract>(path, path, given);
    const numbers = this.#numbers<PlatformNumbers>("platform", "platform", this.#platform);
    return { kind: this.#platformKind, ...numbers, liveness };
  }

  #readLedger(service: string): LedgerContract {
    if (!this.#hasLedger) {
      this.#refuseLedgerFields();
      return { kind: "none" };
    }
    // A bad service name was told already; the name derived from it is no second problem.
    const { tableName = SERVICE_NAME.test(service) ? `${service}-ledger` : "ledger" } =
      this.#ledger;
    const rule = "3 to 255 letters, digits, -, _ and .";
    const name = this.#reader.name("ledger.tableName", tableName, TABLE_NAME, rule, "jobs-ledger");
    const numbers = this.#numbers<LedgerNumbers>("ledger", "ledger", this.#ledger);
    const effects = this.#reader.list("ledger.effects", this.#ledger["effects"]);
    return {
      kind: "dynamodb",
      tableName: name,
      ...numbers,
      effects: this.#readEffects(effects),
    };
  }

  /** A switch to no ledger with its numbers left standing is more likely a slip than a wish. */
  #refuseLedgerFields(): void {
    if (this.#ledger["kind"] !== "none") return;
    for (const [name, value] of Object.entries(this.#ledger)) {
      if (name === "kind" || value === undefined) continue;
      const mend = 'write kind "dynamodb" or remove it';
      this.#reader.refuse(`ledger.${name}`, "be left out without a ledger", value, mend);
    }
  }

  #readEffects(effects: readonly unknown[]): EffectContract[] {
    const read = effects.map((effect, index) => {
      const path = `ledger.effects[${index}]`;
      const given = this.#reader.section(path, effect, ["name", "timeoutMs"]);
      const rule = "1 to 64 letters, digits, - and _";
      const name = this.#reader.name(`${path}.name`, given["name"], EFFECT_NAME, rule, "charge");
      return { name, ...this.#numbers<Omit<EffectContract, "name">>("effect", path, given) };
    });
    this.#refuseTwins("ledger.effects", read);
    return read;
  }

  #readQueues(): QueueContract[] {
    const given = this.#reader.list("queues", this.#input["queues"]);
    if (given.length === 0) {
      this.#reader.refuse("queues", "name at least one queue", given, 'write [{ name: "jobs" }]');
    }
    const queues = given.map((queue, index) => this.#readQueue(`queues[${index}]`, queue));
    this.#refuseTwins(
      "queues",
      queues.flatMap((queue) => [queue, queue.deadLetter]),
    );
    return queues;
  }

  #readQueue(path: string, queue: unknown): QueueContract {
    const fields = ["name", "fifo", ...fieldsOf("queue"), "deadLetter"];
    const given = this.#reader.section(path, queue, fields);
    const name = this.#readQueueName(`${path}.name`, given["name"], "jobs");
    const fifo = name.endsWith(".fifo");
    if (given["fifo"] !== undefined && given["fifo"] !== fifo) {
      const must = `be ${fifo}, because the name of a FIFO queue ends in .fifo and no other does`;
      this.#reader.refuse(`${path}.fifo`, must, given["fifo"], "leave it out, or change the name");
    }
    const numbers = this.#numbers<QueueNumbers>("queue", path, given, fifo);
    const deadLetter = this.#readDeadLetter(`${path}.deadLetter`, given["deadLetter"], name);
    return { name, fifo, ...numbers, deadLetter };
  }

  #readDeadLetter(path: string, deadLetter: unknown, source: string): DeadLetterContract {
    const given = this.#reader.section(path, deadLetter, ["name", "retentionMs"]);
    const usual = source.replace(/(\.fifo)?$/, "-dlq$1");
    // A bad source name was told already; the name derived from it is no second problem.
    const name =
      QUEUE_NAME.test(source) || given["name"] !== undefined
        ? this.#readQueueName(`${path}.name`, given["name"] ?? usual, usual)
        : usual;
    if (name !== "" && name.endsWith(".fifo") !== source.endsWith(".fifo")) {
      const must = `be a ${source.endsWith(".fifo") ? "FIFO" : "standard"} queue like its source`;
      this.#reader.refuse(`${path}.name`, must, name, `write ${JSON.stringify(usual)}`);
    }
    return { name, ...this.#numbers<DeadLetterNumbers>("queue.deadLetter", path, given) };
  }

  #readQueueName(path: string, value: unknown, example: string): string {
    const rule = "up to 80 letters, digits, - and _, with .fifo at the end of a FIFO queue's name";
    return this.#reader.name(path, value, QUEUE_NAME, rule, example);
  }

  #refuseTwins(path: string, named: readonly { readonly name: string }[]): void {
    const names = named.map(({ name }) => name).filter((name) => name !== "");
    const twins = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    for (const name of twins) {
      this.#reader.refuse(path, "have names of their own", name, "rename one of the two");
    }
  }

  /** The numbers directly at `path`, read from `given`; `NumberPath` sees to it that none is missing. */
  #numbers<Numbers>(path: string, shownPath: string, given: Given, fifo = false): Numbers {
    const known = {
      preset: presets[this.#presetName],
      platformKind: this.#platformKind,
      hasLedger: this.#hasLedger,
      fifo,
    };
    const numbers: Record<string, number> = {};
    for (const name of fieldsOf(path)) {
      const at = `${path}.${name}` as NumberPath;
      const value = this.#reader.number(at, `${shownPath}.${name}`, given[name], known);
      if (value !== undefined) numbers[name] = value;
    }
    return numbers as Numbers;
  }
}

/** Names of the numbers directly at a path of the table. */
function fieldsOf(path: string): string[] {
  return Object.keys(numberRules)
    .filter((at) => at.startsWith(`${path}.`))
    .map((at) => at.slice(path.length + 1))
    .filter((name) => !name.includes("."));
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  }
  return Object.freeze(value);
}
