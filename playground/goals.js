// The panel of an exercise: whether the kernel is right, which goals it reaches, and hints, one after the other.

const NAMED = /^\s*\/\/\s*tilewright exercise:\s*(\S+)/m; // as learning/exercises/file.py finds it
const OVER_GOAL = "over-goal"; // the rule of findings that a goal's own row says already
const number = new Intl.NumberFormat("en-US");
const here = name => document.getElementById(name);

// The name of the exercise that a source is of; "" if it is of none.
export function exerciseOf(source) {
  return NAMED.exec(source)?.[1] || "";
}

// An element with text, in which `...` is code.
export function worded(name, text, kind = "") {
  const made = Object.assign(document.createElement(name), { className: kind });
  text.split("`").forEach((part, place) => {
    if (place % 2) made.append(Object.assign(document.createElement("code"), { textContent: part }));
    else made.append(part);
  });
  return made;
}

export class Goals {
  constructor() {
    this.name = "";
    this.exercises = new Map(); // {name, title, source, goal, size, hints} by name
    here("hint").addEventListener("click", () => this.hint());
  }

  // The panel for an exercise that is being graded; without one it is hidden.
  begin(name) {
    here("goals").hidden = !name;
    if (name !== this.name) {
      this.name = name;
      for (const each of ["graded", "hints"]) here(each).replaceChildren();
      this.offerHint();
    }
    this.say("Grading ...", "waiting");
  }

  hints() { return this.exercises.get(this.name)?.hints || []; }

  hint() {
    const place = here("hints").children.length;
    here("hints").append(worded("li", this.hints()[place]));
    this.offerHint();
  }

  offerHint() {
    const place = here("hints").children.length;
    here("hint").hidden = place >= this.hints().length;
    here("hint").textContent = `Hint ${place + 1} of ${this.hints().length}`;
  }

  say(text, kind) {
    here("passed").textContent = text;
    here("goals").className = `verdict ${kind}`;
  }

  // A grade: plain data of `tilewright grade`, or why there is none.
  show(message) {
    if (message.error) {
      here("graded").replaceChildren();
      this.say(message.error, "fault");
      return;
    }
    const { grade } = message;
    const wrong = grade.findings.filter(each => each.rule !== OVER_GOAL);
    const right = wrong.length ? "right, without faults" : `right, without faults: ${grade.tried.join(", ")}`;
    const rows = [this.row(right, !wrong.length, wrong.map(each => `Line ${each.line}: ${each.message}`))];
    grade.goals.forEach((goal, place) => {
      const value = goal.value === null ? "not counted until it is right" : `here ${number.format(goal.value)}`;
      rows.push(this.row(`${grade.sentences[place]}: ${value}`, goal.reached));
    });
    here("graded").replaceChildren(...rows);
    if (grade.passed) this.say("Passed: right, and as cheap as the solution.", "fine");
    else this.say("Not passed yet.", "costly");
  }

  row(text, reached, reasons = []) {
    const made = worded("li", text, reached ? "reached" : "missed");
    made.setAttribute("aria-label", `${reached ? "reached" : "not reached"}: ${text}`);
    made.append(...reasons.map(each => worded("p", each)));
    return made;
  }
}
