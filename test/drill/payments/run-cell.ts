/** Runs one cell with real processes and tells what was seen. */

import type { LogLine, WorkerProcess } from "@leasehold/drill";
import type { Cell } from "./cells.ts";
import { PaymentSite } from "./payment-site.ts";
import { type Held, Trap } from "./trap.ts";
import type { CellEvidence } from "./verdict.ts";

/** Far longer than any cell takes: ends one that would never end. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;
/** How long a worker that was stopped has to finish with a job that is not its own any more. */
const AWAKE_MS = 10_000;

/**
 * Runs the cell; what goes wrong in it is part of the evidence.
 * @param environment - of every process
 */
export async function runCell(
  cell: Cell,
  environment: Readonly<Record<string, string>> = {},
): Promise<CellEvidence> {
  await using site = await PaymentSite.open(cell, environment);
  const run = new CellRun(cell, site);
  const problem = await run.go().then(
    () => undefined,
    (error: unknown) => String((error as Error).message),
  );
  return await run.evidence(problem);
}

class CellRun {
  readonly #cell: Cell;
  readonly #site: PaymentSite;
  readonly #giveUpAtMs = performance.now() + PATIENCE_MS;
  #isReached = false;
  #parkedWith: number | undefined;
  #commandProblem: string | undefined;

  constructor(cell: Cell, site: PaymentSite) {
    this.#cell = cell;
    this.#site = site;
  }

  async go(): Promise<void> {
    const { moment, policy } = this.#cell;
    const trap = new Trap(moment);
    const first = await this.#site.startWorker(trap.script);
    await this.#orGiveUp(first.waitFor("worker.ready"), "the worker was not ready");
    await this.#site.send();
    const held = await this.#orGiveUp(trap.sprung, "no such request came");
    this.#isReached = true;
    await this.#perform(first, held);
    if (policy === "park" && (await this.#isParked())) await this.#askOperator();
    await this.#until(async () => {
      const { waiting } = await this.#site.messages();
      return waiting === 0 && (await this.#state()) === "done";
    }, "the job did not come to its end");
  }

  async evidence(problem: string | undefined): Promise<CellEvidence> {
    const { seen, workers } = this.#site;
    return {
      ...{ isReached: this.#isReached, keys: seen.keys, ackedIn: seen.ackedIn },
      payments: this.#site.charges().map(({ paymentId }) => paymentId),
      receipts: this.#site.receipts(),
      state: await this.#state(),
      messages: await this.#site.messages(),
      alarms: workers.flatMap(({ lines }) => lines.flatMap(alarmOf)),
      ...(problem !== undefined && { problem }),
      ...(this.#parkedWith !== undefined && { parkedWith: this.#parkedWith }),
      ...(this.#commandProblem !== undefined && { commandProblem: this.#commandProblem }),
    };
  }

  async #perform(first: WorkerProcess, held: Held): Promise<void> {
    const { deed } = this.#cell.moment;
    switch (deed.kind) {
      case "kill":
        await kill(first);
        held.drop();
        await this.#site.startWorker();
        return await this.#settled();
      case "kill-and-land": {
        const landing = later(deed.afterMs, held.goOn);
        await kill(first);
        await this.#site.startWorker();
        await landing;
        return await this.#settled();
      }
      case "stop":
        first.signal("SIGSTOP");
        await this.#site.startWorker();
        await this.#settled();
        await held.goOn();
        first.signal("SIGCONT");
        return await this.#orGiveUp(silenceOf(first), "the stopped worker never let go of its job");
      case "lose":
      case "throttle":
        return await this.#settled();
    }
  }

  /** The job is done, or waits for an operator. */
  #settled(): Promise<void> {
    return this.#until(
      async () => ["done", "parked"].includes(await this.#state()),
      "the job was neither done nor parked",
    );
  }

  async #isParked(): Promise<boolean> {
    return (await this.#state()) === "parked";
  }

  /** Looks at the provider's books, and says what they say. */
  async #askOperator(): Promise<void> {
    const [charge, ...others] = this.#site.charges();
    this.#parkedWith = charge === undefined ? 0 : 1 + others.length;
    const word =
      charge === undefined
        ? ["--not-done"]
        : ["--done", JSON.stringify({ paymentId: charge.paymentId })];
    const { cliKill } = this.#cell;
    if (cliKill !== undefined) await this.#killCommand(word, new Trap(cliKill));
    const { code, said } = await this.#site.resolve(word);
    // What was wholly done is refused the second time, which is as good.
    const isRefusal = cliKill?.at === "clear" && /is resolved already/.test(said);
    if (code === 0 || isRefusal) return;
    this.#commandProblem = `leasehold ledger resolve ended with ${code}: ${said}`;
  }

  async #killCommand(word: readonly string[], trap: Trap): Promise<void> {
    const { code, said } = await this.#site.resolve(word, trap.script, trap.sprung);
    if (code !== null) this.#commandProblem = `it was to be killed and ended with ${code}: ${said}`;
    else (await trap.sprung).drop();
  }

  async #state(): Promise<string> {
    return (await this.#site.record())?.state ?? "none";
  }

  async #until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
    while (!(await isSo())) {
      if (performance.now() > this.#giveUpAtMs) throw new Error(otherwise);
      await later(LOOK_EVERY_MS);
    }
  }

  async #orGiveUp<Value>(event: Promise<Value>, otherwise: string): Promise<Value> {
    const waiting = new AbortController();
    const leftMs = Math.max(0, this.#giveUpAtMs - performance.now());
    const end = later(leftMs, () => Promise.reject(new Error(otherwise)), waiting.signal);
    try {
      return await Promise.race([event, end as Promise<never>]);
    } finally {
      waiting.abort();
    }
  }
}

async function kill(worker: WorkerProcess): Promise<void> {
  worker.signal("SIGKILL");
  await worker.exited;
}

/** Awake again, it ends its run of the job, whatever the run makes of it. */
async function silenceOf(worker: WorkerProcess): Promise<void> {
  await Promise.race([worker.waitFor("job.ended"), later(AWAKE_MS)]);
}

/** Real time: real processes are waited for. */
function later(
  delayMs: number,
  deed: () => Promise<void> = async () => {},
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => deed().then(resolve, reject), delayMs);
    signal?.addEventListener("abort", () => clearTimeout(timer));
  });
}

function alarmOf(line: LogLine): readonly string[] {
  const said = (line["fields"] as { readonly alarm?: unknown } | undefined)?.alarm;
  if (line["alarm"] !== true && said !== true) return [];
  return [line.event === "job.log" ? String(line["msg"]) : line.event];
}
