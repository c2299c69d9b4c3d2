/** A wire to SQS that can go dead: connections stay open, and nothing passes any more. */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy in front of one endpoint. */
export interface StallingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** From now on nothing passes, in either direction, old connections included. */
  stall(): void;
}

/** Starts a proxy on a free port of this machine. */
export async function startStallingProxy(target: string): Promise<StallingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isStalled = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (isStalled) return;
    const far = connect(Number(port), hostname);
    keep(far);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
