import { defineJob } from "@leasehold/job";
import middy from "@middy/core";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jobEnvelope, jobLogger, middyHandler } from "../index.ts";
import { openSite } from "./lambda-site.ts";

const schema = z.object({ n: z.number() });

describe("jobLogger", () => {
  test("gives each job a pino child that names its tenant and its id", async () => {
    const lines: unknown[] = [];
    const logger = pino(
      { base: null, timestamp: false },
      { write: (line: string) => lines.push(JSON.parse(line)) },
    );
    const wrapped = middy()
      .use(jobEnvelope(schema))
      .use(jobLogger(logger))
      .handler(async ({ payload }, { log }) => log.info({ n: payload.n }, "worked"));
    const job = defineJob({ type: "test.work", schema, handler: middyHandler(wrapped) });
    const site = await openSite({ jobs: [job] });
    const [one, two] = await site.send(1, 2);
    await site.invoke();
    const common = {
      level: 30,
      tenant_id: "acme",
      job_type: "test.work",
      attempt: 1,
      queue: "jobs",
    };
    const more = { receive_count: 1, msg: "worked" };
    expect(lines).toHaveLength(2);
    expect(lines).toContainEqual({ ...common, job_id: "job-1", message_id: one, n: 1, ...more });
    expect(lines).toContainEqual({ ...common, job_id: "job-2", message_id: two, n: 2, ...more });
  });
});
