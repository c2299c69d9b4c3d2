/** A report as a drill makes it: a rolling deploy, a long job, a broken promise; always the same. */

import type {
  LeaseEnding,
  Report,
  Timeline,
  TimelineEffect,
  TimelineLease,
  TimelineWorker,
  VerdictRow,
} from "@leasehold/drill";

const STARTED_AT_MS = Date.UTC(2026, 4, 4, 10, 3, 12);
const TENANTS = ["acme", "borealis", "cumulus", "delta & sons", "<b>evil</b>"];
const SLOTS = 4;
const JOBS = 200;
const GRACE_MS = 10_000;

/** Numbers that look like chance and are the same in every run. */
function drawNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Three workers under load, replaced one after the other. */
export function rollingDeploy(jobs: number = JOBS): Timeline {
  const chance = drawNumbers(4711);
  const workers: (TimelineWorker & { readonly signalMs: number; readonly exitMs: number })[] = [];
  for (const [index, name] of ["one", "two", "three"].entries()) {
    const signalMs = 8_000 + index * 12_000;
    const exitMs = signalMs + 2_600 + index * 300;
    const old = { name: `old-${name}`, bootedMs: 0, exitedMs: exitMs, exitCode: 0 };
    workers.push({ ...old, signalMs, exitMs });
    const fresh = { name: `new-${name}`, bootedMs: signalMs - 900 };
    workers.push({
      ...fresh,
      signalMs: Number.POSITIVE_INFINITY,
      exitMs: Number.POSITIVE_INFINITY,
    });
  }
  const slots = workers.flatMap((worker) =>
    Array.from({ length: SLOTS }, () => ({
      worker,
      freeMs: worker.bootedMs + 400 + chance() * 300,
    })),
  );
  const leases: TimelineLease[] = [];
  const effects: TimelineEffect[] = [];
  let waiting = Array.from({ length: jobs }, (_, index) => ({
    index,
    visibleMs: index * (44_000 / jobs),
  }));
  while (waiting.length > 0) {
    const open = slots.filter(({ worker, freeMs }) => freeMs < worker.signalMs);
    const slot = open.toSorted((one, other) => one.freeMs - other.freeMs)[0];
    const job = waiting.toSorted((one, other) => one.visibleMs - other.visibleMs)[0];
    if (slot === undefined || job === undefined) break;
    waiting = waiting.filter((other) => other !== job);
    const fromMs = Math.round(Math.max(slot.freeMs, job.visibleMs) + 10 + chance() * 40);
    if (fromMs >= slot.worker.signalMs) {
      slot.freeMs = Number.POSITIVE_INFINITY;
      waiting.push(job);
      continue;
    }
    const lastMs = slot.worker.signalMs + 2_100;
    const wantedMs = Math.round(fromMs + 300 + chance() ** 3 * 4_200);
    const toMs = Math.min(wantedMs, lastMs + Math.round(chance() * 120));
    const failed = chance() > 0.96;
    const ending: LeaseEnding = wantedMs > toMs ? "released" : failed ? "retried" : "acked";
    const name = {
      tenantId: TENANTS[job.index % TENANTS.length] ?? "",
      jobId: `inv-${1000 + job.index}`,
    };
    const startedMs = fromMs + 20 + Math.round(chance() * 120);
    leases.push({
      ...name,
      worker: slot.worker.name,
      queue: job.index % 4 === 0 ? "payments.fifo" : "invoices",
      messageId: `m-${1000 + job.index}`,
      jobType: job.index % 4 === 0 ? "payment.capture" : "invoice.issue",
      fromMs,
      startedMs,
      toMs,
      ending,
      extensionsMs: toMs - fromMs > 2_500 ? [fromMs + 1_250, fromMs + 2_500] : [],
    });
    if (job.index % 4 === 0) {
      const middleMs = Math.round((startedMs + toMs) / 2);
      const own = { ...name, worker: slot.worker.name, effect: "charge" };
      effects.push({ ...own, atMs: startedMs + 15, mark: "started" });
      if (ending === "acked") {
        effects.push({
          ...name,
          effect: "charge",
          atMs: middleMs,
          mark: "applied",
          text: "ch_1 12.00 EUR",
        });
        effects.push({ ...own, atMs: toMs - 12, mark: "done" });
      }
    }
    slot.freeMs = toMs + 15;
    if (ending !== "acked") waiting.push({ index: job.index, visibleMs: toMs + 60 });
  }
  const drained = workers.filter(({ signalMs }) => Number.isFinite(signalMs));
  return {
    title: "rolling deploy of three workers under load",
    startedAtMs: STARTED_AT_MS,
    endMs: 48_000,
    workers: workers.map(({ signalMs: _, exitMs: __, ...worker }) => worker),
    leases,
    effects,
    phases: drained.flatMap(({ name: worker, signalMs, exitMs }) => [
      { worker, phase: "draining", fromMs: signalMs + 3, toMs: signalMs + 2_000 },
      { worker, phase: "aborting", fromMs: signalMs + 2_000, toMs: signalMs + 2_150 },
      { worker, phase: "releasing", fromMs: signalMs + 2_150, toMs: signalMs + 2_400 },
      { worker, phase: "flushing", fromMs: signalMs + 2_400, toMs: exitMs - 20 },
    ]),
    lines: drained.flatMap(({ name: worker, signalMs }) => [
      { worker, atMs: signalMs, kind: "signal" as const, text: "SIGTERM" },
      { worker, atMs: signalMs + 2_000, kind: "deadline" as const, text: "drain deadline" },
      {
        worker,
        atMs: signalMs + GRACE_MS,
        kind: "deadline" as const,
        text: "SIGKILL of the platform",
      },
    ]),
  };
}

