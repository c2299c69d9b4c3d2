import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Deed } from "./cells.ts";
import { startHoldProxy } from "./hold-proxy.ts";
import { Trap } from "./trap.ts";

/** A target that counts, behind a proxy whose requests are all charges. */
async function setup(side: "before" | "after", deed?: Deed) {
  const arrived: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    arrived.push(request.headers["idempotency-key"] as string | undefined);
    response.setHeader("x-told", "yes").end("done");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const trap = new Trap({ at: "charge", side, ...(deed !== undefined && { deed }) });
  const proxy = await startHoldProxy(target, (exchange) => {
    const point = exchange.path === "/charge" ? ("charge" as const) : undefined;
    return trap.script({ exchange, point, pass: () => exchange.forward(["idempotency-key"]) });
  });
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]();
    server.close();
  });
  const ask = (path = "/charge") =>
    fetch(`${proxy.endpoint}${path}`, { method: "POST", headers: { "idempotency-key": "k" } });
  return { trap, ask, arrived };
}

describe("a trap", () => {
  test("holds the first request of its kind before it gets there, until it is to go on", async () => {
    const { trap, ask, arrived } = await setup("before");
    const answer = ask();
    const held = await trap.sprung;
    expect(arrived).toEqual([]);
    await held.goOn();
    expect(await (await answer).text()).toBe("done");
    expect((await answer).headers.get("x-told")).toBe("yes");
    expect(arrived).toEqual([undefined]);
  });

  test("holds the answer of one that took effect, and sends it once", async () => {
    const { trap, ask, arrived } = await setup("after");
    const answer = ask();
    const held = await trap.sprung;
    expect(arrived).toHaveLength(1);
    await held.goOn();
    expect((await answer).status).toBe(200);
    expect(arrived).toHaveLength(1);
  });

  test("lets everything else pass, and the same step the second time", async () => {
    const { trap, ask } = await setup("before");
    expect((await ask("/other")).status).toBe(200);
    const first = ask();
    const held = await trap.sprung;
    expect((await ask()).status).toBe(200);
    held.drop();
    await expect(first).rejects.toThrow("fetch failed");
  });

  test("lands a request whose client has gone", async () => {
    const { trap, arrived, ask } = await setup("before");
    const answer = ask();
    const held = await trap.sprung;
    held.drop();
    await expect(answer).rejects.toThrow("fetch failed");
    await held.goOn();
    expect(arrived).toHaveLength(1);
  });

  test("throttles as often as it is told, in DynamoDB's words", async () => {
    const { trap, ask, arrived } = await setup("before", { kind: "throttle", times: 2 });
    const refused = await ask();
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException",
    });
    await ask();
    await trap.sprung;
    expect(arrived).toEqual([]);
    expect((await ask()).status).toBe(200);
  });
});
