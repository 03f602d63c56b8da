/** Random numbers that follow from a seed alone. */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** A whole number in [low, high]. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<TItem>(items: readonly TItem[]): TItem;
  /** Another generator. Its numbers do not change those of this generator, apart from this call. */
  fork(): Random;
}

/** David Blackman's and Sebastiano Vigna's xoshiro128**, seeded by splitmix32. */
export function createRandom(seed: number): Random {
  let split = seed | 0;
  const splitmix = () => {
    split = (split + 0x9e3779b9) | 0;
    let t = split ^ (split >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix() | 1];

  function bits(): number {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  }

  const random: Random = {
    next: () => bits() / 2 ** 32,
    below: (bound) => Math.floor(random.next() * bound),
    between: (low, high) => low + random.below(high - low + 1),
    chance: (probability) => random.next() < probability,
    pick: (items) => items[random.below(items.length)]!,
    fork: () => createRandom(bits()),
  };
  return random;
}

function rotate(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}
