import { homedir } from 'node:os';
import path from 'node:path';

/** Where downloads are kept: `$ADCAP_CACHE_DIR`, else `~/.cache/adcap`. */
export const cacheFolder = (): string =>
  process.env['ADCAP_CACHE_DIR'] ?? path.join(homedir(), '.cache', 'adcap');
