import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

/**
 * Returns a function that closes a server and all its connections, and resolves when none is left. `closeAllConnections` of
 * an HTTPS server leaves out those in their TLS handshake: they become ordinary connections a moment later, on which a busy
 * client is served for as long as it likes, by a server that should be gone.
 */
export function closable(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  let isClosed = false;
  server.on('connection', (socket: Socket) => {
    if (isClosed) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    isClosed = true;
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}
