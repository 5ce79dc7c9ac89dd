import { pino } from "pino";

/** Fields may hold ids and figures; phone numbers and words of a call belong under `pii`, which `info` and above leave out. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Names whose values never reach a log, at the first two levels of the fields. */
const secretNames = ["password", "secret", "token", "authorization", "Authorization", "key"];

/** Writes JSON lines to a file (made owner-only) or to standard error, off the calling thread's hot path. */
export function createLog(options: {
  readonly file?: string;
  readonly level?: LogLevel;
  readonly component?: string;
}): Log {
  const level = options.level ?? "info";
  const destination = pino.destination({
    dest: options.file ?? 2,
    sync: false,
    minLength: 0,
    mkdir: true,
    mode: 0o600,
    append: true,
  });
  const logger = pino(
    {
      level,
      base: { component: options.component ?? "daemon" },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          ...secretNames.flatMap((name) => [name, `*.${name}`]),
          ...(level === "debug" ? [] : ["pii", "*.pii"]),
        ],
        censor: "[redacted]",
      },
    },
    destination,
  );
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}

/** For tests and programs that must print nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {
  // Nobody reads it.
}
