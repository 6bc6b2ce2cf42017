import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { clientOf, type RedisConnection } from './redis-connection.ts';

export type ScriptArgument = string | number | Buffer;

/** The contract of a script; its Lua file says the same in its header, and a test compares the two. */
export type ScriptContract<Key extends string, Argument extends string, Reply> = {
  /** `<verb-noun>`, the name of the Lua file. */
  name: string;
  keys: readonly Key[];
  args: readonly Argument[];
  /** The arguments after those, repeated for each item. */
  each?: readonly string[];
  /** Takes strings as buffers. Throws where the reply is not what the script promises. */
  reply: (raw: unknown) => Reply;
};

type ScriptCall<Key extends string, Argument extends string> = {
  keys: Readonly<Record<Key, string>>;
  args: Readonly<Record<Argument, ScriptArgument>>;
  each?: readonly ScriptArgument[];
};

export type Script<Key extends string, Argument extends string, Reply> = ScriptContract<
  Key,
  Argument,
  Reply
> & {
  lua: string;
  run(connection: RedisConnection, call: ScriptCall<Key, Argument>): Promise<Reply>;
};

const readLua = (name: string): string =>
  readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');

const prelude = readLua('prelude');

const HASH_CHARACTERS = 8;

/** The hash keeps two releases in one process apart. */
const commandNameOf = (name: string, lua: string): string =>
  `${name}-${createHash('sha256').update(lua).digest('hex').slice(0, HASH_CHARACTERS)}`;

type Command = (...args: readonly ScriptArgument[]) => Promise<unknown>;

const isCommand = (value: unknown): value is Command => typeof value === 'function';

/**
 * Binds a Lua file to names and types. The client sends EVALSHA and, where the server has lost the script, EVAL; that
 * mends single calls only. So a script is never put into MULTI (where NOSCRIPT would repeat for ever), nor into a
 * pipeline whose order matters; batches go out as single calls in one write (`inOneWrite`).
 */
export const defineScript = <Key extends string, Argument extends string, Reply>(
  contract: ScriptContract<Key, Argument, Reply>,
): Script<Key, Argument, Reply> => {
  const { keys, args, reply } = contract;
  const lua = `${prelude}\n${readLua(contract.name)}`;
  const name = commandNameOf(contract.name, lua);
  const commands = new WeakMap<Redis, Command>();

  const commandOn = (client: Redis): Command => {
    const known = commands.get(client);
    if (known !== undefined) return known;
    client.defineCommand(name, { lua, numberOfKeys: keys.length });
    const command: unknown = Reflect.get(client, `${name}Buffer`);
    if (!isCommand(command)) throw new Error(`the script ${name} could not be defined`);
    const bound: Command = command.bind(client);
    commands.set(client, bound);
    return bound;
  };

  return {
    ...contract,
    lua,
    run: async (connection, call) => {
      const command = commandOn(clientOf(connection));
      const named = [...keys.map((key) => call.keys[key]), ...args.map((arg) => call.args[arg])];
      return reply(await command(...named, ...(call.each ?? [])));
    },
  };
};
