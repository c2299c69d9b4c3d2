/** Loads the target of the local command from its file, and says everything that it lacks. */

import { access } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { TargetInvalidError } from "./errors.ts";
import type { LocalTarget } from "./local-target.ts";

/** What each part of a target must be. */
const PARTS: Readonly<Record<keyof Required<LocalTarget>, readonly [what: string, fits: Check]>> = {
  name: ["a text that is not empty", (value) => typeof value === "string" && value !== ""],
  command: ["the absolute path of a script, and its arguments", isCommand],
  contract: ["a function", isFunction],
  tables: ["a list", Array.isArray],
  startCompanion: ["a function, or left out", (value) => value === undefined || isFunction(value)],
  environment: ["a function", isFunction],
  slowJob: ["a type and a number of samples, or left out", isSlowJob],
  sampleJobs: ["a function", isFunction],
};

type Check = (value: unknown) => boolean;

/**
 * The `target` that a file exports.
 *
 * @throws TargetInvalidError when there is no such file, or it has no target, or one that lacks parts
 */
export async function loadLocalTarget(file: string): Promise<LocalTarget> {
  const path = resolve(file);
  await access(path).catch((cause: unknown) => {
    throw new TargetInvalidError(file, ["there is no such file that can be read"], { cause });
  });
  const module: { readonly target?: unknown } = await import(pathToFileURL(path).href);
  return checkTarget(file, module.target);
}

/** @throws TargetInvalidError naming every part that is missing or makes no sense */
export function checkTarget(file: string, target: unknown): LocalTarget {
  if (typeof target !== "object" || target === null) {
    throw new TargetInvalidError(file, ["it must export an object named target"]);
  }
  const given = target as Readonly<Record<string, unknown>>;
  const problems = Object.entries(PARTS)
    .filter(([name, [, fits]]) => !fits(given[name]))
    .map(([name, [what]]) => `target.${name} must be ${what}, got ${show(given[name])}`);
  if (problems.length > 0) throw new TargetInvalidError(file, problems);
  return target as LocalTarget;
}

function isSlowJob(value: unknown): boolean {
  if (value === undefined) return true;
  const { type, samples } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof type === "string" && Number.isInteger(samples) && Number(samples) >= 1;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isCommand(value: unknown): boolean {
  if (!Array.isArray(value) || !value.every((part) => typeof part === "string")) return false;
  return isAbsolute(value[0] ?? "");
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : (JSON.stringify(value) ?? typeof value);
}
