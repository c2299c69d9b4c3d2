/** The process: `node main.js`, in exec form, so that signals reach it. */

// Loading modules takes longer than starting Node. Nothing is claimed meanwhile, so a signal that
// comes before the worker's own listeners just ends the process, as it does while it boots.
const EARLY_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const leave = () => process.exit(0);
for (const signal of EARLY_SIGNALS) process.on(signal, leave);

const { runWorkerProcess } = await import("leasehold");
const { billingWorker } = await import("./billing-worker.ts");
const { readConfig } = await import("./config.ts");

// As a function: the environment is read, and threads are started, once signals are heard.
const running = runWorkerProcess(() => billingWorker(readConfig()));
for (const signal of EARLY_SIGNALS) process.off(signal, leave);
await running;

export {};
