import {
  CoreEvents,
  Nodes,
  objectKey,
  Services,
  type Kind,
  type Node,
  type ObjectKey,
  type Service,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { machineAnnotation } from '../../pkg/hollow/index.ts';
import { eventually } from './eventually.ts';

/** What users of a cloud do and see. */
export class CloudUser {
  readonly #client: Client;
  readonly #signal: AbortSignal;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Waits until the node matches. */
  async nodeWhen(name: string, isWanted: (node: Node) => boolean): Promise<Node> {
    return eventually(async () => {
      const node = await this.#client.get(Nodes, objectKey(undefined, name), this.#signal);
      return isWanted(node) && node;
    }, this.#signal);
  }

  async patchNode(name: string, body: object): Promise<void> {
    await this.#client.patch(Nodes, objectKey(undefined, name), { type: 'merge', body }, this.#signal);
  }

  /** Null: it runs. */
  async switchMachine(name: string, power: 'off' | 'gone' | null): Promise<void> {
    await this.patchNode(name, { metadata: { annotations: { [machineAnnotation]: power } } });
  }

  async createService(namespace: string): Promise<ObjectKey> {
    const spec = { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] };
    await this.#client.create(Services, { metadata: { namespace, name: 'web' }, spec }, this.#signal);
    return objectKey(namespace, 'web');
  }

  /** Waits until the Service matches. */
  async serviceWhen(key: ObjectKey, isWanted: (service: Service) => boolean): Promise<Service> {
    return eventually(async () => {
      const service = await this.#client.get(Services, key, this.#signal);
      return isWanted(service) && service;
    }, this.#signal);
  }

  async patchService(key: ObjectKey, body: object): Promise<void> {
    await this.#client.patch(Services, key, { type: 'merge', body }, this.#signal);
  }

  async deleteService(key: ObjectKey): Promise<void> {
    await this.#client.delete(Services, key, {}, this.#signal);
  }

  async exists(kind: Kind, key: ObjectKey): Promise<boolean> {
    try {
      await this.#client.get(kind, key, this.#signal);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async untilGone(kind: Kind, key: ObjectKey): Promise<void> {
    await eventually(async () => !(await this.exists(kind, key)), this.#signal);
  }

  /** The events of the cloud controllers about an object, in their order, once the last of them has this reason. */
  async eventsUntil(
    last: string,
    { namespace, kind, name }: { readonly namespace: string; readonly kind: string; readonly name: string },
  ): Promise<string[]> {
    const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
    return eventually(async () => {
      const { items } = await this.#client.listAll(CoreEvents, { namespace, fieldSelector }, this.#signal);
      const told = items
        .filter(({ source }) => /^(cloud|service|route)/.test(source?.component ?? ''))
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ source, type, reason, message }) => `${source?.component} ${type} ${reason}: ${message}`);
      return told.at(-1)?.includes(` ${last}: `) === true && told;
    }, this.#signal);
  }
}

export function addressOf({ status }: Service): string | undefined {
  return status?.loadBalancer?.ingress?.[0]?.ip;
}
