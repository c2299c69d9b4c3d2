import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";

/** A real process with a real thread; it prints why the thread does not work, if so, and ends. */
async function run(connection: string) {
  const program = `
    import { startExtenderThread } from ${JSON.stringify(import.meta.resolve("../extender-thread.ts"))};
    const thread = startExtenderThread({ connection: ${connection}, maxBlockedMs: 5_000 });
    const busy = setInterval(() => {}, 1_000);
    await thread.started;
    const emit = ({ code, message }) => console.log(code, message);
    thread.extenderFor(() => undefined, { emit, queueName: "jobs" });
    clearInterval(busy);`;
  const child = spawn(process.execPath, ["--conditions=source", "--eval", program], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 15_000,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      said += String(text);
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

describe.concurrent("the extender's real thread", () => {
  test("starts from source, and keeps no process alive", async () => {
    expect(await run(`{ region: "eu-central-1" }`)).toEqual({ code: 0, said: "" });
  });

  test("that cannot start neither ends the process nor keeps it alive", async () => {
    const { code, said } = await run(`{ module: "file:///nowhere.js" }`);
    expect(code).toBe(0);
    expect(said).toContain("ThreadCrashed Error: Cannot find module");
  });
});
