import {
  count,
  durationMs,
  InvalidOptionsError,
  oneOf,
  resolveOptions,
  text,
  toggle,
} from "@leasehold/options";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

interface Kettle {
  readonly boilMs: number;
  readonly keepWarmMs: number;
  readonly cups: number;
  readonly whistle: boolean;
  readonly colour: "red" | "steel";
  readonly label: string;
}

const readKettle = (given?: Record<string, unknown>) =>
  resolveOptions<Kettle>(
    "kettle",
    given,
    {
      boilMs: durationMs(60_000, { min: 1_000, max: 120_000 }),
      keepWarmMs: durationMs((options) => (options["boilMs"] as number) / 2, {
        min: 0,
        max: 60_000,
      }),
      cups: count(2, { min: 1, max: 8 }),
      whistle: toggle(true),
      colour: oneOf("steel", ["red", "steel"]),
      label: text("kettle"),
    },
    ({ cups, boilMs }) =>
      cups > 4 && boilMs < 2_000 ? [`${cups} cups need more than ${boilMs} ms`] : [],
  );

function problemsOf(given: Record<string, unknown>): readonly string[] {
  try {
    readKettle(given);
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.problems;
    throw error;
  }
  return [];
}

describe("resolveOptions", () => {
  test("fills defaults, and derives one default from another option", () => {
    expect(readKettle()).toEqual({
      boilMs: 60_000,
      keepWarmMs: 30_000,
      cups: 2,
      whistle: true,
      colour: "steel",
      label: "kettle",
    });
    expect(readKettle({ boilMs: 10_000 }).keepWarmMs).toBe(5_000);
  });

  test("takes undefined as not given, and keeps zero and false", () => {
    expect(readKettle({ cups: undefined, keepWarmMs: 0, whistle: false })).toMatchObject({
      cups: 2,
      keepWarmMs: 0,
      whistle: false,
    });
  });

  test("names every problem at once, with range and value", () => {
    expect(
      problemsOf({ boilMs: 5, cups: 2.5, whistle: "yes", colour: "blue", label: "", boil: 1 }),
    ).toEqual([
      "boil is not a kettle option; known are boilMs, keepWarmMs, cups, whistle, colour, label",
      "boilMs must be a number between 1000 and 120000, got 5",
      "cups must be a whole number between 1 and 8, got 2.5",
      "whistle must be true or false, got yes".replace("yes", '"yes"'),
      'colour must be one of "red", "steel", got "blue"',
      'label must be a text that is not empty, got ""',
    ]);
  });

  test("checks options against each other once each is fine alone", () => {
    expect(problemsOf({ cups: 5, boilMs: 1_500 })).toEqual(["5 cups need more than 1500 ms"]);
  });

  test("freezes what it returns", () => {
    expect(Object.isFrozen(readKettle())).toBe(true);
  });

  test("accepts a count exactly when it is whole and in range", () => {
    fc.assert(
      fc.property(fc.double({ min: -3, max: 12 }), fc.boolean(), (value, round) => {
        const cups = round ? Math.round(value) : value;
        const fine = Number.isInteger(cups) && cups >= 1 && cups <= 8;
        expect(problemsOf({ cups }).length === 0).toBe(fine);
      }),
    );
  });

  test("refuses NaN and infinities", () => {
    for (const boilMs of [Number.NaN, Number.POSITIVE_INFINITY, "60000", null]) {
      expect(problemsOf({ boilMs: boilMs ?? "null" })).toHaveLength(1);
    }
  });
});
