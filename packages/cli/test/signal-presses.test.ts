import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { SignalPresses } from "../signal-presses.ts";

function setup() {
  const clock = new ManualClock();
  const presses = new SignalPresses(clock);
  const heard: string[] = [];
  const stopHearing = presses.onPress((name) => heard.push(name));
  return { clock, presses, heard, stopHearing };
}

describe("signals as the user meant them", () => {
  test("the first is passed on at once, its echo is not", async () => {
    const { clock, presses, heard } = setup();

    presses.receive("SIGINT");
    expect(heard).toEqual(["SIGINT"]);
    expect(presses.stopped.aborted).toBe(true);

    presses.receive("SIGINT");
    await clock.advance(900);
    presses.receive("SIGTERM");

    expect(heard).toEqual(["SIGINT"]);
  });

  test("each press after more than a second is passed on once, echo or not", async () => {
    const { clock, presses, heard } = setup();

    for (const name of ["SIGINT", "SIGINT", "SIGTERM"] as const) {
      presses.receive(name);
      presses.receive(name);
      await clock.advance(1_200);
    }

    expect(heard).toEqual(["SIGINT", "SIGINT", "SIGTERM"]);
  });

  test("a press that is held down goes on counting from its first", async () => {
    const { clock, presses, heard } = setup();

    for (let at = 0; at < 2_400; at += 200) {
      presses.receive("SIGINT");
      await clock.advance(200);
    }

    expect(heard).toEqual(["SIGINT", "SIGINT"]);
  });

  test("a dump is passed on each time, stops nothing and hides no press", () => {
    const { presses, heard } = setup();

    presses.receive("SIGUSR2");
    presses.receive("SIGUSR2");
    expect(presses.stopped.aborted).toBe(false);
    presses.receive("SIGINT");

    expect(heard).toEqual(["SIGUSR2", "SIGUSR2", "SIGINT"]);
  });

  test("whoever has stopped hearing hears nothing more", () => {
    const { presses, heard, stopHearing } = setup();

    stopHearing();
    presses.receive("SIGINT");

    expect(heard).toEqual([]);
  });
});