/** One job runs into the drain deadline and is finished by the next worker. */
export function longJob(): Timeline {
  const job = { tenantId: "acme", jobId: "report-7", jobType: "report.year", messageId: "m-7" };
  const quick = (index: number): TimelineLease => ({
    worker: "first",
    queue: "reports",
    messageId: `m-${20 + index}`,
    tenantId: "borealis",
    jobId: `report-${20 + index}`,
    jobType: "report.month",
    fromMs: 400 + index * 900,
    startedMs: 430 + index * 900,
    toMs: 1_150 + index * 900,
    ending: "acked",
    extensionsMs: [],
  });
  return {
    title: "long job past the deadline",
    startedAtMs: STARTED_AT_MS + 60_000,
    endMs: 16_000,
    workers: [
      { name: "first", bootedMs: 0, exitedMs: 8_450, exitCode: 0 },
      { name: "second", bootedMs: 4_100 },
    ],
    leases: [
      {
        ...job,
        worker: "first",
        queue: "reports",
        fromMs: 900,
        startedMs: 930,
        toMs: 8_020,
        ending: "released",
        extensionsMs: [2_900, 4_900, 6_900],
      },
      ...Array.from({ length: 4 }, (_, index) => quick(index)),
      {
        worker: "first",
        queue: "reports",
        messageId: "m-40",
        tenantId: "cumulus",
        jobId: "report-40",
        jobType: "report.month",
        fromMs: 4_940,
        toMs: 5_080,
        ending: "released",
        extensionsMs: [],
      },
      {
        worker: "second",
        queue: "reports",
        messageId: "m-40",
        tenantId: "cumulus",
        jobId: "report-40",
        jobType: "report.month",
        fromMs: 5_110,
        startedMs: 5_120,
        toMs: 6_200,
        ending: "acked",
        extensionsMs: [],
      },
      {
        ...job,
        worker: "second",
        queue: "reports",
        fromMs: 8_060,
        startedMs: 8_075,
        toMs: 15_400,
        ending: "acked",
        extensionsMs: [10_060, 12_060, 14_060],
      },
    ],
    phases: [
      { worker: "first", phase: "draining", fromMs: 5_000, toMs: 7_500 },
      { worker: "first", phase: "aborting", fromMs: 7_500, toMs: 7_990 },
      { worker: "first", phase: "releasing", fromMs: 7_990, toMs: 8_200 },
      { worker: "first", phase: "flushing", fromMs: 8_200, toMs: 8_430 },
    ],
    lines: [
      { worker: "first", atMs: 5_000, kind: "signal", text: "SIGTERM" },
      { worker: "first", atMs: 7_500, kind: "deadline", text: "drain deadline" },
      { worker: "first", atMs: 15_000, kind: "deadline", text: "SIGKILL of the platform" },
      { atMs: 13_200, kind: "note", text: "queue looked empty" },
    ],
    effects: [
      {
        worker: "first",
        tenantId: "acme",
        jobId: "report-7",
        effect: "render",
        atMs: 1_400,
        mark: "started",
      },
      {
        worker: "first",
        tenantId: "acme",
        jobId: "report-7",
        effect: "render",
        atMs: 6_000,
        mark: "done",
      },
      {
        worker: "second",
        tenantId: "acme",
        jobId: "report-7",
        effect: "send",
        atMs: 14_300,
        mark: "started",
      },
      { tenantId: "acme", jobId: "report-7", effect: "send", atMs: 14_800, mark: "applied" },
      {
        worker: "second",
        tenantId: "acme",
        jobId: "report-7",
        effect: "send",
        atMs: 15_200,
        mark: "done",
      },
    ],
  };
}

