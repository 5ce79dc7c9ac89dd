/** Everything a stream gives, and the error it ended with. */
export async function collect<Item>(
  stream: AsyncIterable<Item>,
): Promise<{ readonly items: Item[]; readonly error?: unknown }> {
  const items: Item[] = [];
  try {
    for await (const item of stream) items.push(item);
    return { items };
  } catch (error) {
    return { items, error };
  }
}

/** The error of something that must fail. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; hint?: string; retryable?: boolean }> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error("It did not fail");
}

/** All samples of a sound as one. */
export async function samplesOf(audio: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const samples: number[] = [];
  for await (const chunk of audio) samples.push(...chunk);
  return Int16Array.from(samples);
}
