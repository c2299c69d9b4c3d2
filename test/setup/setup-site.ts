/** A folder with the setup script, a lockfile and a stand-in for npm, and starts of it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../..");

/** A fresh clone, as far as setup looks at it. */
export class SetupSite implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "leasehold-test-"));
  readonly #starts: Start[] = [];

  constructor() {
    mkdirSync(join(this.folder, "infra"));
    copyFileSync(join(root, "infra/setup.mjs"), join(this.folder, "infra/setup.mjs"));
    const packages = { "": { name: "a-clone" }, "node_modules/left": { version: "1.0.0" } };
    writeFileSync(join(this.folder, "package-lock.json"), JSON.stringify({ packages }));
  }

  /** Starts the setup script. */
  start(): Start {
    const start = new Start(this.folder);
    this.#starts.push(start);
    return start;
  }

  /** Lets the npm that runs here end. */
  async endNpm(exitCode: number): Promise<void> {
    const peer = connect(join(this.folder, "npm.sock"));
    peer.end(String(exitCode));
    await once(peer, "close");
  }

  get isLocked(): boolean {
    return existsSync(join(this.folder, ".setup-lock"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const start of this.#starts) await start.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One run of the setup script. */
export class Start {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly #closed: Promise<unknown[]>;
  readonly #exited: Promise<unknown[]>;
  #look = () => {};

  constructor(folder: string) {
    this.child = spawn(process.execPath, [join(folder, "infra/setup.mjs")], {
      cwd: folder,
      env: { ...process.env, npm_execpath: join(import.meta.dirname, "fake-npm.mjs") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#exited = once(this.child, "exit");
    this.#closed = once(this.child, "close");
    if (this.child.stderr === null) throw new Error("a spawned script has a pipe");
    createInterface({ input: this.child.stderr }).on("line", (line) => {
      this.lines.push(line);
      this.#look();
    });
  }

  /** The first line with the text; rejects when the script ends without it. */
  line(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        const found = this.lines.find((line) => line.includes(text));
        if (found !== undefined) resolve(found);
      };
      this.#look();
      void this.#closed.then(() => reject(new Error(`no ${text}: ${this.lines.join("\n")}`)));
    });
  }

  /** The number of the npm that it runs. */
  async npmPid(): Promise<number> {
    return Number((await this.line("begins")).split(" ")[1]);
  }

  /** Its exit code; `null` after a signal. */
  async exitCode(): Promise<number | null> {
    const [code] = await this.#exited;
    return code as number | null;
  }

  /** Ends it and its npm, whatever they are doing. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#exited;
    for (const line of this.lines.filter((text) => text.includes("begins"))) {
      killQuietly(Number(line.split(" ")[1]));
    }
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
