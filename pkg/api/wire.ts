/**
 * A model of client-node as JSON, the way the API server sends it. Timestamps stay strings. Field names that the
 * generator prefixes with `_` (`_continue`, `_from`) lose the prefix.
 *
 * Optional fields may be present as `undefined`: `JSON.stringify` omits them. The server sends some absent values as
 * `null`, and the types say so: optional times (read them with `parseTime`), and lists without omitempty (read them with
 * `?? []`).
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

/** Lists that the schema calls optional, but that Go always writes: `null` when empty. */
type OptionalButWritten = 'endpoints' | 'sources' | 'rules' | 'storedVersions';

type NullIfOptional<T, K extends keyof T> = Date extends T[K]
  ? null
  : K extends OptionalButWritten
    ? null
    : // The ports of an EndpointSlice. Other kinds omit an empty list of ports.
      [T, K] extends [{ addressType: unknown }, 'ports']
      ? null
      : never;

/** Required lists that validation does not allow to be empty. */
type NeverEmpty = 'containers' | 'addresses' | 'versions' | 'nodeSelectorTerms';

type NullIfRequired<T, K extends keyof T> = T[K] extends readonly unknown[]
  ? K extends NeverEmpty
    ? never
    : null
  : never;
