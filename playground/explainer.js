// The page's side of the worker: one run at a time, the newest request next, stale runs cancelled, a stuck worker replaced.

const HARD_LIMIT_MS = 30000; // a run ends itself long before; a worker that does not is stuck
const ENDS = ["result", "error", "graded"]; // messages with which the worker ends what it was asked

export class Explainer {
  // `tell` gets every message of the worker for the newest request: status, result, error, pictures, graded.
  constructor(tell) {
    this.tell = tell;
    this.newest = 0;
    this.running = null; // the request that the worker has
    this.next = null;
    this.line = 0; // whose pictures are to be asked for after a grading
    this.start();
  }

  start() {
    this.ready = false;
    this.worker = new Worker("worker.js", { type: "module" });
    this.worker.onmessage = event => this.heard(event.data);
    this.worker.onerror = event => this.tell({ kind: "broken", text: event.message || "worker.js cannot be loaded" });
  }

  // Explain this state. A run or grading of an older one is cancelled.
  run(state) {
    this.newest += 1;
    this.next = { ...state, kind: "run", id: this.newest };
    this.line = 0;
    if (this.running) this.worker.postMessage({ kind: "cancel", id: this.running.id });
    this.send();
  }

  // Grade a source that was explained, unless a newer one waits.
  grade(source) {
    this.next ||= { source, kind: "grade", id: this.newest };
    this.send();
  }

  pictures(line) {
    if (this.ready && !this.running) this.worker.postMessage({ kind: "pictures", id: this.newest, line });
    else if (this.running?.kind === "grade") this.line = line;
  }

  send() {
    if (!this.ready || this.running || !this.next) return;
    this.running = this.next;
    this.worker.postMessage(this.next);
    this.next = null;
    this.tell({ kind: "running", what: this.running.kind });
    this.timer = setTimeout(() => this.replace(), HARD_LIMIT_MS);
  }

  replace() {
    this.worker.terminate();
    const graded = this.running.kind === "grade";
    this.running = null;
    this.start();
    const text = `Stopped after ${HARD_LIMIT_MS / 1000} s: reading this kernel takes too long. Make its loops, macros or sizes smaller.`;
    this.tell(graded ? { kind: "graded", error: text } : { kind: "error", stuck: true, error: { text, line: 0, column: 0 } });
  }

  heard(message) {
    if (message.kind === "ready") {
      this.ready = true;
      this.tell(message);
    } else if (ENDS.includes(message.kind)) {
      clearTimeout(this.timer);
      this.running = null;
      if (this.line) this.pictures(this.line);
      this.line = 0;
      if (message.id === this.newest) this.tell(message);
    } else if (message.kind !== "pictures" || message.id === this.newest) {
      this.tell(message);
    }
    this.send();
  }
}
