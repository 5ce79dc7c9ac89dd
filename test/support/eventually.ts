/** What a look gives: the thing waited for, or in words how far it is. */
export type Look<T> = T | string | undefined;

/**
 * Looks until `look` gives something else than a text or undefined, and gives that. Rejects when time is up, with
 * what was seen last. For tests with other processes, which have no virtual clock.
 */
export async function eventually<T extends object>(
  what: string,
  look: () => Look<T> | Promise<Look<T>>,
  withinMs = 10_000,
  everyMs = 50,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let seen: Look<T>;
  for (;;) {
    seen = await look();
    if (typeof seen === "object") return seen;
    if (performance.now() >= deadline)
      throw new Error(`not within ${withinMs} ms: ${what}; ${seen ?? "nothing was seen"}`);
    await pause(everyMs);
  }
}

/** The same for a condition. */
export async function eventuallyTrue(
  what: string,
  look: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  await eventually(what, async () => ((await look()) ? {} : undefined), withinMs);
}

/** Lets real time pass: for tests that watch other processes only. */
export async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });
}
