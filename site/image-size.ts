/** The size of a picture, from its file. */

export interface Size {
  width: number;
  height: number;
}

/**
 * @param name its end says what the file is: SVG with a `viewBox`, WebP or PNG.
 * @throws Error about a file that has no size.
 */
export function imageSizeOf(name: string, file: Buffer): Size {
  const size = name.endsWith(".svg")
    ? ofSvg(file.toString("utf8"))
    : name.endsWith(".png")
      ? { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
      : name.endsWith(".webp")
        ? ofWebp(file)
        : undefined;
  if (size === undefined) throw new Error(`${name} has no size that can be read`);
  return size;
}

function ofSvg(text: string): Size | undefined {
  const [, width, height] =
    /<svg[^>]*\sviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** The size stands in the first chunk, which is of one of three kinds. */
function ofWebp(file: Buffer): Size | undefined {
  switch (file.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
    case "VP8 ":
      return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = file.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
