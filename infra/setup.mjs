/**
 * Installs what is missing, says what it does, and stays silent when there is nothing to do.
 *
 * `node infra/setup.mjs` installs everything; `node infra/setup.mjs run` only what a worker needs.
 * Plain JavaScript without dependencies: it runs on the system's Node (18 or newer), before the
 * repository's own Node exists.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = [22, 15];
const LOOK_AGAIN_MS = 250;
/** A lock without an owner's note is either this young or left by a start that was killed. */
const UNSIGNED_LOCK_MS = 2_000;
/** How long npm may take to end when it is asked to. */
const DEAF_NPM_MS = 2_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const WORKER_PARTS = ["packages/cli", "packages/billing-worker", "test"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const stamp = join(modules, ".setup-run");
const lock = join(root, ".setup-lock");
const lockfile = readFileSync(join(root, "package-lock.json"), "utf8");
const lockfileHash = createHash("sha256").update(lockfile).digest("hex");
const onlyRun = process.argv[2] === "run";

if (!isInstalled()) {
  takeLock();
  try {
    if (!isInstalled()) await install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
requireNode();

function isInstalled() {
  return (onlyRun && hasWorkerParts()) || hasEverything();
}

/** The worker's part is there, and the lockfile has not changed since. */
function hasWorkerParts() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === lockfileHash;
}

/** npm's own record of node_modules agrees with the lockfile; so a plain `npm ci` counts, too. */
function hasEverything() {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  return Object.entries(JSON.parse(lockfile).packages).every(
    ([path, wanted]) =>
      !path.includes("node_modules/") ||
      wanted.link ||
      wanted.optional ||
      wanted.devOptional ||
      installed[path]?.version === wanted.version,
  );
}

/** One installation at a time: two first starts at once would empty each other's folder. */
function takeLock() {
  let waited = false;
  for (;;) {
    try {
      mkdirSync(lock);
      sign(process.pid);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") {
        console.error(`setup: nothing can be installed here: ${error.message}`);
        process.exit(1);
      }
    }
    if (isAbandoned()) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (!waited) console.error("setup: another start is installing; waiting for it ...");
    waited = true;
    pause(LOOK_AGAIN_MS);
  }
}

/** Adds to the note of those who need the lock: this process, and npm, which may outlive it. */
function sign(pid) {
  writeFileSync(join(lock, "pids"), `${pid}\n`, { flag: "a" });
}

function isAbandoned() {
  const owners = readOwners();
  if (owners.length > 0) return !owners.some(isAlive);
  pause(UNSIGNED_LOCK_MS);
  return existsSync(lock) && readOwners().length === 0;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

/** Ended, but nobody asks how: in a container whose first process is no init, that lasts. */
function isZombie(pid) {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false; // Not a Linux, or it has just been buried.
  }
}

function readOwners() {
  try {
    return readFileSync(join(lock, "pids"), "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    return []; // The owner has not signed yet, or has just taken its lock away.
  }
}

function pause(durationMs) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

async function install() {
  const what = onlyRun ? "only what the worker needs" : "everything";
  const hadWorkerParts = hasWorkerParts();
  console.error(`setup: installing ${what} with npm, once; up to a minute ...`);
  const startedAtMs = Date.now();
  const parts = WORKER_PARTS.map((part) => `--workspace=${part}`);
  const scope = onlyRun ? [...parts, "--include-workspace-root", "--omit=dev"] : ["--include=dev"];
  // `ci` empties node_modules first; a worker that runs from it must not lose its files.
  const verb = hadWorkerParts ? ["install", "--no-save"] : ["ci"];
  await runNpm([
    ...verb,
    ...scope,
    "--include=optional",
    "--loglevel=error",
    "--no-audit",
    "--no-fund",
  ]);
  if (onlyRun || hadWorkerParts) writeFileSync(stamp, lockfileHash);
  console.error(`setup: done in ${Math.round((Date.now() - startedAtMs) / 1000)} s`);
}

async function runNpm(args) {
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  // Output goes to stderr, so that stdout stays the worker's own, for example its JSON lines.
  const options = { cwd: root, stdio: ["ignore", 2, 2], env: outerEnvironment() };
  const child = spawn(command, [...first, ...args], options);
  if (child.pid !== undefined) sign(child.pid);
  // An npm that goes on alone would be in the way of the next start, and it is deaf to SIGINT.
  const passOn = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), DEAF_NPM_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  const [status, signal] = await once(child, "exit").catch((error) => [error.message]);
  for (const name of SIGNALS) process.off(name, passOn);
  if (status === 0) return;
  const how = typeof status === "number" ? `ended with exit code ${status}` : (signal ?? status);
  console.error(`setup: npm ${args[0]}: ${how}; the next start begins again`);
  rmSync(lock, { recursive: true, force: true });
  process.exit(typeof status === "number" ? status : 1);
}

/** The environment without the settings that npm hands to its own scripts. */
function outerEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_(workspace|include|omit)|lifecycle|package|command)/i.test(name),
  );
  return Object.fromEntries(kept);
}

function requireNode() {
  const own = join(modules, ".bin", "node");
  const asked = spawnSync(
    existsSync(own) ? own : process.execPath,
    ["-p", "process.versions.node"],
    {
      encoding: "utf8",
    },
  );
  const [major = 0, minor = 0] = asked.stdout.trim().split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  console.error(
    `setup: Leasehold needs Node ${OLDEST_NODE.join(".")} or newer. This repository brings its own for ` +
      `Linux on x64 and arm64; for ${process.platform}-${process.arch} install one from ` +
      `https://nodejs.org: yours is ${process.version}.`,
  );
  process.exit(1);
}
