/** A line for the person at the terminal. */
export const say = (line: string): void => void process.stdout.write(`adcap: ${line}\n`);
export const complain = (line: string): void => void process.stderr.write(`adcap: ${line}\n`);
