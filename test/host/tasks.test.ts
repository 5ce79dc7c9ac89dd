import { createTasks, silentLog, type Log } from "#host";
import { expect, test } from "vitest";

test("disposal aborts the work and waits for its end", async () => {
  const steps: string[] = [];
  const tasks = createTasks(silentLog);
  tasks.spawn("listener", async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    steps.push("cleaned up");
  });
  await tasks[Symbol.asyncDispose]();
  expect(steps).toEqual(["cleaned up"]);
  expect(tasks.size).toBe(0);
});

test("a task that fails is logged with its name and ends alone", async () => {
  const lines: unknown[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields) => lines.push({ message, task: fields?.["task"] }),
  };
  const tasks = createTasks(log);
  tasks.spawn("bad", () => Promise.reject(new Error("broken")));
  await tasks.idle();
  expect(lines).toEqual([{ message: "task failed", task: "bad" }]);
});
