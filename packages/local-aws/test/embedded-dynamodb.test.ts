import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { startEmbeddedDynamodb } from "@leasehold/local-aws";
import { describe, expect, onTestFinished, test } from "vitest";

describe("DynamoDB in this process", () => {
  test("goes on when a client dies in the middle of a request", async () => {
    const store = await startEmbeddedDynamodb({ clock: systemClock });
    onTestFinished(() => store.close());
    const { hostname, port } = new URL(store.endpoint);

    const client = connect(Number(port), hostname);
    await once(client, "connect");
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n");
    await once(client, "data"); // The request has begun: the store has said to go on.
    client.resetAndDestroy();
    await once(client, "close");

    const answer = await fetch(store.endpoint);
    expect(await answer.text()).toContain("healthy");
  });

  test("can be closed twice, and closes with a client that never ends its request", async () => {
    const clock = new ManualClock();
    const store = await startEmbeddedDynamodb({ clock });
    const { hostname, port } = new URL(store.endpoint);
    const client = connect(Number(port), hostname);
    await once(client, "connect");
    client.on("error", () => {});
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");

    const closed = Promise.all([store.close(), store.close()]);
    await clock.advance(1_000);
    await closed;

    await expect(fetch(store.endpoint)).rejects.toThrow();
  });
});
