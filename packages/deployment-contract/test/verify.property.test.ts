import {
  type ContractInput,
  type DeploymentContract,
  defineContract,
  type Finding,
  InvalidContractError,
  type PresetName,
  presets,
  verifyContract,
} from "@leasehold/deployment-contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const DAY = 86_400_000;

/** Left out half of the time, so that defaults and presets meet each override. */
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const seconds = (min: number, max: number) =>
  fc.integer({ min, max }).map((value) => value * 1_000);
const ms = (min: number, max: number) => fc.integer({ min, max });
const days = (max: number) => fc.integer({ min: 1, max }).map((value) => value * DAY);
const numbers = <Fields extends Record<string, fc.Arbitrary<number>>>(fields: Fields) =>
  fc
    .record(Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, maybe(of)])))
    .map(withoutAbsent);

/** Ranges lie around the bounds of the presets; wider ones would break everything always. */
const queues = fc
  .array(
    fc.record({
      fifo: fc.boolean(),
      numbers: numbers({
        waitMs: seconds(1, 20),
        retentionMs: fc.oneof(days(14), seconds(60, 20_000)),
        maxReceiveCount: fc.integer({ min: 1, max: 1_000 }),
        weight: fc.integer({ min: 1, max: 100 }),
      }),
      deadLetter: numbers({ retentionMs: days(14) }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) =>
    list.map((queue, index) => ({
      name: `jobs-${index}${queue.fifo ? ".fifo" : ""}`,
      ...queue.numbers,
      deadLetter: queue.deadLetter,
    })),
  );

const ledgers = fc.oneof(
  fc.constant({ kind: "none" as const }),
  fc
    .record({
      numbers: numbers({ doneRetentionMs: days(60), settleMs: ms(0, 100_000) }),
      effects: fc.array(
        ms(1, 1_000_000).map((timeoutMs) => ({ timeoutMs })),
        { maxLength: 2 },
      ),
    })
    .map((ledger) => ({
      kind: "dynamodb" as const,
      ...ledger.numbers,
      effects: ledger.effects.map(({ timeoutMs }, index) => ({
        name: `effect-${index}`,
        timeoutMs,
      })),
    })),
);

const inputs = fc
  .record({
    preset: fc.constantFrom(...(Object.keys(presets) as PresetName[])),
    queues,
    ledger: ledgers,
    liveness: numbers({ failures: ms(1, 5), longestStallMs: ms(0, 60_000) }),
    platform: numbers({
      graceMs: seconds(1, 700),
      preStopMs: seconds(0, 20),
      autoscalerGraceMs: seconds(0, 700),
      taskProtectionMinutes: ms(1, 60),
    }),
    shutdown: numbers({
      drainMs: ms(1, 120_000),
      abortMs: ms(0, 10_000),
      releaseMs: ms(0, 10_000),
      flushMs: ms(0, 10_000),
      marginMs: ms(0, 10_000),
    }),
    lease: numbers({
      visibilityTimeoutMs: seconds(1, 120),
      extendEveryMs: ms(100, 60_000),
      callTimeoutMs: ms(50, 10_000),
      leaseMarginMs: ms(0, 5_000),
      acceptedRedeliveryMs: seconds(1, 120),
      maxBlockedMs: ms(0, 60_000),
    }),
    worker: numbers({
      concurrency: ms(1, 200),
      jobTimeoutMs: fc.oneof(ms(100, 5_000_000), ms(43_000_000, 43_200_000)),
      maxAttempts: ms(1, 50),
      interruptionBudget: ms(0, 50),
      backoffCapMs: ms(0, 3_600_000),
      expectedWorkers: fc.oneof(ms(1, 100), ms(5_000, 10_000)),
      backlogPerWorker: ms(1, 200),
      sockets: ms(1, 100),
    }),
  })
  .map(
    ({ liveness, platform, ...rest }) =>
      ({ service: "billing", ...rest, platform: { ...platform, liveness } }) as ContractInput,
  );

function withoutAbsent(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function findings(input: ContractInput): Finding[] {
  const { violations, warnings } = verifyContract(defineContract(input));
  return [...violations, ...warnings];
}

const countOf = (rule: string, found: readonly Finding[]) =>
  found.filter((finding) => finding.rule === rule).length;
/** A reason belongs to one inequality, where a rule may have several. */
const countWhy = (reason: string, found: readonly Finding[]) =>
  found.filter((finding) => finding.reason === reason).length;

/** The input with the number at `path` replaced, as `lease.extendEveryMs` or `queues[0].waitMs`. */
function withNumber(input: ContractInput, path: string, value: number): ContractInput {
  const copy = structuredClone(input) as unknown as Record<string, unknown>;
  const steps = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const last = steps.pop() ?? "";
  let at = copy;
  for (const step of steps) {
    at[step] ??= {};
    at = at[step] as Record<string, unknown>;
  }
  at[last] = value;
  return copy as unknown as ContractInput;
}

describe("verifyContract, over every contract", () => {
  test("every finding shows its numbers, says why, and how to mend it", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        for (const { numbers: shown, message, reason, mend } of findings(input)) {
          expect(Object.keys(shown).length).toBeGreaterThan(0);
          for (const value of Object.values(shown)) expect(message).toContain(String(value));
          expect(reason.length).toBeGreaterThan(20);
          expect(mend).toMatch(/^(raise|lower|set|take) /);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a mend that names a field and a number ends its finding", () => {
    let mended = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const found = findings(input);
        for (const { rule, reason, mend, message } of found) {
          for (const [, path = "", value] of mend.matchAll(
            /(?:raise|lower|set|with) ([a-z]+(?:\[\d\])?(?:\.[A-Za-z]+)+) (?:to )?(\d+)/g,
          )) {
            const after = findings(withNumber(input, path, Number(value)));
            expect(after.map((finding) => finding.message)).not.toContain(message);
            expect(countWhy(reason, after), `${rule}: ${mend}`).toBeLessThan(
              countWhy(reason, found),
            );
            mended += 1;
          }
        }
      }),
      { numRuns: 500 },
    );
    expect(mended).toBeGreaterThan(500);
  });

  test("more room never breaks what held", () => {
    const more = fc.constantFrom(
      { rule: "B1", path: "platform.graceMs", byMs: 1_000 },
      { rule: "B4", path: "lease.visibilityTimeoutMs", byMs: 1_000 },
      { rule: "B5", path: "lease.visibilityTimeoutMs", byMs: 1_000 },
      { rule: "B3", path: "shutdown.drainMs", byMs: 1 },
      { rule: "B8", path: "shutdown.releaseMs", byMs: 1 },
      { rule: "B6", path: "lease.acceptedRedeliveryMs", byMs: 1_000 },
      { rule: "B13", path: "platform.liveness.failures", byMs: 1 },
      { rule: "B8", path: "worker.sockets", byMs: 1 },
    );
    fc.assert(
      fc.property(
        inputs,
        more,
        fc.integer({ min: 1, max: 90 }),
        (input, { rule, path, byMs }, n) => {
          const contract = defineContract(input) as unknown as Record<string, unknown>;
          const value = path
            .split(".")
            .reduce((at, step) => (at as Record<string, unknown>)[step], contract as unknown);
          const roomier = withNumber(input, path, (value as number) + n * byMs);
          expect(countOf(rule, findings(roomier))).toBeLessThanOrEqual(
            countOf(rule, findings(input)),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("no number makes it throw, not even one that no contract can have", () => {
    const wild = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e300, 0.1);
    fc.assert(
      fc.property(
        inputs,
        fc.infiniteStream(fc.option(wild, { nil: undefined })),
        (input, stream) => {
          const contract = defineContract(input);
          const spoilt = JSON.parse(JSON.stringify(contract), (_, value) =>
            typeof value === "number" ? (stream.next().value ?? value) : value,
          ) as DeploymentContract;
          expect(() => verifyContract(spoilt)).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });

  test("the contracts reach every rule, each broken and whole (the generator is not vacuous)", () => {
    const runs = fc.sample(inputs, { numRuns: 2_000, seed: 1 }).map(findings);
    const names = (found: readonly Finding[]) =>
      new Set(found.map(({ rule, severity }) => `${rule} ${severity}`));
    const broken = new Map<string, number>();
    for (const found of runs) {
      for (const name of names(found)) broken.set(name, (broken.get(name) ?? 0) + 1);
    }
    expect([...broken.keys()].sort()).toEqual([
      ...["B1 violation", "B10 violation", "B11 warning", "B12 violation", "B13 violation"],
      ...["B14 violation", "B14 warning", "B15 warning", "B16 violation", "B16 warning"],
      ...["B2 violation", "B3 violation", "B4 violation", "B5 violation", "B6 warning"],
      ...["B7 violation", "B8 violation", "B9 violation"],
    ]);
    for (const [name, count] of broken) {
      expect(count, name).toBeGreaterThan(20);
      expect(count, name).toBeLessThan(1_980);
    }
  });
});

describe("defineContract, over anything", () => {
  test("gives a frozen contract or names what is wrong, and nothing else", () => {
    fc.assert(
      fc.property(inputs, fc.object({ maxDepth: 3 }), fc.boolean(), (input, noise, isWhole) => {
        const given = (isWhole ? input : { ...input, ...noise }) as ContractInput;
        try {
          const contract = defineContract(given);
          expect(Object.isFrozen(contract) && Object.isFrozen(contract.platform.liveness)).toBe(
            true,
          );
        } catch (error) {
          if (!(error instanceof InvalidContractError)) throw error;
          expect(isWhole).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});
