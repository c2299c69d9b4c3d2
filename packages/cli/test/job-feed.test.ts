import { ManualClock } from "@leasehold/clock/manual";
import { type SendResult, UnsendableJobError } from "@leasehold/producer";
import { describe, expect, test } from "vitest";
import { feedJobs } from "../job-feed.ts";
import type { SampleRequest } from "../local-target.ts";

function setup({
  jobs,
  refuse = () => false,
}: {
  jobs?: number;
  refuse?: (id: string) => boolean;
}) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const calls: string[][] = [];
  const requests: SampleRequest[] = [];
  const problems: string[] = [];
  const standing = { sent: 0, backlog: 0 };
  const options = {
    target: {
      sampleJobs: (request: SampleRequest) => {
        requests.push(request);
        return Array.from({ length: request.count }, (_, index) => ({
          type: "mail.send",
          tenantId: "acme",
          jobId: `${request.seed}-${index}`,
          payload: {},
        }));
      },
    },
    producer: {
      sendMany: async (sent: readonly { readonly jobId?: string }[]): Promise<SendResult[]> => {
        const ids = sent.map(({ jobId = "" }) => jobId);
        calls.push(ids);
        return ids.map((jobId) =>
          refuse(jobId)
            ? { kind: "refused", error: new UnsendableJobError("it is too late") }
            : { kind: "sent", messageId: `m-${jobId}`, jobId },
        );
      },
    },
    clock,
    seed: 7,
    ...(jobs === undefined ? {} : { jobs }),
    countUnfinished: async () => standing.backlog,
    onSent: (count: number) => {
      standing.sent += count;
    },
    onFailed: (problem: string) => problems.push(problem),
  };
  const done = feedJobs(options, stop.signal);
  return { clock, stop, calls, requests, problems, standing, done };
}

describe("a fixed number of jobs", () => {
  test("is sent in chunks, and the feed ends", async () => {
    const { calls, requests, standing, done } = setup({ jobs: 250 });

    await done;

    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(requests).toEqual([{ count: 250, seed: 7 }]);
    expect(standing.sent).toBe(250);
  });

  test("may be none", async () => {
    const { calls, done } = setup({ jobs: 0 });

    await done;

    expect(calls).toEqual([]);
  });

  test("names each job that could not be sent, and counts the others", async () => {
    const { problems, standing, done } = setup({ jobs: 3, refuse: (id) => id === "7-1" });

    await done;

    expect(standing.sent).toBe(2);
    expect(problems).toEqual(["mail.send acme/7-1 was not sent: it is too late"]);
  });
});

describe("a trickle of jobs", () => {
  test("is a few every two seconds, each with an id of its own, until stopped", async () => {
    const { clock, stop, calls, done } = setup({});

    await clock.advance(4_000);
    stop.abort();
    await done;

    expect(calls.map(({ length }) => length)).toEqual([6, 6, 6]);
    expect(calls.map(([first]) => first)).toEqual(["7-0", "8-0", "9-0"]);
  });

  test("waits while too much is unfinished", async () => {
    const { clock, stop, calls, standing, done } = setup({});
    await clock.settle();
    standing.backlog = 60;

    await clock.advance(10_000);
    expect(calls.length).toBe(1);
    standing.backlog = 59;
    await clock.advance(2_000);

    expect(calls.length).toBe(2);
    stop.abort();
    await done;
  });
});
