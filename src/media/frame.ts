/** The rate of all telephone sound here. */
export const sampleRateHz = 8000;

/** One frame: the beat of the media plane. */
export const frameMs = 20;

/** Samples of one frame at 8 kHz. */
export const frameSamples = 160;
