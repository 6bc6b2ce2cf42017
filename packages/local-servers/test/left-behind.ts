import { createServer } from 'node:net';

export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });

/** False for what never was a process here, as with a server in a container. */
export const isRunning = (pid: number | undefined): boolean => {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
