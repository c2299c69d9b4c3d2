/** Stands in for npm: says that it began, is deaf to SIGINT as npm is, and ends when it is told to. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

const socket = join(process.cwd(), "npm.sock");
process.on("SIGINT", () => {});
rmSync(socket, { force: true });
createServer((peer) => {
  peer.once("data", (word) => end(Number(word.toString())));
}).listen(socket, () =>
  console.error(`npm ${process.pid} begins: ${process.argv.slice(2).join(" ")}`),
);

/** A real installation ends with npm's own record of it. */
function end(exitCode) {
  if (exitCode === 0) {
    mkdirSync(join(process.cwd(), "node_modules"), { recursive: true });
    const lockfile = readFileSync(join(process.cwd(), "package-lock.json"));
    writeFileSync(join(process.cwd(), "node_modules/.package-lock.json"), lockfile);
  }
  process.exit(exitCode);
}
