/**
 * A preload (`node --import`): sets the clock of one process `CLOCK_SHIFT_MS` ahead, or behind if negative. Only the
 * date changes; timers and monotonic time do not, as on a machine whose clock is wrong.
 */
const shiftMs = Number(process.env['CLOCK_SHIFT_MS'] ?? 0);
const realNow = Date.now;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], newTarget): Date =>
    Reflect.construct(target, args.length === 0 ? [realNow() + shiftMs] : args, newTarget) as Date,
  get: (target, name, receiver): unknown =>
    name === 'now' ? () => realNow() + shiftMs : Reflect.get(target, name, receiver),
});
