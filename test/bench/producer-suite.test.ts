import { describe, expect, test } from "vitest";
import { judgeProducer } from "./producer-bounds.ts";
import { measureSender, type ProducerRow } from "./producer-suite.ts";
import { type BenchSender, senders, type Told } from "./senders.ts";
import { sendingFaults } from "./sending-faults.ts";
import { judgeSentJobs, type SentJobs } from "./sent-jobs.ts";

const row: ProducerRow = {
  library: "leasehold send",
  fault_rate: 0,
  jobs: 1_000,
  requests: 101,
  requests_per_job: 0.101,
  failed_entries: 0,
  missing: 0,
  duplicates: 0,
  needless_duplicates: 0,
  wrong_results: 0,
  untold: 0,
  heap_growth: 1.05,
  jobs_per_second: 1,
};

const broken = (changes: Partial<ProducerRow>) =>
  judgeProducer({ suite: "producer", rows: [{ ...row, ...changes }] })
    .filter(({ holds }) => !holds)
    .map(({ promise }) => promise.replace(/^[^:]*: /, ""));

const sender = (library: string) => senders.find((one) => one.library === library) as BenchSender;

describe("the promises about sending", () => {
  test("hold for a run that just keeps them", () => {
    expect(broken({})).toEqual([]);
    expect(broken({ fault_rate: 0.1, requests: 123, failed_entries: 20 })).toEqual([]);
  });

  test("name what a run has missed", () => {
    expect(broken({ requests: 102 })).toEqual(["102 requests, at most 101"]);
    expect(broken({ fault_rate: 0.1, requests: 124, failed_entries: 20 })).toEqual([
      "124 requests, at most 123",
    ]);
    expect(
      broken({
        missing: 1,
        wrong_results: 2,
        untold: 3,
        duplicates: 5,
        needless_duplicates: 4,
        heap_growth: 1.06,
      }),
    ).toEqual([
      "1 jobs missing, at most 0",
      "2 wrong results and 3 untold, at most 0",
      "5 duplicates, 4 without a lost answer, at most 0",
      "the heap grew to 1.06 of what it was, at most 1.05",
    ]);
  });

  test("hold no library to account but Leasehold", () => {
    expect(broken({ library: "sqs-producer send", requests: 1_000, missing: 1_000 })).toEqual([]);
  });
});

describe("the verdict on sent jobs", () => {
  const sent = (messageId: string) => ({ kind: "sent" as const, messageId });
  const run: SentJobs = {
    jobs: 2,
    told: new Map([
      [0, sent("a")],
      [1, sent("b")],
    ]),
    messages: new Map([
      [0, ["a"]],
      [1, ["b"]],
    ]),
    calls: [["a", "b"]],
    lostAnswers: 0,
  };
  const clean = { missing: 0, duplicates: 0, needless_duplicates: 0, wrong_results: 0, untold: 0 };

  test("is clean when all is there as it was told", () => {
    expect(judgeSentJobs(run)).toEqual(clean);
  });

  test("finds a job that is told as sent and is not there", () => {
    const messages = new Map([[0, ["a"]]]);

    expect(judgeSentJobs({ ...run, messages })).toEqual({ ...clean, missing: 1, wrong_results: 1 });
  });

  test("finds a message of another id, and a job that is there against its result", () => {
    const told = new Map<number, Told>([
      [0, sent("x")],
      [1, { kind: "not-sent" }],
    ]);

    expect(judgeSentJobs({ ...run, told }).wrong_results).toBe(2);
  });

  test("takes a duplicate for a lost answer's if its whole call is unknown to the sender", () => {
    const messages = new Map([
      [0, ["z", "a"]],
      [1, ["b"]],
    ]);
    const lost = { ...run, messages, calls: [["z"], ["a", "b"]] };

    expect(judgeSentJobs({ ...lost, lostAnswers: 1 })).toEqual({ ...clean, duplicates: 1 });
    expect(judgeSentJobs(lost)).toEqual({ ...clean, duplicates: 1, needless_duplicates: 1 });
    const answered = { ...lost, calls: [["z", "b"], ["a"]], lostAnswers: 1 };
    expect(judgeSentJobs(answered)).toEqual({ ...clean, duplicates: 1, needless_duplicates: 1 });
  });

  test("counts jobs of which nothing certain was told", () => {
    const told = new Map([[0, sent("a")]]);

    expect(judgeSentJobs({ ...run, told })).toEqual({ ...clean, untold: 1 });
  });
});

describe("faults for senders", () => {
  test("come at their rate, all kinds alike", () => {
    const { rules } = sendingFaults(0.3);
    let left = 1;
    const shares = rules.map(({ chance = 1 }) => {
      const share = left * chance;
      left -= share;
      return Math.round(share * 1_000);
    });

    expect(shares).toEqual([50, 50, 50, 50, 50, 50]);
  });
});

describe("a measured sender", () => {
  test("keeps its promises when every third request goes wrong", { timeout: 60_000 }, async () => {
    const measured = await measureSender(sender("leasehold send"), { jobs: 500, faultRate: 0.3 });

    expect(measured).toMatchObject({
      missing: 0,
      needless_duplicates: 0,
      wrong_results: 0,
      untold: 0,
    });
    expect(measured.requests).toBeGreaterThan(50);
    expect(measured.failed_entries).toBeGreaterThan(0);
    expect(measured.duplicates).toBeGreaterThan(0);
  });

  test("shows what a peer leaves behind", { timeout: 60_000 }, async () => {
    const peer = sender("sqs-producer send");

    expect(await measureSender(peer, { jobs: 100, faultRate: 0.3 })).toMatchObject({
      missing: expect.toSatisfy((missing: number) => missing > 0),
    });
  });
});
