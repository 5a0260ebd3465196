import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as sendRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import * as z from 'zod';

import { admin, type ClusterAccess } from '../../cluster/index.ts';
import { patternOf, type PlannedFault } from './faults.ts';
import { WatchGate } from './watch-gate.ts';

/** How long a stalled write waits before it is forwarded, and its response after that. */
const stallMs = 700;
/** Watches are stale until this many more writes were made, but no longer than this. */
const staleWrites = 3;
const staleMs = 1500;

/** Longer than any test waits. */
const longestHoldMs = 120_000;

export interface HeldWatches {
  /** The paths of other reads since. */
  readonly reads: readonly string[];
  release(): void;
}

/** The writes of one trial: those with its token in their path. */
export interface Course {
  readonly token: string;
  /** No other trial runs at the same time: writes without a token belong to this one. */
  readonly isAlone: boolean;
  readonly fault?: PlannedFault | undefined;
  /** Patterns in the order of arrival. */
  readonly writes: string[];
  /** Kills the manager. */
  readonly kill: () => void;
  hasFired: boolean;
}

const kubeconfig = z.looseObject({
  clusters: z.tuple([z.looseObject({ cluster: z.looseObject({ server: z.string() }) })]),
  users: z.tuple([
    z.looseObject({ user: z.object({ 'client-certificate-data': z.string(), 'client-key-data': z.string() }) }),
  ]),
});

/**
 * A proxy between the manager and the API server. It is the administrator to the server, whoever the client is, and
 * forwards every request unchanged, except the write for which a trial has a fault.
 */
export class FaultProxy implements AsyncDisposable {
  /** The cluster, for clients that must go through the proxy. */
  readonly cluster: ClusterAccess;
  readonly #upstream: URL;
  readonly #agent: Agent;
  readonly #server: ReturnType<typeof createServer>;
  readonly #courses = new Map<string, Course>();
  #alone: Course | undefined;
  readonly #gate = new WatchGate();
  #reads: string[] | undefined;

