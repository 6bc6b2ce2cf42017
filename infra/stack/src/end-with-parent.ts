/*
 * Loaded into each service before its main.ts: when the stack is gone, however it went, the service stops in order, as on SIGTERM.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
