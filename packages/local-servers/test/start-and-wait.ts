import { cacheFolder, startRedis } from '@adcap/local-servers';

// A program that starts a server in the folder it is given, says its port, and never stops it.
const [, , dataDir = ''] = process.argv;
const server = await startRedis({ cacheDir: cacheFolder(), dataDir });
console.log(server.port);
setInterval(() => undefined, 60_000);
