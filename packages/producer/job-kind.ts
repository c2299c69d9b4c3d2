/** The types of job that a producer knows, and what its callers may send by them. */

import type { JobDefinition } from "@leasehold/job";
import { InvalidOptionsError } from "@leasehold/options";
import { UnsendableJobError } from "./errors.ts";
import type { JobToSend } from "./job-to-send.ts";

/** What a producer must know of a type of job: a `JobDefinition`, or as much of it as it shares. */
export interface JobKind<Input = unknown, Type extends string = string> {
  readonly type: Type;
  // biome-ignore lint/suspicious/noExplicitAny: what the handler gets does not matter here
  readonly schema: JobDefinition<string, Input, any>["schema"];
}

/** A kind of any payload, for lists of them. */
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds has a payload for each
export type AnyJobKind = JobKind<any>;

/** The type of each of the kinds. */
export type KnownType<Kinds extends readonly AnyJobKind[]> = Kinds[number]["type"];

/** The payload that a kind, or a known type of job, takes in. */
export type PayloadOf<Kinds extends readonly AnyJobKind[], Chosen> = Chosen extends string
  ? InputOf<Extract<Kinds[number], { readonly type: Chosen }>>
  : InputOf<Chosen>;

type InputOf<Kind> = Kind extends JobKind<infer Input> ? Input : never;

/** A job of one of the kinds, with the payload that this kind takes in. */
export type KnownJob<Kinds extends readonly AnyJobKind[]> = {
  [Kind in Kinds[number] as Kind["type"]]: JobToSend<InputOf<Kind>> & {
    readonly type: Kind["type"] | Kind;
  };
}[KnownType<Kinds>];

/** Finds the kind of a job; without a list every type may be sent. */
export class JobKinds {
  readonly #kinds: ReadonlyMap<string, AnyJobKind> | undefined;

  /** @throws InvalidOptionsError when a type stands in the list twice */
  constructor(kinds: readonly AnyJobKind[] | undefined) {
    this.#kinds = kinds && new Map(kinds.map((kind) => [kind.type, kind]));
    const types = kinds?.map(({ type }) => type) ?? [];
    const twice = new Set(types.filter((type, index) => types.indexOf(type) !== index));
    if (twice.size === 0) return;
    const problem = `jobs must have each type once, got more of ${[...twice].join(", ")}`;
    throw new InvalidOptionsError("producer", [problem]);
  }

  /**
   * @returns `undefined` for a bare type of which nothing is known: it is sent unchecked
   * @throws UnsendableJobError when there is a list, and the type is not in it
   */
  find(chosen: string | AnyJobKind): AnyJobKind | undefined {
    const given = typeof chosen === "string" ? undefined : chosen;
    if (this.#kinds === undefined) return given;
    const type = given?.type ?? (chosen as string);
    const known = this.#kinds.get(type);
    if (known !== undefined) return known;
    throw new UnsendableJobError(
      `job type ${JSON.stringify(type)} must be one that this producer was given, known are ` +
        `${[...this.#kinds.keys()].join(", ")}: add its definition to jobs`,
    );
  }
}
