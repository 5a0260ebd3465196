/**
 * The form that a client-node model has on the wire: JSON as the API server sends it. Timestamps stay strings, and the
 * few names that the generator had to mask (`_continue`, `_from`) are unmasked.
 *
 * Optional fields may also be present as `undefined`: `JSON.stringify` leaves them out, so both mean the same. The
 * server sends some absent values as `null`, and the types say so: optional times (read them with `parseTime`), and
 * the lists that it writes even when they are empty (read them with `?? []`).
 */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? {
          [K in keyof T as Unmasked<K>]: undefined extends T[K]
            ? Wire<Exclude<T[K], undefined>> | undefined | NullIfOptional<T, K>
            : Wire<T[K]> | NullIfRequired<T, K>;
        }
      : T;

type Unmasked<K> = K extends `_${infer Rest}` ? Rest : K;

/** Lists that are optional in the API's schema, while the Go type writes them always: `null` when empty. */
type OptionalButWritten = 'endpoints' | 'sources' | 'rules' | 'storedVersions';

type NullIfOptional<T, K extends keyof T> = Date extends T[K]
  ? null
  : K extends OptionalButWritten
    ? null
    : // Those of an EndpointSlice; other ports are left out when there are none.
      [T, K] extends [{ addressType: unknown }, 'ports']
      ? null
      : never;

/** Required lists of which the server accepts no object without an entry. */
type NeverEmpty = 'containers' | 'addresses' | 'versions' | 'nodeSelectorTerms';

type NullIfRequired<T, K extends keyof T> = T[K] extends readonly unknown[]
  ? K extends NeverEmpty
    ? never
    : null
  : never;
