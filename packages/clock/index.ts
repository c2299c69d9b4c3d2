/** Time as a port: see `clock.ts`. The manual clock for tests is `@leasehold/clock/manual`. */

export { type CancelTimer, type Clock, elapsedMs, type Moment, now } from "./clock.ts";
export { systemClock } from "./system-clock.ts";
