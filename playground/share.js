// Links that carry the kernel and its fields: JSON, deflated, in base64url, behind the `#`, which no server gets to see.

const PREFIX = "#k=";

async function through(stream, bytes) {
  const whole = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(whole).arrayBuffer());
}

export async function toFragment(state) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  const letters = Array.from(packed, byte => String.fromCharCode(byte)).join("");
  return PREFIX + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The state that a fragment carries; null if there is none. Throws a sentence for one that is damaged.
export async function fromFragment(fragment) {
  if (!fragment.startsWith(PREFIX)) return null;
  try {
    const letters = atob(fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, letter => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
    if (typeof state.source !== "string") throw new Error("no source");
    return state;
  } catch {
    throw new Error("The link is damaged: the kernel in it cannot be read. Ask for the whole link again.");
  }
}
