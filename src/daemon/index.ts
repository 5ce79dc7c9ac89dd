/**
 * The application: takes orders, keeps them durable, dials what is due, and tells what happened.
 * It names its needs in ports.ts; `main.ts` alone knows who fills them.
 */
export { main } from "./main.ts";
