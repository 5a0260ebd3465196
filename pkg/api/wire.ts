/**
 * The form that a client-node model has on the wire: JSON as the API server sends it. Timestamps stay strings, and the
 * few names that the generator had to mask (`_continue`, `_from`) are unmasked.
 *
 * Optional fields may also be present as `undefined`: `JSON.stringify` leaves them out, so both mean the same.
 */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? {
          [K in keyof T as Unmasked<K>]: undefined extends T[K]
            ? Wire<Exclude<T[K], undefined>> | undefined
            : Wire<T[K]>;
        }
      : T;

type Unmasked<K> = K extends `_${infer Rest}` ? Rest : K;
