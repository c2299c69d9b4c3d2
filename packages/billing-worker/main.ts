/** The process: `node main.js`, in exec form, so that signals reach it. */

import { runWorkerProcess } from "leasehold";
import { billingWorker } from "./billing-worker.ts";
import { readConfig } from "./config.ts";

// As a function: the environment is read, and threads are started, once signals are heard.
await runWorkerProcess(() => billingWorker(readConfig()));
