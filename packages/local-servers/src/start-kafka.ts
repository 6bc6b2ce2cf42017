import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startEither } from './docker.ts';
import { assertJava } from './java-runtime.ts';
import { kafkaAnswers } from './kafka-admin.ts';
import type { LocalServer, ServerOptions } from './local-server.ts';
import { LocalServerError } from './local-server-error.ts';
import { mavenArtifacts } from './maven-artifacts.ts';
import { NativeProcess, nativeServer } from './native-process.ts';
import { assertPortFree, freePort } from './ports.ts';
import { lastLine, runCommand } from './run-command.ts';

const VERSION = '4.1.1';
const POM = path.resolve(import.meta.dirname, '../../../infra/kafka/pom.xml');
const CLUSTER_ID = '5L6g3nShT-eMCtK--X86sw';

const addressOf = (port: number): string => `127.0.0.1:${port}`;

/** One combined broker and controller for one machine. */
const properties = (at: {
  port: number;
  controllerPort: number;
  listen: string;
  dataDir: string;
}): Record<string, string> => ({
  'process.roles': 'broker,controller',
  'node.id': '1',
  listeners: `PLAINTEXT://${at.listen}:${at.port},CONTROLLER://127.0.0.1:${at.controllerPort}`,
  'advertised.listeners': `PLAINTEXT://127.0.0.1:${at.port}`,
  'controller.listener.names': 'CONTROLLER',
  'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  'controller.quorum.voters': `1@127.0.0.1:${at.controllerPort}`,
  'log.dirs': at.dataDir,
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '3',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'auto.create.topics.enable': 'false',
});

const asFile = (entries: Record<string, string>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');

/** The public image takes a setting `a.b` as KAFKA_A_B. */
const asEnvironment = (entries: Record<string, string>): Record<string, string> => ({
  CLUSTER_ID,
  ...Object.fromEntries(
    Object.entries(entries).map(([key, value]) => [`KAFKA_${key.toUpperCase().replaceAll('.', '_')}`, value]),
  ),
});

const LOG4J = `status = error
appender.file.type = Console
appender.file.name = console
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.file.ref = console
`;

/** What Java says of a jar that is cut off or missing. */
const BROKEN_JARS = /ClassNotFoundException|NoClassDefFoundError|ZipException/;

const startNative = async (options: ServerOptions & { port: number }): Promise<LocalServer> => {
  const { port, cacheDir } = options;
  await assertJava();
  const jars = await mavenArtifacts(
    POM,
    path.join(cacheDir, `kafka-${VERSION}`),
    options.onProgress ?? (() => undefined),
  );
  const dataDir = path.join(options.dataDir, `kafka-${port}`);
  await mkdir(dataDir, { recursive: true });
  const config = path.join(dataDir, 'server.properties');
  const log4j = path.join(dataDir, 'log4j2.properties');
  const controllerPort = await freePort();
  await writeFile(
    config,
    asFile(properties({ port, controllerPort, listen: '127.0.0.1', dataDir: path.join(dataDir, 'logs') })),
  );
  await writeFile(log4j, LOG4J);
  const java = [`-Dlog4j2.configurationFile=${log4j}`, '-cp', `${jars}/*`];
  const format = await runCommand('java', [
    ...java,
    'kafka.tools.StorageTool',
    'format',
    '--ignore-formatted',
    '-t',
    CLUSTER_ID,
    '-c',
    config,
  ]);
  if (BROKEN_JARS.test(format.output)) {
    throw new LocalServerError(
      'DOWNLOAD_FAILED',
      `the download in ${jars} is broken: remove that folder and run the command again`,
    );
  }
  if (format.code !== 0) {
    throw new LocalServerError(
      'DID_NOT_START',
      `Kafka could not prepare ${dataDir}: ${lastLine(format.output)}`,
    );
  }
  const process = new NativeProcess({
    name: 'Kafka',
    command: 'java',
    args: ['-Xmx512m', '-XX:TieredStopAtLevel=1', ...java, 'kafka.Kafka', config],
    logFile: path.join(dataDir, 'kafka.log'),
    port,
    answers: () => kafkaAnswers(addressOf(port)),
  });
  await process.start();
  return nativeServer(process, addressOf(port));
};

const startInDocker = async (port: number): Promise<LocalServer> => {
  // Loaded where it is used: half a second that a machine without Docker need not wait.
  const { startContainer } = await import('./container.ts');
  const at = {
    port,
    controllerPort: port === 9093 ? 9094 : 9093,
    listen: '0.0.0.0',
    dataDir: '/tmp/kafka-logs',
  };
  return startContainer({
    name: 'Kafka',
    image: `apache/kafka:${VERSION}`,
    inside: port,
    port,
    address: addressOf(port),
    environment: asEnvironment(properties(at)),
    command: [],
    files: {},
    answers: () => kafkaAnswers(addressOf(port)),
  });
};

/** Starts a Kafka in KRaft mode. Throws LocalServerError; nothing is left running then. */
export const startKafka = async (options: ServerOptions): Promise<LocalServer> => {
  const port = options.port ?? (await freePort());
  await assertPortFree(port, 'Kafka');
  return startEither(options, {
    name: 'Kafka',
    docker: () => startInDocker(port),
    native: () => startNative({ ...options, port }),
  });
};