/** A worker is killed in its drain, and a charge is asked for twice: every ending but two occurs. */
export function killedWhileReleasing(): Timeline {
  const lease = (
    id: number,
    worker: string,
    fromMs: number,
    toMs: number,
    ending: LeaseEnding,
    extensionsMs: number[] = [],
  ): TimelineLease => ({
    worker,
    queue: "payments",
    messageId: `m-${id}`,
    tenantId: TENANTS[id % TENANTS.length] ?? "",
    jobId: `pay-${id}`,
    jobType: "payment.capture",
    fromMs,
    startedMs: fromMs + 120,
    toMs,
    ending,
    extensionsMs,
  });
  const charge = (
    id: number,
    atMs: number,
    mark: TimelineEffect["mark"],
    worker?: string,
  ): TimelineEffect => ({
    ...(worker === undefined ? {} : { worker }),
    tenantId: TENANTS[id % TENANTS.length] ?? "",
    jobId: `pay-${id}`,
    effect: "charge",
    atMs,
    mark,
  });
  return {
    title: "SIGKILL while releasing",
    startedAtMs: STARTED_AT_MS + 120_000,
    endMs: 24_000,
    workers: [
      { name: "first", bootedMs: 0, exitedMs: 7_900, exitCode: "SIGKILL" },
      { name: "second", bootedMs: 6_200 },
    ],
    leases: [
      lease(1, "first", 500, 2_300, "acked"),
      lease(2, "first", 620, 7_900, "cut off", [2_600, 4_600, 6_600]),
      lease(3, "first", 700, 7_700, "released", [2_700, 4_700, 6_700]),
      lease(4, "first", 2_400, 4_800, "retried"),
      lease(5, "first", 3_000, 6_900, "lost", [5_000]),
      lease(6, "first", 5_100, 7_800, "lapsed"),
      lease(4, "second", 7_000, 9_900, "dead-lettered", [9_000]),
      lease(5, "second", 6_950, 10_400, "acked", [8_950]),
      lease(3, "second", 7_740, 11_000, "acked", [9_740]),
      lease(2, "second", 12_650, 16_200, "parked", [14_650]),
      lease(6, "second", 17_900, 24_000, "open", [19_900, 21_900]),
    ],
    phases: [
      { worker: "first", phase: "draining", fromMs: 5_200, toMs: 7_200 },
      { worker: "first", phase: "aborting", fromMs: 7_200, toMs: 7_600 },
      { worker: "first", phase: "releasing", fromMs: 7_600, toMs: 7_900 },
    ],
    lines: [
      { worker: "first", atMs: 5_200, kind: "signal", text: "SIGTERM" },
      { worker: "first", atMs: 7_200, kind: "deadline", text: "drain deadline" },
      { worker: "first", atMs: 7_900, kind: "signal", text: "SIGKILL" },
      { worker: "first", atMs: 6_400, kind: "fault", text: "ChangeMessageVisibility throttled" },
      { atMs: 9_500, kind: "fault", text: "provider answers 503 for 2 s" },
    ],
    effects: [
      charge(1, 900, "started", "first"),
      charge(1, 1_500, "applied"),
      charge(1, 2_200, "done", "first"),
      charge(2, 6_900, "started", "first"),
      charge(2, 7_400, "applied"),
      charge(2, 15_800, "parked", "second"),
      charge(4, 4_500, "rejected", "first"),
      charge(5, 3_600, "started", "first"),
      charge(5, 6_000, "unknown", "first"),
      charge(5, 8_400, "applied"),
      charge(5, 10_200, "done", "second"),
      { ...charge(2, 12_050, "applied"), text: "a second charge: ch_2 12.00 EUR" },
    ],
  };
}

/** The whole report: a broken scenario, held ones, and one that has no timeline. */
export function sampleReport(): Report {
  const timelines = [rollingDeploy(), longJob(), killedWhileReleasing()];
  const names = timelines.map(({ title }) => title);
  const held = (scenario: string): VerdictRow[] => [
    { scenario, promise: "no job is lost", held: true, seen: "0 of 200 lost", bound: "0" },
    {
      scenario,
      promise: "no effect happens twice",
      held: true,
      seen: "50 charges for 50 invoices",
      bound: "50",
    },
    {
      scenario,
      promise: "no claim after the signal",
      held: true,
      seen: "last claim 4 ms before it",
    },
    {
      scenario,
      promise: "not ready once it drains",
      held: true,
      seen: "503 after 61 ms",
      bound: "1 s",
    },
    {
      scenario,
      promise: "exit code says what happened",
      held: true,
      seen: "exit code 0",
      bound: "0",
    },
  ];
  return {
    title: "leasehold drill on embedded SQS",
    numbers: [
      { name: "drain deadline", value: "2.5 s" },
      { name: "grace period", value: "10 s" },
      { name: "visibility timeout", value: "6 s" },
      { name: "extended every", value: "2 s" },
      { name: "preset", value: "drill" },
    ],
    verdicts: [
      ...names.slice(0, 2).flatMap(held),
      ...held(names[2] ?? "").map((verdict) =>
        verdict.promise === "no effect happens twice"
          ? {
              ...verdict,
              held: false,
              seen: "2 charges for invoice pay-2: ch_1 at 7.4 s, ch_2 at 12.05 s",
              bound: "1",
            }
          : verdict,
      ),
      ...held("platform's grace period is too small").slice(4),
    ],
    timelines,
  };
}
