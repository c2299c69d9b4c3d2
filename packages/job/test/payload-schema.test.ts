import { checkPayload } from "@leasehold/job";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";

/** A schema of a library that does not exist, which answers as told. */
function schemaOf(
  validate: (value: unknown) => unknown,
): StandardSchemaV1<unknown, { readonly ok: true }> {
  return { "~standard": { version: 1, vendor: "test", validate: validate as never } };
}

const libraries = {
  zod: z.object({ email: z.string(), lines: z.array(z.object({ amount: z.number().int() })) }),
  valibot: v.object({
    email: v.string(),
    lines: v.array(v.object({ amount: v.pipe(v.number(), v.integer()) })),
  }),
  arktype: type({ email: "string", lines: type({ amount: "number.integer" }).array() }),
};
const good = { email: "a@b.example", lines: [{ amount: 3 }] };

describe.each(Object.entries(libraries))("checkPayload by %s", (_name, schema) => {
  test("hands a good payload on", async () => {
    expect(await checkPayload(schema, good)).toEqual({ kind: "ok", payload: good });
  });

  test("says where a payload is wrong, and never shows it", async () => {
    const payload = { email: 4_111_111, lines: [{ amount: 3 }, { amount: "hunter2" }] };

    const check = await checkPayload(schema, payload);

    expect(check).toMatchObject({ kind: "invalid" });
    const problems = check.kind === "invalid" ? check.problems.join("\n") : "";
    expect(problems).toMatch(/^payload\.email: \w+.*string/m);
    expect(problems).toMatch(/^payload\.lines\[1\]\.amount: \w+/m);
    expect(problems).not.toMatch(/hunter2|4111111/);
  });

  test("refuses what is no object at all", async () => {
    const check = await checkPayload(schema, "hunter2");

    expect(check).toMatchObject({
      kind: "invalid",
      problems: [expect.stringMatching(/^payload: /)],
    });
    expect(JSON.stringify(check)).not.toContain("hunter2");
  });
});

describe("checkPayload", () => {
  test("hands on what the schema makes of the payload", async () => {
    const schema = z.object({ at: z.iso.datetime().transform((text) => Date.parse(text)) });

    expect(await checkPayload(schema, { at: "2026-01-01T00:00:00Z" })).toEqual({
      kind: "ok",
      payload: { at: 1_767_225_600_000 },
    });
  });

  test("awaits a schema that answers later", async () => {
    const schema = z.string().refine(async (text) => text === "known");

    expect(await checkPayload(schema, "known")).toEqual({ kind: "ok", payload: "known" });
    expect(await checkPayload(schema, "foreign")).toEqual({
      kind: "invalid",
      problems: ["payload: custom"],
    });
  });

  test("shows ten problems and counts the rest", async () => {
    const schema = z.array(z.number());

    const check = await checkPayload(schema, Array(13).fill("x"));

    expect(check.kind === "invalid" && check.problems).toHaveLength(11);
    expect(check).toMatchObject({ problems: expect.arrayContaining(["and 3 more"]) });
  });

  test("shows long keys of the payload only in part", async () => {
    const issue = { message: "no", path: ["k".repeat(1_000)] };

    expect(
      await checkPayload(
        schemaOf(() => ({ issues: [issue] })),
        {},
      ),
    ).toEqual({
      kind: "invalid",
      problems: [`payload.${"k".repeat(60)}...: refused`],
    });
  });

  test.each([
    [
      "throws",
      () => {
        throw new TypeError("hunter2");
      },
      "(TypeError)",
    ],
    ["rejects", () => Promise.reject("hunter2"), "(string)"],
    ["answers nothing", () => undefined, "(TypeError)"],
    ["answers a broken issue", () => ({ issues: [null] }), "(TypeError)"],
  ])("refuses the payload when its schema %s", async (_name, validate, shown) => {
    expect(await checkPayload(schemaOf(validate), {})).toEqual({
      kind: "invalid",
      problems: [`its schema threw instead of answering ${shown}`],
    });
  });
});
