// The editor: CodeMirror with two gutters of its own (heat and marks), tooltips with counts, and sentences of errors.

import { basicSetup } from "codemirror";
import { cpp } from "@codemirror/lang-cpp";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, gutter, hoverTooltip, keymap } from "@codemirror/view";
import { indentWithTab } from "@codemirror/commands";
import { tags } from "@lezer/highlight";

const number = new Intl.NumberFormat("en-US");
const LETTERS = { local: "w", constant: "a" }; // wavefronts, addresses; sectors everywhere else
const setCosts = StateEffect.define();

// How many times as much as it must something costs.
const excess = each => each.cost / Math.max(each.least, 1);

// Green where an access costs no more than it must, yellow to red where it costs more; stronger, the more of all the cost.
function heat(cost, least, most) {
  const times = excess({ cost, least });
  const tone = times <= 1.05 ? "--cool" : times < 2 ? "--warm" : "--hot";
  return `rgba(var(${tone}), ${(0.1 + 0.45 * cost / most).toFixed(3)})`;
}

// The costs by line number: {text, short, colour}. Counts of memories cannot be added, so the hottest one colours a line.
export function costsByLine(page) {
  const most = {};
  for (const line of Object.values(page.lines))
    for (const [memory, each] of Object.entries(line)) most[memory] = Math.max(most[memory] || 1, each.cost);
  const found = new Map();
  for (const [place, line] of Object.entries(page.lines)) {
    const parts = Object.entries(line).filter(([, each]) => each.cost);
    if (!parts.length) continue;
    // One number is shown, that of the memory with the largest part of its sum here; a hover has all.
    const share = ([memory, each]) => each.cost / most[memory];
    const [memory, worst] = parts.reduce((a, b) => (share(b) - share(a) || excess(b[1]) - excess(a[1])) > 0 ? b : a);
    found.set(Number(place), {
      colour: heat(worst.cost, worst.least, most[memory]),
      short: `${shortened(worst.cost)}\u202f${LETTERS[memory] || "s"}`,
    });
  }
  return found;
}

function shortened(count) {
  if (count < 10000) return String(count);
  return count < 1e6 ? `${Math.round(count / 1e3)}k` : `${(count / 1e6).toPrecision(2)}M`;
}

class Cost extends GutterMarker {
  constructor(short) { super(); this.short = short; }
  eq(other) { return other.short === this.short; }
  toDOM() { return document.createTextNode(this.short); }
}

const costs = StateField.define({
  create: () => ({ lines: new Map(), backgrounds: Decoration.none }),
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setCosts)) continue;
      const builder = new RangeSetBuilder(), document = transaction.state.doc;
      for (const [line, each] of [...effect.value].sort((a, b) => a[0] - b[0])) {
        if (line > document.lines) continue;
        const attributes = { style: `background-color: ${each.colour}` };
        builder.add(document.line(line).from, document.line(line).from, Decoration.line({ attributes }));
      }
      return { lines: effect.value, backgrounds: builder.finish() };
    }
    return transaction.docChanged ? { ...value, backgrounds: value.backgrounds.map(transaction.changes) } : value;
  },
  provide: field => EditorView.decorations.from(field, value => value.backgrounds),
});

const costGutter = gutter({
  class: "cm-costs",
  lineMarker(view, block) {
    const found = view.state.field(costs).lines.get(view.state.doc.lineAt(block.from).number);
    return found ? new Cost(found.short) : null;
  },
  lineMarkerChange: update => update.transactions.some(each => each.effects.some(effect => effect.is(setCosts))),
  initialSpacer: () => new Cost("888k s"),
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: "var(--keyword)" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--type)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool], color: "var(--number)" },
  { tag: [tags.string, tags.character], color: "var(--string)" },
  { tag: tags.processingInstruction, color: "var(--number)" },
]);

export class Editor {
  // `changed` is called when the text changes, `moved` with a line when the cursor goes to another.
  constructor(parent, changed, moved) {
    this.told = new Map();
    let line = 1;
    const listener = EditorView.updateListener.of(update => {
      if (update.docChanged) changed();
      const now = update.state.doc.lineAt(update.state.selection.main.head).number;
      if (now !== line) moved(line = now);
    });
    const hover = hoverTooltip((view, position) => {
      const at = view.state.doc.lineAt(position), words = this.told.get(at.number);
      if (!words) return null;
      return { pos: at.from, end: at.to, above: true, create: () => ({ dom: tooltip(words) }) };
    });
    this.view = new EditorView({
      parent,
      extensions: [
        lintGutter(), costGutter, basicSetup, cpp(), indentUnit.of("    "), keymap.of([indentWithTab]),
        syntaxHighlighting(colours), costs, hover, listener, EditorState.tabSize.of(4),
        EditorView.contentAttributes.of({ "aria-label": "OpenCL C kernel" }),
      ],
    });
  }

  get text() { return this.view.state.doc.toString(); }
  set text(words) { this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: words } }); }
  get line() { return this.view.state.doc.lineAt(this.view.state.selection.main.head).number; }

  // Show counts, hovers and marks: `told` has sentences by line, `marks` are {line, column, text, severity}.
  show(lines, told, marks) {
    this.told = told;
    const document = this.view.state.doc;
    const diagnostics = marks.filter(each => each.line >= 1 && each.line <= document.lines).map(each => {
      const line = document.line(each.line);
      const from = Math.min(line.to, line.from + Math.max(0, each.column - 1));
      return { from, to: Math.max(line.to, from), severity: each.severity, message: each.text };
    });
    this.view.dispatch({ effects: setCosts.of(lines) });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics.sort((a, b) => a.from - b.from)));
  }
}

function tooltip(words) {
  const box = document.createElement("div");
  box.className = "told";
  for (const each of words) box.append(Object.assign(document.createElement("p"), { textContent: each }));
  return box;
}

export function toldByLine(page) {
  const found = new Map();
  const add = (line, words) => line && found.set(line, [...(found.get(line) || []), words]);
  for (const each of page.accesses) {
    const conflicts = each.conflicts ? `, ${number.format(each.conflicts)} lost to bank conflicts` : "";
    add(each.line, `${each.text}: ${number.format(each.cost)} ${each.unit} in ${number.format(each.requests)} requests, ` +
      `at least ${number.format(each.least)}${conflicts}`);
  }
  return found;
}
