/** The same jobs in Lambda: see `middy.ts`; middy-wrapped handlers in both homes: `middy-handler.ts`. */

export { InvalidSqsEventError, LambdaTimeTooShortError, MiddlewareUseError } from "./errors.ts";
export { jobEnvelope } from "./job-envelope.ts";
export { jobLogger, type LoggedContext, type ParentLogger } from "./job-logger.ts";
export { type HandlerGuard, jobOnce, type OnceContext } from "./job-once.ts";
export type { JobLambdaContext, JobMiddleware, MiddyRequest } from "./job-surroundings.ts";
export { jobTracing, type TracedContext } from "./job-tracing.ts";
export type {
  BatchResponse,
  LambdaContext,
  SqsEvent,
  SqsRecord,
  SqsRecordAttribute,
  SqsSystemAttributes,
} from "./lambda.ts";
export type { LambdaEvent } from "./lambda-event.ts";
export { type LambdaParts, lambdaHandler, type SqsLambdaHandler } from "./middy.ts";
export { type LambdaStyleHandler, middyHandler } from "./middy-handler.ts";
export type { LambdaOptions } from "./options.ts";
