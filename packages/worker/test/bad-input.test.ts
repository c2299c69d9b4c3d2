import { describe, expect, test } from "vitest";
import { message, openWorld, type WorldOptions } from "../../../test/support/worker-world.ts";

async function workFor(
  durationMs: number,
  body: string,
  attributes: Readonly<Record<string, string>> = {},
  options: WorldOptions = {},
) {
  const world = await openWorld(options);
  void world.worker.start();
  await world.queue.send({ body, attributes });
  await world.clock.advance(durationMs);
  return world;
}

const good = JSON.parse(message(1).body ?? "") as Record<string, unknown>;
const changed = (fields: Record<string, unknown>) => JSON.stringify({ ...good, ...fields });
const without = (name: string) => {
  const { [name]: _, ...rest } = good;
  return JSON.stringify(rest);
};

const malformed: [what: string, body: string, reason: string][] = [
  ["no JSON", "{", "not-json"],
  ["a byte order mark", `\ufeff${JSON.stringify(good)}`, "not-json"],
  ["a list", "[]", "not-an-object"],
  ["null", "null", "not-an-object"],
  ["a number", "7", "not-an-object"],
  ["an empty object", "{}", "missing-field"],
  ["no version", without("v"), "missing-field"],
  ["no type", without("type"), "missing-field"],
  ["no job id", without("job_id"), "missing-field"],
  ["no tenant", without("tenant_id"), "missing-field"],
  ["no date", without("created_at"), "missing-field"],
  ["no payload", without("payload"), "missing-field"],
  ["version 0", changed({ v: 0 }), "invalid-field"],
  ["version as text", changed({ v: "1" }), "invalid-field"],
  ["a type with capitals", changed({ type: "Test.Work" }), "invalid-field"],
  ["a job id that is a number", changed({ job_id: 7 }), "invalid-field"],
  ["a job id that is too long", changed({ job_id: "x".repeat(257) }), "invalid-field"],
  ["an empty tenant", changed({ tenant_id: "" }), "invalid-field"],
  ["a tenant with a control character", changed({ tenant_id: "a\u0007" }), "invalid-field"],
  ["a tenant with a lone surrogate", changed({ tenant_id: "a\ud800" }), "invalid-field"],
  ["a date that is none", changed({ created_at: "yesterday" }), "invalid-field"],
  ["a payload of the wrong shape", changed({ payload: { n: "one" } }), "invalid-payload"],
  ["a payload that is null", changed({ payload: null }), "invalid-payload"],
  ["a depth bomb", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, "too-deep"],
];

describe("a message that is no job", () => {
  test.each(malformed)("goes to the dead-letter queue at once: %s", async (_, body, reason) => {
    const world = await workFor(10_000, body);

    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0, deadLettered: 1 });
    expect(world.heard("lease.claimed")).toHaveLength(1);
    expect(world.heard("job.malformed")).toMatchObject([{ reason, disposal: "dead-lettered" }]);
    const [dead] = await world.queue.takeDeadLetters();
    expect(dead?.message.body).toBe(body);
    const told = Object.values(dead?.message.attributes ?? {}).map(({ value }) => String(value));
    expect(told.some((text) => text.includes(reason))).toBe(true);
  });

  test("is told by an attribute that disagrees with the body, with what it says of itself", async () => {
    const { body = "" } = message(1);
    const world = await workFor(1_000, body, { tenant_id: "other" });
    expect(world.heard("job.malformed")).toMatchObject([
      { reason: "attribute-mismatch", identity: { jobId: "job-1" } },
    ]);
    expect(world.queue.counts()).toMatchObject({ deadLettered: 1 });
  });

  test("comes back ever later where there is no dead-letter queue (squiss-ts (measured))", async () => {
    const options = { queue: { hasDeadLetterQueue: false } };
    const world = await workFor(10_000, "{", {}, options);
    expect(world.heard("lease.claimed").length).toBeLessThanOrEqual(2);
    await world.clock.advance(3_600_000);

    const delaysMs = world.heard("lease.released").map(({ delayMs }) => delayMs);
    expect(delaysMs.slice(0, 9)).toEqual([
      5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 900_000,
    ]);
    expect(world.heard("job.malformed")[0]).toMatchObject({ disposal: "released" });
    expect(world.queue.counts().inFlight + world.queue.counts().visible).toBe(1);
  });

  test("never shows its payload in an event", async () => {
    const world = await workFor(1_000, changed({ payload: { n: "4111-1111", secret: "s3cr3t" } }));
    expect(JSON.stringify(world.events)).not.toContain("4111-1111");
    expect(JSON.stringify(world.events)).not.toContain("s3cr3t");
  });

  test("does no harm by keys like __proto__", async () => {
    const body = JSON.stringify(good).replace('{"n":1}', '{"n":1,"__proto__":{"polluted":true}}');
    const world = await workFor(1_000, body);
    expect(world.heard("lease.acked")).toHaveLength(1);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("a job that only another release knows", () => {
  test.each([
    ["of an unknown type", changed({ type: "test.newer" })],
    ["of a newer version", changed({ v: 2 })],
  ])("waits, longer each time: %s", async (_, body) => {
    const world = await workFor(40_000, body);

    const waits = world.heard("job.unknown-type");
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(waits[0]).toMatchObject({ disposal: "released", job: { jobId: "job-1" } });
    expect(world.queue.counts()).toMatchObject({ deadLettered: 0 });
  });

  test("is dead-lettered when nobody has come to know it in time", async () => {
    const contract = { worker: { unknownTypeGraceMs: 60_000 } };
    const world = await workFor(120_000, changed({ type: "test.newer" }), {}, { contract });

    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0, deadLettered: 1 });
    expect(world.heard("job.unknown-type").at(-1)).toMatchObject({ disposal: "dead-lettered" });
    expect(world.heard("lease.dead-lettered")).toMatchObject([{ reason: "unknown-type" }]);
  });
});
