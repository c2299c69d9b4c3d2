/** The architecture as data: who may import what, and who may touch which global thing. */

/** Which package of this house may import which; an arrow that nothing uses is a fault, too. */
export const allowedArrows: Readonly<Record<string, readonly string[]>> = {
  clock: [],
  options: [],
  job: [],
  "deployment-contract": [],
  lease: ["clock", "options"],
  idempotency: ["clock", "job", "options"],
  producer: ["clock", "job", "options"],
  "embedded-sqs": ["clock"],
  "job-run": ["clock", "job", "lease"],
  "local-aws": ["clock", "deployment-contract", "embedded-sqs"],
  worker: ["clock", "deployment-contract", "job", "job-run", "lease", "options"],
  middy: ["clock", "job", "job-run", "lease", "options"],
  "process-host": ["clock", "worker"],
  telemetry: ["worker"],
  admin: ["options", "worker"],
  leasehold: [
    "admin",
    "clock",
    "deployment-contract",
    "idempotency",
    "job",
    "lease",
    "options",
    "process-host",
    "producer",
    "telemetry",
    "worker",
  ],
  "billing-worker": ["clock", "deployment-contract", "job", "leasehold", "middy"],
  drill: ["clock", "deployment-contract", "local-aws", "producer"],
  cli: [
    "clock",
    "deployment-contract",
    "drill",
    "idempotency",
    "job",
    "local-aws",
    "producer",
    "worker",
  ],
};

/** Arrows that look handy and are wrong; all follow from the table, kept for their reasons. */
export const forbiddenArrows: readonly (readonly [from: string, to: string, why: string])[] = [
  ["lease", "job", "a lease knows messages; read-job is where a message becomes a job"],
  ["idempotency", "lease", "the ledger is told how long it may work, by the port in job"],
  ["idempotency", "worker", "wiring joins them, nothing else does"],
  ["job-run", "idempotency", "a run sees the ledger's port only"],
  ["worker", "idempotency", "likewise; a worker without a ledger is a worker"],
  ["worker", "telemetry", "the worker reports events, others listen"],
  ["worker", "admin", "the worker can be drained without HTTP"],
  ["worker", "process-host", "the worker can be drained in a test"],
  ["middy", "worker", "Lambda has no claim loop and no drain"],
  ["middy", "idempotency", "likewise; the service opens the ledger of an invocation"],
  ["admin", "telemetry", "metrics text is handed in as a function"],
  ["billing-worker", "local-aws", "production does not carry an emulator"],
  ["billing-worker", "embedded-sqs", "production does not carry an emulator"],
  ["cli", "billing-worker", "a service is a target, given as plain data"],
  ["embedded-sqs", "lease", "the judge must not share constants with the judged"],
];

/** Ways into a package besides its `index.ts`, and who may take them. */
export const entrances: Readonly<Record<string, string>> = {
  "@leasehold/clock/manual": "tests only",
  "@leasehold/job/s3": "the payload store in S3: its client is for those who use it",
  "@leasehold/billing-worker/target": "the service as plain data, for whoever runs it",
  "@leasehold/billing-worker/contract": "the numbers alone: no SDK, no environment behind them",
  "@leasehold/billing-worker/charge":
    "how an invoice is charged, for the drill of that very effect",
  "@leasehold/billing-worker/payment-sandbox": "the local payment provider, for trials and drills",
};

/** Outside libraries, and the only places (package, or package/file) that may import them. */
export const outsideLibraries: Readonly<Record<string, readonly string[]>> = {
  "@aws-sdk/client-sqs": [
    "lease/sqs-lease-queue.ts",
    "lease/sqs-clients.ts",
    "producer/sqs-sender.ts",
    "producer/producer.ts",
    "local-aws",
    "leasehold",
    "billing-worker/webhook-intake.ts",
    "cli",
    "drill/queue-counts.ts",
  ],
  "@aws-sdk/client-dynamodb": [
    "idempotency/dynamodb-item.ts",
    "idempotency/dynamodb-store.ts",
    "idempotency/dynamodb-writes.ts",
    "local-aws",
    "billing-worker",
    "cli",
  ],
  "@aws-sdk/client-s3": ["job/s3-payload-store.ts", "cli/message-store.ts"],
  "@opentelemetry/api": ["producer/trace-context.ts", "middy/job-tracing.ts"],
  "@standard-schema/spec": ["job"],
  pino: ["telemetry/logger.ts"],
  dynalite: ["local-aws/embedded-dynamodb.ts"],
  pdfkit: ["billing-worker"],
  fontkit: ["billing-worker/receipt/receipt-fonts.ts"],
  stripe: [
    "billing-worker/payment/stripe-payment-provider.ts",
    "billing-worker/intake/stripe-event.ts",
  ],
  piscina: ["billing-worker/receipt/render-pool.ts"],
  zod: ["billing-worker"],
  commander: ["cli"],
};

/** Global things, and the only places that may touch them. */
export const globals: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly allowed: readonly string[];
}[] = [
  {
    what: "the system's time",
    pattern: /\b(?:Date\.now|performance\.now|setTimeout|setInterval)\b|\bnew Date\(\)/,
    allowed: ["clock/system-clock.ts"],
  },
  {
    what: "signals and exit codes of the process",
    pattern: /\bprocess\.(?:on|once|exit|exitCode|kill|abort)\b/,
    allowed: [
      "process-host",
      "admin/healthcheck.ts",
      "cli",
      "drill/worker-process.ts",
      "billing-worker/main.ts",
      "billing-worker/webhook-intake.ts",
      "billing-worker/payment/payment-sandbox-main.ts",
      "billing-worker/payment/sandbox-lock.ts",
      "local-aws/folder-lock.ts",
    ],
  },
  {
    what: "the environment",
    pattern: /\bprocess\.env\b/,
    allowed: [
      ...["billing-worker/config.ts", "billing-worker/main.ts", "cli", "local-aws/endpoint.ts"],
      "drill/worker-process.ts",
    ],
  },
  {
    what: "threads",
    pattern: /"node:worker_threads"/,
    allowed: ["lease/extender-thread.ts", "lease/extender-thread-entry.ts", "process-host"],
  },
  {
    what: "chance without a seed",
    pattern: /\bMath\.random\b/,
    allowed: ["clock", "leasehold", "worker", "lease", "middy", "producer", "idempotency"],
  },
];
