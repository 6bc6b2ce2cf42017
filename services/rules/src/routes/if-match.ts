/** What If-Match asks for: a version, any version, or something that no version of ours is called. */
export const parseIfMatch = (header: string): number | 'any' | 'none' => {
  const text = header.trim();
  if (text === '*') return 'any';
  // Quotes are forgotten often, and a bare number can mean nothing else. A weak tag never matches.
  const digits = /^(?:"(\d{1,15})"|(\d{1,15}))$/.exec(text);
  return digits === null ? 'none' : Number(digits[1] ?? digits[2]);
};