  private constructor(cluster: ClusterAccess, server: ReturnType<typeof createServer>) {
    const config = kubeconfig.parse(JSON.parse(readFileSync(cluster.kubeconfig(admin), 'utf8')));
    const [{ user }] = config.users;
    const decode = (text: string): Buffer => Buffer.from(text, 'base64');
    this.#agent = new Agent({
      keepAlive: true,
      ca: readFileSync(cluster.files.ca),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    });
    this.#upstream = new URL(cluster.url);
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    config.clusters[0].cluster.server = `https://127.0.0.1:${String(port)}`;
    const file = join(cluster.directory, 'fault-proxy.kubeconfig');
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    this.cluster = { ...cluster, kubeconfig: () => file };
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      this.#receive(incoming, outgoing).catch(() => outgoing.destroy()); // one of the two ends has disconnected
    });
  }

  static async start(cluster: ClusterAccess): Promise<FaultProxy> {
    const [cert, key] = [readFileSync(cluster.files.apiServer), readFileSync(cluster.files.apiServerKey)];
    const server = createServer({ cert, key });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultProxy(cluster, server);
  }

  /** Counts the writes of this course from now on, and injects its fault. */
  follow(course: Course): void {
    this.#courses.set(course.token, course);
    this.#alone = course.isAlone ? course : undefined;
  }

  /** Holds the events of the watches with such a path, until `release`. */
  holdWatches(only: RegExp): HeldWatches {
    const reads: string[] = [];
    this.#reads = reads;
    this.#gate.close({ writes: Infinity, ms: longestHoldMs, only });
    return { reads, release: () => this.#gate.open() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    this.#agent.destroy();
    this.#gate.open();
  }

  async #receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    incoming.on('error', () => undefined); // its connection closes, too
    const { method = '', url: path = '' } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const pattern = patternOf(method, path);
    if (pattern === undefined) {
      await this.#pass(incoming, body, outgoing);
      return;
    }
    this.#gate.countWrite();
    const course = this.#courseOf(path);
    course?.writes.push(pattern);
    const fault = course?.fault;
    const nth = course?.writes.filter((other) => other === pattern).length;
    if (course === undefined || fault?.pattern !== pattern || fault.nth !== nth) {
      await this.#pass(incoming, body, outgoing);
      return;
    }
    course.hasFired = true;
    await this.#disturb({ incoming, body, outgoing }, fault, course);
  }

  #courseOf(path: string): Course | undefined {
    const [token = ''] = tokenPattern.exec(path) ?? [];
    return this.#courses.get(token) ?? this.#alone;
  }

  async #disturb(exchange: Exchanged, { fault }: PlannedFault, course: Course): Promise<void> {
    const { incoming, body, outgoing } = exchange;
    switch (fault) {
      case 'kill before':
        course.kill();
        return;
      case 'kill after':
        await this.#forward(incoming, body);
        course.kill();
        return;
      case 'conflict':
        refuse(outgoing, 409, 'Conflict');
        return;
      case 'throttled':
        outgoing.setHeader('retry-after', '1');
        refuse(outgoing, 429, 'TooManyRequests');
        return;
      case 'server error':
        refuse(outgoing, 500, 'InternalError');
        return;
      case 'reset before':
        incoming.socket.resetAndDestroy();
        return;
      case 'reset after':
        await this.#forward(incoming, body);
        incoming.socket.resetAndDestroy();
        return;
      case 'stall': {
        await sleep(stallMs);
        const answer = await this.#forward(incoming, body);
        await sleep(stallMs);
        answer.sendTo(outgoing);
        return;
      }
      case 'stale watch':
        this.#gate.close({ writes: staleWrites, ms: staleMs });
        await this.#pass(incoming, body, outgoing);
    }
  }

  async #pass(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<void> {
    const isWatch = /[?&]watch=(?:true|1)\b/.test(incoming.url ?? '');
    if (!isWatch) {
      if (incoming.method === 'GET') this.#reads?.push(incoming.url ?? '');
      (await this.#forward(incoming, body)).sendTo(outgoing);
      return;
    }
    const upstream = await this.#send(incoming, body, outgoing);
    outgoing.writeHead(upstream.statusCode ?? 502, headersOf(upstream));
    outgoing.flushHeaders();
    this.#gate.pipe(upstream, outgoing, incoming.url ?? '');
  }

  async #forward(incoming: IncomingMessage, body: Buffer): Promise<Answer> {
    const upstream = await this.#send(incoming, body);
    return new Answer(upstream, Buffer.concat(await upstream.toArray()));
  }

  /** Resolves with the headers of the response. The request is cancelled when `until` closes. */
  async #send(incoming: IncomingMessage, body: Buffer, until?: ServerResponse): Promise<IncomingMessage> {
    const { method, url: path } = incoming;
    const { host: _host, connection: _connection, authorization: _authorization, ...headers } = incoming.headers;
    const { hostname, port } = this.#upstream;
    const request = sendRequest({ hostname, port, path, method, headers, agent: this.#agent });
    until?.once('close', () => request.destroy());
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => undefined); // the error of a watch that is no longer read
    response.on('error', () => undefined);
    return response;
  }
}

/** Trials have random names, and so do their namespaces and nodes. */
export const tokenPattern = /\btrial-[0-9a-f]{8}/;

interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly outgoing: ServerResponse;
}

class Answer {
  readonly #message: IncomingMessage;
  readonly #body: Buffer;

  constructor(message: IncomingMessage, body: Buffer) {
    this.#message = message;
    this.#body = body;
  }

  sendTo(outgoing: ServerResponse): void {
    const headers = { ...headersOf(this.#message), 'content-length': String(this.#body.length) };
    outgoing.writeHead(this.#message.statusCode ?? 502, headers);
    outgoing.end(this.#body);
  }
}

function headersOf({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const { connection: _connection, 'transfer-encoding': _encoding, ...rest } = headers;
  return rest;
}

function refuse(outgoing: ServerResponse, code: number, reason: string): void {
  const message = 'a fault of the test';
  outgoing.writeHead(code, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }));
}
