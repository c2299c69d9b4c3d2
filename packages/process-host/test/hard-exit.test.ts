import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";

/** A real process, for there is no other way to end one: armed for half a second, then `does` this. */
async function endOf(does: string) {
  const file = import.meta.resolve("../hard-exit.ts");
  const program = `
    import { execSync } from "node:child_process";
    import { armHardExit } from ${JSON.stringify(file)};
    const armed = armHardExit(500, 143, console.error);
    ${does}`;
  const options = ["--conditions=source", "--eval", program];
  const child = spawn(process.execPath, options, {
    stdio: ["ignore", "ignore", "pipe"],
    // A hard exit that fails must not leave a process that computes for ever.
    ...{ timeout: 15_000, killSignal: "SIGTERM" },
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said += String(text);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, said };
}

describe.concurrent("armHardExit", () => {
  test("interrupts a computation and ends the process with its exit code", async () => {
    const { code, said } = await endOf("for (;;);");
    expect(code).toBe(143);
    expect(said).toContain("the event loop is blocked and the shutdown did not end in time");
  });

  test("kills a process that waits for the system and cannot be interrupted", async () => {
    const { signal, said } = await endOf(`execSync("sleep 20");`);
    expect(signal).toBe("SIGKILL");
    expect(said).toContain("cannot be interrupted: SIGKILL");
  });

  test("does nothing once it is called off", async () => {
    const { code, said } = await endOf(`
      armed.disarm();
      execSync("sleep 1");`);
    expect({ code, said }).toEqual({ code: 0, said: "" });
  });

  test("keeps no process alive", async () => {
    expect(await endOf("")).toEqual({ code: 0, signal: null, said: "" });
  });
});
