/**
 * What the machine offers: time, chance, hashes, files, paths, logs and owned background work.
 * Knows nothing of calls.
 */
export { steadyClock, systemEntropy, wallClock } from "./clock.ts";
export { ensurePrivateDir, lockDirectory, writeFileAtomic } from "./files.ts";
export { hashes, sameSecret, signature } from "./hashes.ts";
export { createLog, silentLog, type Log, type LogFields, type LogLevel } from "./log.ts";
export { paths, type Paths } from "./paths.ts";
export { programFile } from "./program-file.ts";
export { localAddressTowards } from "./route.ts";
export { readSecret, secretName } from "./secret.ts";
export { createTasks, describeError, type Tasks } from "./tasks.ts";
export { version } from "./version.ts";
