/** One session: a worker at work, jobs for it, and the way to its end. */

import type { Clock } from "@leasehold/clock";
import { countReceipts } from "./count-receipts.ts";
import { type QueueWatch, untilIdle } from "./idle-watch.ts";
import { feedJobs, type JobFeedOptions } from "./job-feed.ts";
import type { Output } from "./output.ts";
import { countLine, EMPTY_TALLY, type SessionTally } from "./session-tally.ts";
import type { SessionView } from "./session-view.ts";
import type { SignalPresses } from "./signal-presses.ts";
import { readWorkerLine } from "./worker-line.ts";
import { startWorkerProcess, type WorkerEnd, type WorkerProcess } from "./worker-process.ts";

/** What a session is made of. */
export interface SessionOptions {
  readonly worker: Pick<Parameters<typeof startWorkerProcess>[0], "command" | "environment">;
  readonly feed: Pick<JobFeedOptions, "target" | "producer" | "jobs" | "seed">;
  readonly watch: QueueWatch;
  readonly exitWhenIdle: boolean;
  readonly receiptsFolder: string;
  readonly clock: Clock;
  readonly output: Output;
  readonly presses: SignalPresses;
  readonly view: SessionView;
}

/** What came of a session. */
export interface SessionEnd {
  readonly worker: WorkerEnd;
  /** Whether somebody asked the worker to stop: a press, or the end of the work. */
  readonly wasAsked: boolean;
  readonly sent: number;
  /** Jobs that could not be sent. */
  readonly unsent: number;
  readonly receipts: number;
  readonly tally: SessionTally;
}

const LIVE_REFRESH_MS = 250;
const PLAIN_REFRESH_MS = 2_000;
/** A worker that has printed nothing may have no signal handlers yet: a signal would kill it. */
const SILENT_START_MS = 5_000;

/** Runs a worker until it has ended, and everything about it was shown. */
export class Session {
  readonly #options: SessionOptions;
  readonly #view: SessionView;
  readonly #clock: Clock;
  readonly #ready = Promise.withResolvers<void>();
  readonly #heard = new AbortController();
  readonly #stopFeed = new AbortController();
  readonly #ended = new AbortController();
  #tally = EMPTY_TALLY;
  #sent = 0;
  #unsent = 0;
  #wasAsked = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#view = options.view;
    this.#clock = options.clock;
  }

  /** @throws whatever the feed or the queues threw, after the worker has ended */
  async run(): Promise<SessionEnd> {
    const { presses } = this.#options;
    const worker = await this.#startWorker();
    const stopHearing = presses.onPress((name) => this.#stop(worker, name));
    if (presses.stopped.aborted) this.#stop(worker, "SIGTERM");
    const work = this.#work(worker);
    work.catch(() => {}); // Thrown below, once the worker has ended.
    const refreshing = this.#refresh();
    const end = await worker.ended;
    this.#ended.abort();
    stopHearing();
    await refreshing;
    const receipts = await this.#showStanding();
    this.#view.showReport();
    await work;
    return {
      worker: end,
      wasAsked: this.#wasAsked,
      sent: this.#sent,
      unsent: this.#unsent,
      receipts,
      tally: this.#tally,
    };
  }

  async #startWorker(): Promise<WorkerProcess> {
    const worker = await startWorkerProcess({
      ...this.#options.worker,
      onOutput: (text) => {
        this.#heard.abort();
        const line = readWorkerLine(text);
        if (line !== undefined) this.#tally = countLine(this.#tally, line);
        if (line?.event === "worker.ready") this.#ready.resolve();
        this.#view.showLine(text, line);
      },
      onErrorOutput: (text) => {
        this.#heard.abort();
        this.#options.output.warn(text);
      },
    });
    // First of all who wait for its end: nothing more is sent to a worker that is gone.
    void worker.ended.then(() => this.#stopFeed.abort());
    return worker;
  }

  /** Feeds the worker and, when that is wanted, ends it as soon as everything is done. */
  async #work(worker: WorkerProcess): Promise<void> {
    try {
      await Promise.race([this.#ready.promise, worker.ended]);
      if (this.#stopFeed.signal.aborted) return;
      await feedJobs(
        {
          ...this.#options.feed,
          clock: this.#clock,
          countUnfinished: () => this.#options.watch.countUnfinished(),
          onSent: (count) => {
            this.#sent += count;
          },
          onFailed: (problem) => {
            this.#unsent += 1;
            this.#options.output.warn(problem);
          },
        },
        this.#stopFeed.signal,
      );
      if (!this.#options.exitWhenIdle || this.#stopFeed.signal.aborted) return;
      await untilIdle(this.#options.watch, this.#stopFeed.signal);
      if (!this.#stopFeed.signal.aborted) this.#stop(worker, "SIGTERM");
    } catch (error) {
      this.#stop(worker, "SIGTERM");
      throw error;
    }
  }

  #stop(worker: WorkerProcess, name: NodeJS.Signals): void {
    if (name !== "SIGUSR2") {
      this.#wasAsked = true;
      this.#stopFeed.abort();
    }
    if (this.#heard.signal.aborted) worker.signal(name);
    else
      void this.#clock.sleep(SILENT_START_MS, this.#heard.signal).then(() => worker.signal(name));
  }

  async #refresh(): Promise<void> {
    const everyMs = this.#options.output.isLive ? LIVE_REFRESH_MS : PLAIN_REFRESH_MS;
    while (!this.#ended.signal.aborted) {
      await this.#clock.sleep(everyMs, this.#ended.signal);
      await this.#showStanding();
    }
  }

  /** @returns how many receipts there are */
  async #showStanding(): Promise<number> {
    const { receiptsFolder, watch } = this.#options;
    const receipts = await countReceipts(receiptsFolder);
    const sentByJobs = Math.max(0, (watch.countSent() ?? this.#sent) - this.#sent);
    this.#view.showStanding({ sent: this.#sent, sentByJobs, receipts, tally: this.#tally });
    return receipts;
  }
}
