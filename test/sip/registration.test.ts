import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  registration,
  startRegistration,
  type RegistrationEffect,
  type RegistrationInput,
  type RegistrationPhase,
  type RegistrationState,
} from "../../src/sip/registration.ts";

interface Done {
  readonly at: number;
  readonly expiresS?: number;
  readonly state?: RegistrationState;
}

/** A registration in virtual time: what it did, and inputs and ticks to drive it. */
class Course {
  readonly done: Done[] = [];
  #phase: RegistrationPhase;
  #now = 0;

  constructor(expiresS = 600) {
    const first = startRegistration(expiresS);
    this.#phase = first.state;
    this.#note(first.effects);
  }

  input(input: RegistrationInput): this {
    const step = registration.step(this.#phase, input, this.#now);
    this.#phase = step.state;
    this.#note(step.effects);
    return this;
  }

  advance(ms: number): this {
    const end = this.#now + ms;
    for (let at = registration.deadline(this.#phase); at <= end; at = registration.deadline(this.#phase)) {
      this.#now = Math.max(this.#now, at);
      const step = registration.step(this.#phase, { type: "tick" }, this.#now);
      this.#phase = step.state;
      this.#note(step.effects);
    }
    this.#now = end;
    return this;
  }

  get over(): boolean {
    return registration.isOver(this.#phase);
  }

  get registers(): readonly (readonly [number, number])[] {
    return this.done.flatMap(({ at, expiresS }) => (expiresS === undefined ? [] : [[at, expiresS] as const]));
  }

  get states(): readonly RegistrationState[] {
    return this.done.flatMap(({ state }) => state ?? []);
  }

  #note(effects: readonly RegistrationEffect[]): void {
    for (const effect of effects) {
      this.done.push({
        at: this.#now,
        ...(effect.type === "register" ? { expiresS: effect.expiresS } : { state: effect.state }),
      });
    }
  }
}

const granted = (expiresS: number, chance = 0): RegistrationInput => ({ type: "granted", expiresS, chance });
const rejected = (
  status: number,
  more: Partial<Extract<RegistrationInput, { type: "rejected" }>> = {},
): RegistrationInput => ({ type: "rejected", status, reason: "No", chance: 0, ...more });
const failed: RegistrationInput = { type: "failed", reason: "No answer.", chance: 0 };

describe("a registration", () => {
  it("is renewed between 80 and 90 % of the time granted, not of the time asked for", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7_200 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (s, chance) => {
          const course = new Course(600).input(granted(s, chance)).advance(s * 1_000);
          const [, renewed] = course.registers;
          expect(renewed![0]).toBeGreaterThanOrEqual(s * 800);
          expect(renewed![0]).toBeLessThanOrEqual(s * 900);
          expect(course.states).toEqual([
            { type: "registering" },
            { type: "registered", expiresAt: s * 1_000 },
          ]);
        },
      ),
    );
  });

  it("asks for longer when the registrar finds the time too brief, and keeps to it", () => {
    const course = new Course(60)
      .input(rejected(423, { minExpiresS: 300 }))
      .input(granted(300))
      .advance(240_000);
    expect(course.registers).toEqual([
      [0, 60],
      [0, 300],
      [240_000, 300],
    ]);
  });

  it("does not follow a registrar that is never content", () => {
    const course = new Course(60);
    for (const minExpiresS of [100, 200, 300]) course.input(rejected(423, { minExpiresS }));
    expect(course.states.at(-1)).toMatchObject({ type: "refused", status: 423 });
    const absurd = new Course(60).input(rejected(423, { minExpiresS: 0xffff_ffff }));
    expect(absurd.states.at(-1)).toMatchObject({ type: "refused", status: 423 });
    const silent = new Course(60).input(rejected(423));
    expect(silent.states.at(-1)).toMatchObject({ type: "refused", status: 423 });
  });

  it.each([
    [401, "user name or the password"],
    [407, "user name or the password"],
    [403, "forbids"],
    [404, "does not know this user"],
    [405, "takes no registrations"],
    [501, "takes no registrations"],
    [302, "another server"],
    [400, "provider"],
    [606, "provider"],
  ])("stops at %i and says what to do", (status, advice) => {
    const course = new Course().input(rejected(status)).advance(10_000_000);
    expect(course.registers).toHaveLength(1);
    const state = course.states.at(-1);
    expect(state).toMatchObject({ type: "refused", status, reason: "No" });
    expect(state?.type === "refused" && state.advice).toContain(advice);
  });

  it("waits ever longer while it fails, up to half an hour, spread by chance", () => {
    const waits = (chance: number): readonly number[] => {
      const course = new Course();
      return Array.from({ length: 9 }, () => {
        course.input({ ...failed, chance });
        const state = course.states.at(-1);
        const failedAt = course.registers.at(-1)![0];
        if (state?.type !== "waiting") throw new Error("it does not wait");
        course.advance(state.until - failedAt);
        expect(course.registers.at(-1)).toEqual([state.until, 600]);
        return (state.until - failedAt) / 1_000;
      });
    };
    expect(waits(0)).toEqual([15, 30, 60, 120, 240, 480, 900, 900, 900]);
    expect(waits(0.5)).toEqual([22.5, 45, 90, 180, 360, 720, 1_350, 1_350, 1_350]);
  });

  it.each([408, 429, 480, 500, 503, 504])("tries again after %i, not before Retry-After", (status) => {
    const course = new Course().input(rejected(status, { retryAfterS: 120 }));
    expect(course.states.at(-1)).toMatchObject({ type: "waiting", until: 120_000 });
    course.advance(119_999);
    expect(course.registers).toHaveLength(1);
    course.advance(1);
    expect(course.registers).toHaveLength(2);
  });

  it("comes back within seconds when its connection is lost, and backs off only if that fails", () => {
    const course = new Course().input(granted(600)).input({ type: "flow-lost", chance: 0.5 });
    expect(course.states.at(-1)).toMatchObject({ type: "waiting", until: 1_000 });
    course.advance(1_000).input(failed);
    expect(course.states.at(-1)).toMatchObject({ type: "waiting", until: 16_000 });
  });

  it("is renewed at once when our address changed, also while it is being renewed", () => {
    const course = new Course().input({ type: "address-changed" }).input(granted(600));
    expect(course.registers).toEqual([
      [0, 600],
      [0, 600],
    ]);
    course.input(granted(600)).advance(1_000).input({ type: "address-changed" });
    expect(course.registers.at(-1)).toEqual([1_000, 600]);
  });

  it("is taken back at the end, and the end comes without an answer, too", () => {
    const course = new Course().input(granted(600)).input({ type: "close" });
    expect(course.registers.at(-1)).toEqual([0, 0]);
    expect(course.over).toBe(false);
    course.advance(4_000);
    expect(course.over).toBe(true);
    expect(new Course().input(granted(600)).input({ type: "close" }).input(granted(0)).over).toBe(true);
  });

  it("closed while a REGISTER is out waits for its answer before it takes it back", () => {
    const course = new Course().input({ type: "close" });
    expect(course.registers).toHaveLength(1);
    course.input(granted(600));
    expect(course.registers.at(-1)).toEqual([0, 0]);
    expect(course.input(granted(0)).over).toBe(true);
  });

  it("that was refused or waits without a binding has nothing to take back", () => {
    for (const why of [rejected(403), failed]) {
      const course = new Course().input(why).input({ type: "close" });
      expect(course.over).toBe(true);
      expect(course.registers).toHaveLength(1);
    }
  });

  it("never asks twice at a time, whatever comes in whatever order", () => {
    const inputs = fc.oneof(
      fc.constantFrom<RegistrationInput>(
        granted(60),
        granted(3_600, 0.9),
        rejected(403),
        rejected(503),
        rejected(423, { minExpiresS: 900 }),
        failed,
        { type: "flow-lost", chance: 0.3 },
        { type: "address-changed" },
        { type: "close" },
      ),
      fc.integer({ min: 1, max: 4_000_000 }),
    );
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 40 }), (steps) => {
        const course = new Course();
        let pending = 1;
        for (const step of steps) {
          const before = course.registers.length;
          if (typeof step === "number") course.advance(step);
          else {
            if (["granted", "rejected", "failed"].includes(step.type)) pending = 0;
            course.input(step);
          }
          pending += course.registers.length - before;
          expect(pending).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
