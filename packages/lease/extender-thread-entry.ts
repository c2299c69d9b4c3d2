/** What runs in the extender's thread: a client of its own, and a desk that uses it. */

import { parentPort, workerData } from "node:worker_threads";
import { systemClock as clock } from "@leasehold/clock";
import { ExtenderDesk } from "./extender-desk.ts";
import type { FromExtender, ToExtender } from "./extender-post.ts";
import type { ThreadData } from "./extender-thread.ts";
import { SharedPulse } from "./shared-pulse.ts";
import { sqsClients } from "./sqs-clients.ts";
import { sqsLeaseQueue } from "./sqs-lease-queue.ts";
import { openConnection } from "./thread-connection.ts";

const { connection, clients: options, maxBlockedMs, pulse } = workerData as ThreadData;
const clients = sqsClients(await openConnection(connection), options);
const post = (message: FromExtender) => parentPort?.postMessage(message);

const desk = new ExtenderDesk({
  ...{ clock, maxBlockedMs, post },
  pulse: new SharedPulse(pulse, clock),
  openQueue: ({ name, url: queueUrl }) => sqsLeaseQueue({ clients, name, queueUrl, clock }),
  random: Math.random,
});

// Listening keeps the thread alive; the main thread ends it.
parentPort?.on("message", (message: ToExtender) => desk.hear(message));
post({ kind: "ready" });
