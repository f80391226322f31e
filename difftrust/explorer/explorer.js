// The explorer of tasks: one module for the notebook, the dashboard and the offline report.
// It holds one benchmark in whole numbers (difftrust/explorer/cube.py) and computes each setting by itself.
// Words of others are only ever set as text.

const FIRST = 48; // the character of the number 0 in a packed text
const NS = "http://www.w3.org/2000/svg";
const LEAST = 1e-3; // the smallest share that the logarithmic axes tell from 0
const RESAMPLES = 1000;
const REST = 180; // milliseconds after which a hand on a slider rests
const PLACES = { domain: "in the domain", types: "outside the declared types", outside: "outside the domain" };
const STATUS = {
  right: "all programs right",
  detected: "wrong, programs disagree",
  silent: "wrong although all agree",
  disagree: "programs disagree",
  agree: "all programs agree",
};

// ---- Numbers -------------------------------------------------------------------------------------------------------

/** Return a cube from its gzipped JSON. */
export async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Cube(await new Response(stream).json());
}

/** One benchmark under one reading: what was recorded, and the measures of every setting of it. */
export class Cube {
  constructor(said) {
    Object.assign(this, said);
    this.place = new Map(this.tasks.map((task, i) => [task.id, i]));
    this.kept = new Map();
    for (const task of this.tasks) decode(task);
  }

  coder(model, temperature) {
    return this.coders.find((one) => this.models[one.model].id === model && one.temperature === temperature);
  }

  temperatures(model) {
    return this.coders.filter((one) => this.models[one.model].id === model).map((one) => one.temperature);
  }

  /** Return on how many inputs the first m candidates were all executed, on every task that has one of them. */
  reach(coder, m) {
    coder.reach ??= [];
    coder.reach[m] ??= Math.min(
      ...this.tasks.map((task, i) => {
        const { rows } = this.samples(coder, m)[i];
        if (!rows.length) return Infinity;
        const reach = (row) => (Array.isArray(task.reach) ? task.reach[row] : task.reach);
        return Math.min(task.n, ...rows.map(reach), task.has_reference ? reach(0) : Infinity);
      }),
    );
    return coder.reach[m];
  }

  /** Return the numbers of programs that are recorded: from 2 to those of the task that has most. */
  counts(coder) {
    const most = Math.max(2, ...coder.rows.map((rows) => rows.length));
    return Array.from({ length: most - 1 }, (_, i) => i + 2);
  }

  /** Return the numbers of inputs that all of the first m programs were executed on. */
  inputCounts(coder, m) {
    const found = this.stops.filter((stop) => stop <= this.reach(coder, m));
    return found.length ? found : [this.stops[0]];
  }

  /** Return of each task which rows a coder's first m candidates show, and how many of them show each. */
  samples(coder, m) {
    coder.samples ??= [];
    return (coder.samples[m] ??= coder.rows.map((text) => {
      const found = new Map();
      for (const character of text.slice(0, m)) {
        if (character !== "!") found.set(label(character), (found.get(label(character)) || 0) + 1);
      }
      return { rows: [...found.keys()], sizes: [...found.values()] };
    }));
  }

  /** Return how many of the first n inputs are of each column of a task; n is one of the stops. */
  weights(task, n) {
    const last = Math.min(this.stops.indexOf(n), task.weights.length - 1);
    for (let stop = task.sums.length; stop <= last; stop++) {
      const before = task.sums[stop - 1] ?? [], more = task.weights[stop];
      const found = new Int32Array(Math.max(before.length, more.length));
      found.set(before);
      more.forEach((count, i) => (found[i] += count));
      task.sums.push(found);
    }
    return task.sums[last];
  }

  /** Return a row's labels on the columns that the first n inputs use, as one text. */
  behaviour(task, row, n) {
    if (!task.strings.has(row)) {
      let text = "";
      for (let at = row; at < task.labels.length; at += task.height) text += String.fromCharCode(FIRST + task.labels[at]);
      task.strings.set(row, text);
    }
    return task.strings.get(row).slice(0, this.weights(task, n).length);
  }

  /** Return the measures of each task, null for one without candidates, and their means. */
  measure(coder, m, n) {
    const key = `${coder.model} ${coder.temperature} ${m} ${n}`;
    if (!this.kept.has(key)) {
      if (this.kept.size > 200) this.kept.clear();
      const tasks = this.samples(coder, m).map((own, i) => this.measureTask(this.tasks[i], own, n));
      this.kept.set(key, { tasks, ...summary(tasks.filter(Boolean)) });
    }
    return this.kept.get(key);
  }

  measureTask(task, { rows, sizes }, n) {
    if (!rows.length) return null;
    const { labels, height } = task;
    const m = sum(sizes), pairs = m * (m - 1), weights = this.weights(task, n), known = task.has_reference;
    let differing = 0, errors = 0, noneDiffer = 1, noneWrong = 1;
    for (let c = 0, at = 0; c < weights.length; c++, at += height) {
      if (!weights[c]) continue;
      let apart = m * m;
      for (let i = 0; i < rows.length; i++) TALLY[labels[at + rows[i]]] += sizes[i];
      const wrong = m - TALLY[0];
      for (let i = 0; i < rows.length; i++) {
        const alike = labels[at + rows[i]];
        apart -= TALLY[alike] ** 2;
        TALLY[alike] = 0;
      }
      if (apart) {
        differing += apart * weights[c];
        noneDiffer *= (1 - apart / pairs) ** weights[c];
      }
      if (wrong) {
        errors += wrong * weights[c];
        noneWrong *= (1 - wrong / m) ** weights[c];
      }
    }
    return {
      m,
      error: known ? errors / (m * n) : NaN,
      incoherence: pairs ? differing / (pairs * n) : NaN,
      pDetected: pairs ? 1 - noneDiffer : NaN,
      pErroneous: known ? 1 - noneWrong : NaN,
      detected: pairs ? differing > 0 || rows.some((row) => task.failed.includes(row)) : null,
    };
  }

  /** Return the clusters of a task's candidates, the largest first, those that do not load last. */
  clusters(index, coder, m, n) {
    const task = this.tasks[index], found = new Map();
    const { rows, sizes } = this.samples(coder, m)[index];
    for (const [i, row] of rows.entries()) {
      const key = this.behaviour(task, row, n);
      const one = found.get(key) ?? { behaviour: key, rows: [], size: 0, loads: !task.failed.includes(row) };
      one.rows.push(row);
      one.size += sizes[i];
      found.set(key, one);
    }
    const weights = this.weights(task, n);
    const made = [...found.values()].sort((a, b) => b.loads - a.loads || b.size - a.size);
    for (const one of made) {
      one.wrong = weights.reduce((sum, count, c) => sum + (label(one.behaviour[c]) ? count : 0), 0);
    }
    return made;
  }
}

const label = (character) => character.charCodeAt(0) - FIRST;

const TALLY = new Int32Array(1 << 16); // by label; 0 between calls

/** Put a task's rows into one array of labels, row by row within a column; each is spelled by its difference from another. */
function decode(task) {
  const height = (task.height = task.rows.length), width = task.rows[0].length - 1;
  const labels = (task.labels = new Uint16Array(width * height));
  task.rows.forEach((text, row) => {
    const alike = label(text[0]);
    for (let c = 0, at = 0; c < width; c++, at += height) {
      const said = text.charCodeAt(c + 1) - FIRST;
      labels[at + row] = said > 0 ? said - 1 : said || labels[at + alike];
    }
  });
  task.sums = [];
  task.strings = new Map();
}

/** Return the means over tasks, each over those that define it; NaN where none does. */
export function summary(tasks) {
  const both = tasks.filter((one) => !Number.isNaN(one.pErroneous) && !Number.isNaN(one.pDetected));
  const wrong = tasks.filter((one) => one.error > 0 && one.detected !== null);
  const silent = tasks.filter((one) => !Number.isNaN(one.error) && one.detected !== null);
  return {
    error: mean(tasks.map((one) => one.error)),
    incoherence: mean(tasks.map((one) => one.incoherence)),
    detection: sum(both.map((one) => one.pErroneous * one.pDetected)) / sum(both.map((one) => one.pErroneous)),
    detectionAllPairs: mean(wrong.map((one) => +one.detected)),
    silent: mean(silent.map((one) => +(one.error > 0 && !one.detected))),
    nTasks: tasks.length,
  };
}

const NOT_RECORDED = "Not recorded here: ";
const SETTINGS = { benchmark: "benchmark", inputs: "inputs", model: "model", t: "temperature", m: "m", n: "n", task: "task", with: "model B", with_t: "temperature of B", with_m: "m of B", with_store: "store of B" };

/** Return in words what of a setting asked for is not the one shown; nothing where all is. */
function notRecorded(asked, shown) {
  const isOther = (name) => asked[name] !== undefined && asked[name] !== "" && String(asked[name]) !== String(shown[name]) && Number(asked[name]) !== shown[name];
  const moved = Object.keys(SETTINGS).filter(isOther).map((name) => `${SETTINGS[name]} ${String(asked[name]).slice(0, 40)}${shown[name] === undefined ? "" : ` (shown: ${shown[name]})`}`);
  return moved.length ? `${NOT_RECORDED}${moved.join(", ")}.` : "";
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
function mean(values) {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length ? sum(known) / known.length : NaN;
}

/** Return the ends of the 95 % percentile interval over tasks of each statistic; the same for the same tasks. */
function intervals(rows, statistics) {
  if (rows.length < 2) return {};
  let seed = 1;
  const random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const draws = new Int32Array(rows.length);
  const terms = Object.entries(statistics).map(([name, term]) => {
    const weights = new Float64Array(rows.length), products = new Float64Array(rows.length);
    rows.map(term).forEach(([value, weight], i) => {
      if (weight > 0) [weights[i], products[i]] = [weight, value * weight]; // NaN weighs nothing
    });
    return { name, weights, products, means: new Float64Array(RESAMPLES) };
  });
  for (let b = 0; b < RESAMPLES; b++) {
    for (let i = 0; i < draws.length; i++) draws[i] = random() * draws.length;
    for (const { weights, products, means } of terms) {
      let above = 0, below = 0;
      for (let i = 0; i < draws.length; i++) {
        above += products[draws[i]];
        below += weights[draws[i]];
      }
      means[b] = above / below;
    }
  }
  return Object.fromEntries(terms.map(({ name, means }) => {
    const sorted = means.filter((value) => !Number.isNaN(value)).sort();
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return [name, sorted.length ? [at(0.025), at(0.975)] : null];
  }));
}

const weighed = (value) => [value, Number.isNaN(value) ? 0 : 1];
const OF_ONE = {
  error: (one) => weighed(one.error),
  incoherence: (one) => weighed(one.incoherence),
  detection: (one) => [one.pDetected, Number.isNaN(one.pDetected) ? 0 : one.pErroneous],
  silent: (one) => [+(one.error > 0 && !one.detected), Number.isNaN(one.error) || one.detected === null ? 0 : 1],
};
const OF_PAIR = { difference: ([a, b]) => weighed(a.error - b.error) };

// ---- Words ---------------------------------------------------------------------------------------------------------

function percent(share) {
  if (share === null || share === undefined || Number.isNaN(share)) return "undefined";
  return share < 0.0995 ? `${(100 * share).toFixed(1)} %` : `${(100 * share).toFixed(0)} %`;
}
function shareInWords(share) {
  if (share === 0 || share === 1 || (share >= 0.095 && share < 0.995)) return `${Math.round(100 * share)} %`;
  if (share >= 0.995) return "more than 99 %";
  return share >= 0.001 ? `${(100 * share).toFixed(1)} %` : "less than 0.1 %";
}
const ends = (pair, digits = 1) => pair ? `[${pair.map((end) => (100 * end).toFixed(digits)).join(", ")}]` : "";
const count = (n, noun = "program") => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** Return what happened with a task's programs. */
function statusOf(one) {
  if (Number.isNaN(one.error)) return one.detected ? "disagree" : "agree";
  return one.error === 0 ? "right" : one.detected ? "detected" : "silent";
}

/** Return in one sentence how the programs of a task behave. */
function headline(cube, task, clusters, n) {
  const loading = clusters.filter((one) => one.loads), m = sum(loading.map((one) => one.size));
  const failed = sum(clusters.map((one) => one.size)) - m;
  if (!loading.length) return `${count(failed)} do not load.`;
  const fails = failed ? `; ${failed} more ${failed === 1 ? "does" : "do"} not load.` : ".";
  if (loading.length === 1) {
    const said = m === 1 ? "1 program" : `${count(m)} behave alike`;
    if (!task.has_reference) return said + fails;
    const share = loading[0].wrong / n;
    return said + (share ? `, wrong on ${shareInWords(share)} of inputs` : ", right on every input") + fails;
  }
  const weights = cube.weights(task, n);
  const parted = sum(weights.map((w, c) => loading.some((one) => one.behaviour[c] !== loading[0].behaviour[c]) ? w : 0));
  const right = sum(loading.filter((one) => one.wrong === 0).map((one) => one.size));
  const truth = task.has_reference ? `; ${right || "none"} ${right === 1 || !right ? "is" : "are"} right on every input` : "";
  return `${count(m)} show ${loading.length} behaviours and disagree on ${shareInWords(parted / n)} of inputs${truth}${fails}`;
}

/** Return a name of others in one short line, with what could hide or reorder made visible. */
function nameInWords(name) {
  const short = name.length > 120 ? `${name.slice(0, 119)}…` : name;
  return short.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) => `⟨U+${hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// ---- Inputs of a task ----------------------------------------------------------------------------------------------

/** Return the inputs worth reading: in the domain first, then the smallest found, then those of most programs. */
function inputsOf(cube, task, clusters, n) {
  const loading = clusters.filter((one) => one.loads), weights = cube.weights(task, n), found = new Map();
  const clusterOf = (row) => row < 0 ? null : clusters.find((one) => one.behaviour === cube.behaviour(task, row, n));
  for (const one of task.smallest) {
    const [a, b] = one.rows.map(clusterOf);
    const whole = one.kind === "wrong" ? task.has_reference && a : a && b && a !== b;
    if (!whole || !a.loads || (one.kind === "wrong" && a.wrong === 0)) continue;
    const shown = found.get(one.arguments) ?? { arguments: one.arguments, place: one.place, smallest: one.is_smallest, answers: [] };
    [[a, one.outcomes[0]], [b, one.outcomes[1]]].forEach(([who, [kind, text]], side) => {
      if (kind) addAnswer(shown.answers, side && one.kind === "wrong" ? null : who, kind, text, task);
    });
    found.set(one.arguments, shown);
  }
  const measured = [];
  for (const one of task.telling) {
    if (one.column >= weights.length || !weights[one.column] || found.has(one.arguments)) continue;
    const labels = loading.map((cluster) => label(cluster.behaviour[one.column]));
    const isWrong = task.has_reference && labels.some((each) => each !== 0);
    if (!isWrong && labels.every((each) => each === labels[0])) continue;
    const answers = [];
    for (const [own, kind, text] of one.outcomes) {
      const whose = loading.filter((cluster) => label(cluster.behaviour[one.column]) === own);
      for (const cluster of whose) addAnswer(answers, cluster, kind, text, task, own === 0);
      if (!whose.length && own === 0 && task.has_reference) addAnswer(answers, null, kind, text, task);
    }
    measured.push({ arguments: one.arguments, column: one.column, place: cube.is_inside ? "domain" : null, inputs: weights[one.column], answers });
  }
  const order = ["domain", null, "types", "outside"];
  const size = (one) => sum(one.answers.map((answer) => answer.size));
  return [...found.values(), ...measured].sort((a, b) =>
    order.indexOf(a.place ?? null) - order.indexOf(b.place ?? null) ||
    (a.smallest === undefined) - (b.smallest === undefined) ||
    size(b) - size(a) || a.arguments.length - b.arguments.length);
}

function addAnswer(answers, cluster, kind, text, task, isRight = false) {
  const key = `${kind} ${text}`;
  const isRightElsewhere = (each) => each.right || [...each.clusters].every((other) => other.wrong === 0);
  let one = answers.find((each) => each.key === key && (cluster || isRightElsewhere(each)));
  if (!one) answers.push((one = { key, kind, text, size: 0, clusters: new Set(), reference: false, right: false }));
  if (!cluster) one.reference = one.right = task.has_reference;
  else if (!one.clusters.has(cluster)) {
    one.clusters.add(cluster);
    one.size += cluster.size;
  }
  one.right ||= isRight && task.has_reference;
  answers.sort((a, b) => b.size - a.size);
}

/** Return the measured inputs on which the outcome of most programs of A is not that of B, the shortest first. */
function majoritiesDiffer(task, a, b) {
  const most = (clusters, column) => {
    const sizes = new Map();
    for (const one of clusters) if (one.loads) sizes.set(one.behaviour[column], (sizes.get(one.behaviour[column]) || 0) + one.size);
    return [...sizes].sort((x, y) => y[1] - x[1])[0]?.[0];
  };
  return task.telling
    .map((one) => ({ one, sides: [most(a, one.column), most(b, one.column)] }))
    .filter(({ sides: [x, y] }) => x && y && x !== y && x !== "!" && y !== "!")
    .sort((x, y) => x.one.arguments.length - y.one.arguments.length)
    .map(({ one, sides }) => ({
      arguments: one.arguments,
      answers: sides.map((side, i) => {
        const said = one.outcomes.find(([own]) => own === label(side));
        return { who: i ? "most of B" : "most of A", kind: said?.[1], text: said?.[2] ?? "", right: task.has_reference && label(side) === 0 };
      }),
    }));
}

function outcome(kind, text) {
  if (!kind) return "not recorded";
  const name = kind.replaceAll("_", " ");
  return kind === "value" ? text : text ? `${name}: ${text}` : name;
}

// ---- Page ----------------------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
function draw(tag, attributes = {}, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
/** Return a table of headings and rows of cells. */
function table(names, rows) {
  const row = (cells, tag, attributes) => make("tr", {}, ...cells.map((cell) => make(tag, attributes, cell)));
  return make("table", {}, make("thead", {}, row(names, "th", { scope: "col" })), make("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
}
const pale = (...words) => make("p", { class: "pale" }, ...words);
const folded = (title, attributes, ...parts) => make("details", attributes, make("summary", {}, title), ...parts);
/** Write a property where it differs: a write costs a layout, a look does not. */
function put(element, name, value) {
  if (element[name] !== value) element[name] = value;
}
const numberOr = (usual, asked) => Number.isFinite(Number(asked ?? NaN)) ? Number(asked) : usual;
const nearest = (values, wanted) => values.reduce((best, value) => Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best, values[0]);
let made = 0;

/**
 * Show the explorer in ``root``.
 * ``home``: benchmarks and inputs ([{id, words}]) that there are; ``cube(benchmark, inputs)`` a promise of bytes;
 * ``details(task, state)`` a promise of what the place knows more; ``changed(state)`` hears every change;
 * ``state``: what is chosen at first, as an address spells it; ``isDark()``.
 */
export function mount(root, home) {
  const explorer = new Explorer(root, home);
  explorer.drawn = explorer.open(home.state ?? {});
  return explorer;
}

class Explorer {
  constructor(root, home) {
    this.home = home;
    this.cubes = new Map();
    this.revision = 0;
    this.dots = new Map();
    this.name = `difftrust-${++made}`;
    this.root = make("div", { class: "difftrust-explorer", "data-testid": "explorer", "data-revision": 0 });
    root.replaceChildren(this.root);
    this.suitGround();
    this.build();
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.size = [560, 420];
    this.watch = new ResizeObserver(([{ contentRect }]) => {
      this.size = [contentRect.width, contentRect.height].map(Math.round);
      if (this.cube) this.drawCloud();
    });
    this.watch.observe(this.svg);
  }

  build() {
    const slider = (name, title) => {
      const input = make("input", { type: "range", min: 0, step: 1, "data-testid": `explorer-${name}`, "aria-label": title });
      const said = make("output", {});
      input.addEventListener("input", () => this.slide(name, +input.value));
      this.sliders[name] = { input, said };
      return make("label", { class: "slider" }, make("span", {}, title), input, said);
    };
    this.sliders = {};
    const choose = (title, changed, attributes = {}) => make("select", { "aria-label": title, onchange: (e) => changed(e.target.value), ...attributes });
    this.benchmark = choose("Benchmark", (benchmark) => this.open({ ...this.state, benchmark, task: undefined }));
    this.inputs = choose("Inputs", (inputs) => this.open({ ...this.state, inputs }));
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "Models" });
    this.compare = make("button", { type: "button", "data-testid": "explorer-compare", "aria-pressed": "false", onclick: () => this.toggleCompare() }, "+ Compare");
    this.bModel = choose("Compare with: model", (model) => this.set({ with: model, with_t: undefined }));
    this.bTemperature = choose("Compare with: temperature", (t) => this.set({ with_t: +t }));
    this.bCount = choose("Compare with: programs", (m) => this.set({ with_m: +m }));
    this.bStore = choose("Compare with: store", (store) => this.open({ ...this.state, with_store: store || undefined }));
    this.second = make("span", { class: "second", hidden: true }, "with B: ", this.bStore, this.bModel, " T ", this.bTemperature, " m ", this.bCount);
    this.numbers = make("div", { class: "numbers", role: "group", "aria-label": "Numbers at this setting" },
      ...Array.from({ length: 4 }, () => make("div", {}, make("b"), make("span", { class: "ends" }), make("span", { class: "words" }))));
    this.search = make("input", { type: "search", placeholder: "/ search", "aria-label": "Search tasks", oninput: (e) => this.set({ search: e.target.value }) });
    this.kinds = choose("Kind of arguments", (args) => this.set({ args }));
    this.happened = choose("What happened", (only) => this.set({ only }));
    this.scale = make("button", { type: "button", "aria-label": "Axes", onclick: () => this.set({ scale: this.state.scale === "linear" ? "log" : "linear" }) });
    this.copy = make("button", { type: "button", onclick: () => this.copyLink() }, "Copy link");
    this.save = make("a", { class: "button", download: "difftrust-report.html", hidden: !this.home.report }, "Save report");
    this.svg = draw("svg", { class: "cloud", role: "listbox", tabindex: "0", "aria-label": "Tasks", "aria-describedby": `${this.name}-about` });
    this.layers = Object.fromEntries(["ground", "trails", "points", "notes"].map((name) => [name, draw("g", { class: name, role: "presentation" })]));
    this.svg.append(...Object.values(this.layers));
    this.trail = this.layers.trails.appendChild(draw("path", { class: "trail" }));
    this.legend = make("p", { class: "legend" }, ...Object.entries(STATUS).map(([status, words]) =>
      make("span", {}, make("i", { class: `swatch ${status}` }), make("b"), ` ${words}`)));
    this.hover = make("p", { class: "hover", "aria-live": "polite" });
    this.about = make("p", { class: "pale", id: `${this.name}-about` });
    this.note = make("p", { class: "note", role: "status" });
    this.pane = make("section", { class: "pane", "data-testid": "explorer-pane", "data-task": "", "aria-label": "The picked task", tabindex: "0" });
    this.below = make("div", { class: "below" });
    this.root.append(
      make("div", { class: "controls" },
        make("div", { class: "row" }, this.benchmark, this.inputs, slider("m", "programs m"), slider("n", "inputs n"), slider("temperature", "temperature")),
        make("div", { class: "row" }, this.chips, this.compare, this.second, this.copy, this.save)),
      this.numbers, make("p", { class: "pale" }, "In brackets: 95 % intervals over tasks by percentile bootstrap; tables have BCa intervals, which differ a little."), this.note,
      make("div", { class: "halves" },
        make("div", { class: "left" },
          make("div", { class: "row tools" }, this.search, this.kinds, this.happened, this.scale),
          this.svg, this.legend, this.hover, this.about),
        this.pane),
      this.below);
    this.listenToDots();
  }

  // -- What is chosen --

  /** Show a state: fetch its results where they are not here yet. */
  async open(wanted) {
    const benchmarks = this.home.benchmarks, inputs = this.home.inputs;
    const state = { ...wanted };
    if (!benchmarks.includes(state.benchmark)) state.benchmark = benchmarks[0];
    if (!inputs.some((one) => one.id === state.inputs)) state.inputs = inputs[0].id;
    if (!this.home.stores?.some((one) => one.id === state.with_store)) delete state.with_store;
    const ticket = (this.ticket = { change: {} });
    const read = (store) => this.results(state.benchmark, state.inputs, store).catch((error) => {
      if (ticket !== this.ticket) return null;
      this.note.textContent = `These results could not be read: ${error.message}. Choose others, or load the page again.`;
      return null;
    });
    this.note.textContent = "";
    const [cube, otherCube] = await Promise.all([read(), state.with_store ? read(state.with_store) : null]);
    if (ticket !== this.ticket) return;
    this.ticket = null;
    if (!cube) return;
    if (!otherCube) delete state.with_store;
    Object.assign(state, ticket.change); // what was chosen while it was read
    this.otherCube = state.with_store ? otherCube : null;
    this.cube = cube;
    this.dots.clear();
    this.layers.points.replaceChildren();
    this.state = this.believed(state);
    this.note.textContent = notRecorded({ ...wanted, ...ticket.change }, this.state);
    fill(this.benchmark, benchmarks.map((name) => [name, nameInWords(name)]), state.benchmark);
    fill(this.inputs, inputs.map((one) => [one.id, one.words]), state.inputs);
    this.inputs.hidden = inputs.length < 2;
    this.benchmark.hidden = benchmarks.length < 2;
    fill(this.kinds, [["", "any arguments"], ...cube.kinds.map((kind) => [kind, kind])], this.state.args);
    this.makeChips();
    this.update({ isNew: true });
  }

  /** Return the results of a benchmark, of another store where one is named; they are asked for once. */
  async results(benchmark, inputs, store) {
    const key = `${benchmark} ${inputs} ${store ?? ""}`;
    if (!this.cubes.has(key)) {
      this.note.textContent = "Reading the results …";
      this.cubes.set(key, Promise.resolve(this.home.cube(benchmark, inputs, store)).then(unpack));
    }
    try {
      return await this.cubes.get(key);
    } catch (error) {
      this.cubes.delete(key);
      throw error;
    } finally {
      if (this.note.textContent.endsWith("…")) this.note.textContent = "";
    }
  }

  /** Return a state of which everything is recorded: what is not moves to what is nearest. */
  believed(state) {
    const cube = this.cube, usual = cube.usual, found = { ...state };
    const models = cube.models.map((one) => one.id);
    if (!models.includes(found.model)) found.model = models.includes(usual.model) ? usual.model : models[0];
    const settle = (from, model, t, m) => {
      const temperature = nearest(from.temperatures(model), numberOr(usual.temperature, t));
      const coder = from.coder(model, temperature);
      return [temperature, nearest(from.counts(coder), numberOr(usual.m, m)), coder];
    };
    [found.t, found.m, this.coder] = settle(cube, found.model, found.t, found.m);
    const second = (this.bCube = this.otherCube ?? cube), theirs = second.models.map((one) => one.id);
    if (this.otherCube && !theirs.includes(found.with)) found.with = theirs.includes(found.model) ? found.model : theirs[0];
    this.other = null;
    if (theirs.includes(found.with)) {
      [found.with_t, found.with_m, this.other] = settle(second, found.with, found.with_t ?? found.t, found.with_m ?? found.m);
    } else {
      delete found.with; delete found.with_t; delete found.with_m;
    }
    const reach = Math.min(cube.reach(this.coder, found.m), this.other ? second.reach(this.other, found.with_m) : Infinity);
    const stops = cube.stops.filter((stop) => stop <= reach && second.stops.includes(stop));
    this.stops = stops.length ? stops : [cube.stops[0]];
    found.n = nearest(this.stops, numberOr(usual.n, found.n));
    if (!cube.place.has(found.task)) delete found.task;
    if (!cube.kinds.includes(found.args)) delete found.args;
    if (!Object.hasOwn(STATUS, found.only)) delete found.only;
    found.scale = found.scale === "linear" ? "linear" : "log";
    return found;
  }

  /** Change some of what is chosen, and show it at once. */
  set(change, how = {}) {
    if (!this.cube) return;
    if (this.ticket) Object.assign(this.ticket.change, change);
    if (this.note.textContent.startsWith(NOT_RECORDED)) this.note.textContent = "";
    this.state = this.believed({ ...this.state, ...change });
    this.update(how);
  }

  slide(name, position) {
    const key = name === "temperature" ? "t" : name;
    this.set({ [key]: this.positions[name][position] }, { isMoving: true });
  }

  /** Compare with the same model at the temperature that is farthest, with another model where only one is recorded. */
  toggleCompare() {
    const { state, cube } = this, none = { with: undefined, with_t: undefined, with_m: undefined, with_store: undefined };
    if (this.other) {
      this.otherCube = null;
      return this.set(none);
    }
    const far = cube.temperatures(state.model).reduce((best, t) => (Math.abs(t - state.t) > Math.abs(best - state.t) ? t : best), state.t);
    const others = cube.models.map((one) => one.id).filter((id) => id !== state.model && cube.coder(id, state.t));
    this.set(far === state.t && others.length ? { ...none, with: others[0] } : { ...none, with: state.model, with_t: far });
  }

  // -- What is shown --

  /** Show numbers and dots at once; what is read or costs more, once the hand rests. */
  update({ isNew = false, isMoving = false }) {
    const { state, cube } = this;
    this.a = cube.measure(this.coder, state.m, state.n);
    this.b = this.other && this.measuredB();
    this.showControls();
    this.showNumbers({});
    this.drawCloud(!isNew);
    if (!isMoving) this.showPane();
    Object.assign(this.root.dataset, {
      m: state.m, n: state.n, temperature: state.t, model: state.model, benchmark: cube.benchmark,
      error: this.a.error, incoherence: this.a.incoherence, detection: this.a.detection, revision: ++this.revision,
    });
    clearTimeout(this.later);
    this.later = setTimeout(() => this.rest(isMoving), isMoving ? REST : 0);
  }

  /** Return the measures of B, task by task as A's stand. */
  measuredB() {
    const found = this.bCube.measure(this.other, this.state.with_m, this.state.n);
    if (!this.otherCube) return found;
    return { ...found, tasks: this.cube.tasks.map((task) => found.tasks[this.otherCube.place.get(task.id)] ?? null) };
  }

  /** Return what is chosen as an address spells it: what is not the default of an empty address. */
  address() {
    const found = {};
    for (const [name, value] of Object.entries(this.state)) {
      if (value !== undefined && value !== "" && !(name === "scale" && value === "log")) found[name] = String(value);
    }
    return found;
  }

  showControls() {
    const { state, cube } = this;
    this.positions = { m: cube.counts(this.coder), n: this.stops, temperature: cube.temperatures(state.model) };
    for (const [name, { input, said }] of Object.entries(this.sliders)) {
      const values = this.positions[name], value = name === "temperature" ? state.t : state[name];
      const spelled = value.toLocaleString("en");
      put(input, "max", `${values.length - 1}`);
      put(input, "value", `${values.indexOf(value)}`);
      put(input, "disabled", values.length < 2);
      put(said, "textContent", spelled);
      put(input, "ariaValueText", spelled);
      put(input, "title", values.length > 20 ? `${values[0]} to ${values.at(-1)}` : `recorded: ${values.join(", ")}`);
    }
    for (const chip of this.chips.children) {
      const id = chip.dataset.model, isThere = Boolean(cube.coder(id, state.t));
      put(chip, "ariaPressed", `${id === state.model}`);
      put(chip, "className", isThere ? "chip" : "chip absent");
      put(chip, "title", isThere ? "" : `not recorded at temperature ${state.t}; recorded: ${cube.temperatures(id).join(", ")}`);
    }
    put(this.second, "hidden", !this.other);
    put(this.compare, "ariaPressed", `${Boolean(this.other)}`);
    put(this.compare, "textContent", this.other ? "× Compare" : "+ Compare");
    if (this.other) {
      const stores = this.home.stores ?? [];
      this.bStore.hidden = !stores.length;
      fill(this.bStore, [["", "this store"], ...stores.map((one) => [one.id, one.words])], state.with_store);
      fill(this.bModel, this.bCube.models.map((one) => [one.id, one.name]), state.with);
      fill(this.bTemperature, this.bCube.temperatures(state.with).map((t) => [t, t]), state.with_t);
      fill(this.bCount, this.bCube.counts(this.other).map((m) => [m, m]), state.with_m);
    }
    const isJudged = (status) => !["disagree", "agree"].includes(status); // which needs a reference
    const offered = Object.entries(STATUS).filter(([status]) => cube.tasks.some((task) => task.has_reference === isJudged(status)));
    fill(this.happened, [["", "any outcome"], ...offered], state.only);
    if (document.activeElement !== this.search && this.root.getRootNode().activeElement !== this.search) this.search.value = state.search ?? "";
    put(this.scale, "textContent", state.scale === "linear" ? "linear axes" : "log axes");
  }

  makeChips() {
    this.chips.replaceChildren(...this.cube.models.map((one) => make("button", {
      type: "button", class: "chip", "data-testid": "explorer-model", "data-model": one.id, "aria-pressed": "false",
      onclick: () => this.set({ model: one.id }),
    }, one.name)));
  }

  nameOf(model, cube = this.cube) {
    return cube.models.find((one) => one.id === model).name;
  }

  showNumbers(limits) {
    const { a, b } = this;
    let said = [
      [percent(a.error), ends(limits.error), "error"],
      [percent(a.incoherence), ends(limits.incoherence), "incoherence"],
      [percent(a.detection), ends(limits.detection, 0), "of the wrong tasks detected"],
      [percent(a.silent), ends(limits.silent), "of the tasks wrong, all agree"],
    ];
    if (b) {
      const sign = (value) => `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)}`;
      const range = limits.difference, isSure = range && (range[0] > 0 || range[1] < 0);
      const verdict = range ? (isSure ? "; more than chance" : "; may be chance") : "";
      said = [
        [percent(a.error), "", `error of A: ${this.sideInWords("a")}`],
        [percent(b.error), "", `error of B: ${this.sideInWords("b")}`],
        [`${sign(a.error - b.error)} points`, range ? `[${range.map(sign).join(", ")}]` : "", `A − B${verdict} (95 %, paired by task)`],
        [`${percent(a.detection)} · ${percent(b.detection)}`, "", "of the wrong tasks detected: A · B"],
      ];
    }
    said.forEach((words, i) => [...this.numbers.children[i].children].forEach((part, k) => put(part, "textContent", words[k])));
  }

  sideInWords(side) {
    const { state } = this;
    if (side === "a") return `${this.nameOf(state.model)}, T ${state.t}, m ${state.m}`;
    const store = this.otherCube ? `, ${this.home.stores.find((one) => one.id === state.with_store).words}` : "";
    return `${this.nameOf(state.with, this.bCube)}, T ${state.with_t}, m ${state.with_m}${store}`;
  }

  suitGround() {
    this.root.style.colorScheme = this.home.isDark ? (this.home.isDark() ? "dark" : "light") : "";
  }

  /** Follow with what takes some milliseconds: the pane, the tables, the 95 % intervals, the dots' names, the address. */
  rest(isMoved) {
    this.suitGround();
    if (isMoved) this.showPane();
    this.showTables();
    this.showNumbers(this.b ? intervals(this.pairs(), OF_PAIR) : intervals(this.a.tasks.filter(Boolean), OF_ONE));
    for (const dot of this.dots.values()) if (dot.isShown) dot.element.setAttribute("aria-label", this.inWords(dot));
    this.home.changed?.(this.address());
    if (this.home.report) this.save.href = this.home.report(this.address());
  }

  /** Return the measures of A and B on the tasks that both have an error on. */
  pairs(kind = null) {
    return this.a.tasks.map((a, i) => [a, this.b.tasks[i], i]).filter(([a, b, i]) =>
      a && b && !Number.isNaN(a.error) && !Number.isNaN(b.error) && (!kind || this.cube.tasks[i].kinds.includes(kind)));
  }

  /** Return whether the filters leave a task. */
  isShown(i) {
    const { search, args, only } = this.state, task = this.cube.tasks[i];
    if (search && !`${task.id} ${task.sentence ?? ""} ${task.signature ?? ""}`.toLowerCase().includes(search.toLowerCase())) return false;
    if (args && !task.kinds.includes(args)) return false;
    return !only || statusOf(this.a.tasks[i]) === only;
  }

  // -- The cloud --

  drawCloud(hasTrails = false) {
    const width = Math.max(280, this.size[0]), height = Math.max(240, this.size[1]);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const frame = { left: 52, right: width - 14, top: 14, bottom: height - 44 };
    const isLog = this.state.scale === "log";
    const along = (value, from, to) => {
      if (!isLog) return from + value * (to - from);
      const band = Math.sign(to - from) * Math.max(66, 0.1 * Math.abs(to - from));
      return value <= 0 ? from + band / 2 : from + band + (Math.log10(Math.max(value, LEAST)) / 3 + 1) * (to - from - band);
    };
    this.x = (value) => along(value, frame.left, frame.right);
    this.y = (value) => along(value, frame.bottom, frame.top);
    this.frame = frame;
    const look = `${width} ${height} ${this.state.scale} ${Boolean(this.b)}`;
    if (look !== this.look) {
      this.look = look;
      this.drawGround(frame, isLog);
      hasTrails = false;
    }
    this.placeDots(hasTrails);
    this.drawCounts(frame);
  }

  drawGround(frame, isLog) {
    const ground = this.layers.ground, ticks = isLog ? [0, 0.001, 0.01, 0.1, 1] : [0, 0.25, 0.5, 0.75, 1];
    const titles = this.b ? ["B's error", "A's error"] : ["incoherence", "error"];
    const middle = [(frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2];
    ground.replaceChildren(draw("rect", { class: "paper", x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top }));
    const line = Array.from({ length: 61 }, (_, i) => isLog ? LEAST ** (1 - i / 60) : i / 60);
    if (this.b) {
      ground.append(draw("path", { class: "diagonal", d: `M${[0, LEAST, 1].map((v) => `${this.x(v)},${this.y(v)}`).join("L")}` }));
    } else {
      const bound = line.map((v) => `${this.x(v)},${this.y(v / 2)}`);
      ground.append(draw("path", { class: "impossible", d: `M${this.x(line[0])},${frame.bottom}L${bound.join("L")}L${this.x(1)},${frame.bottom}Z` }));
      ground.append(draw("text", { class: "quiet", x: frame.right - 8, y: frame.bottom - 32, "text-anchor": "end" }, "impossible: E < I/2"));
    }
    for (const tick of ticks) {
      const words = tick && tick < 0.01 ? `${100 * tick} %` : `${Math.round(100 * tick)} %`;
      ground.append(
        draw("line", { class: "grid", x1: this.x(tick), x2: this.x(tick), y1: frame.top, y2: frame.bottom }),
        draw("line", { class: "grid", x1: frame.left, x2: frame.right, y1: this.y(tick), y2: this.y(tick) }),
        draw("text", { x: this.x(tick), y: frame.bottom + 17, "text-anchor": tick === 1 ? "end" : "middle" }, words),
        draw("text", { x: frame.left - 6, y: this.y(tick) + 4, "text-anchor": "end" }, words));
    }
    ground.append(
      draw("text", { class: "title", x: middle[0], y: frame.bottom + 36, "text-anchor": "middle" }, titles[0]),
      draw("text", { class: "title", x: 14, y: middle[1], transform: `rotate(-90 14 ${middle[1]})`, "text-anchor": "middle" }, titles[1]));
  }

  /** Move every dot to its place; dots at one place stand around it, so that each can be hit. */
  placeDots(hasTrails) {
    const taken = new Map(), { cube } = this;
    let trails = "";
    for (const [i, task] of cube.tasks.entries()) {
      const a = this.a.tasks[i], b = this.b ? this.b.tasks[i] : null;
      const error = a?.error, across = this.b ? b?.error : a?.incoherence;
      const isKnown = a && (!this.b || b) && !Number.isNaN(across) && !(this.b && Number.isNaN(error));
      const dot = this.dotOf(task, i), wasShown = dot.isShown;
      dot.isShown = Boolean(isKnown && this.isShown(i));
      if (dot.isShown !== wasShown) dot.element.style.display = dot.isShown ? "" : "none";
      if (!dot.isShown) continue;
      const px = this.x(across), py = this.y(Number.isNaN(error) ? 0 : error), key = `${Math.round(px)} ${Math.round(py)}`;
      const turn = taken.get(key) || 0;
      taken.set(key, turn + 1);
      const r = 2.3 * Math.sqrt(turn), angle = 2.39996 * turn;
      const x = +Math.max(3, px + r * Math.cos(angle)).toFixed(1), y = +(py - r * Math.sin(angle)).toFixed(1);
      if (hasTrails && wasShown && Math.hypot(x - dot.x, y - dot.y) > 6) trails += `M${dot.x},${dot.y}L${x},${y}`;
      if (dot.x !== x || dot.y !== y) dot.element.style.transform = `translate(${x}px,${y}px)`;
      const status = statusOf(a), isPicked = task.id === this.state.task, look = `dot ${status}${isPicked ? " picked" : ""}`;
      if (dot.look !== look) {
        dot.element.setAttribute("class", look);
        dot.element.setAttribute("aria-selected", isPicked);
      }
      Object.assign(dot, { x, y, status, look, error, across });
    }
    if (trails) {
      this.trail.setAttribute("d", trails);
      this.trail.animate({ opacity: [0.7, 0] }, 900);
    }
    this.corner = taken;
    const picked = this.state.task && this.dots.get(this.state.task);
    if (picked?.isShown) {
      this.svg.setAttribute("aria-activedescendant", picked.element.id);
      if (this.layers.points.lastChild !== picked.element) this.layers.points.append(picked.element);
    } else this.svg.removeAttribute("aria-activedescendant");
  }

  /** Return a dot's name. */
  inWords({ task, error, across, status }) {
    return `${nameInWords(task.id)}: error ${percent(error)}, ${this.b ? "B's error" : "incoherence"} ${percent(across)}, ${STATUS[status]}`;
  }

  dotOf(task, i) {
    let dot = this.dots.get(task.id);
    if (!dot) {
      const element = draw("circle", { r: 5, role: "option", id: `${this.name}-${i}`, "data-testid": "explorer-dot", "data-task": task.id, "aria-selected": "false" });
      this.layers.points.append(element);
      this.dots.set(task.id, (dot = { element, task, index: i, isShown: true }));
    }
    return dot;
  }

  drawCounts(frame) {
    const shown = [...this.dots.values()].filter((dot) => dot.isShown), notes = this.layers.notes;
    const zero = `${Math.round(this.x(0))} ${Math.round(this.y(0))}`, inCorner = this.corner.get(zero) || 0;
    const words = [];
    if (this.b) {
      const rows = this.quadrants();
      const corner = { top: frame.top + 16, bottom: frame.bottom - 6, left: frame.left + 52, right: frame.right - 6 };
      words.push(
        ["A wrong, B right", rows.onlyA, corner.left, corner.top, "start"], ["both wrong", rows.both, corner.right, corner.top, "end"],
        ["A right, B wrong", rows.onlyB, corner.right, corner.bottom, "end"], ["both right", rows.neither, corner.left, corner.bottom, "start"]);
    } else if (inCorner > 1) words.push([`${inCorner}: no error, no disagreement`, null, frame.left + 52, frame.bottom - 8, "start"]);
    const spelled = words.map(([said, tasks, ...place]) => [tasks ? `${said}: ${tasks.length}` : said, ...place]);
    if (this.spelled !== `${spelled}`) {
      this.spelled = `${spelled}`;
      notes.replaceChildren(...spelled.map(([said, x, y, anchor]) => draw("text", { class: "count", x, y, "text-anchor": anchor }, said)));
    }
    Object.keys(STATUS).forEach((status, i) => {
      const { length } = shown.filter((dot) => dot.status === status), entry = this.legend.children[i];
      put(entry, "hidden", !length);
      put(entry.children[1], "textContent", `${length}`);
    });
    put(this.about, "textContent", `A dot is a task; ${count(shown.length, "task")} shown. Click one for its inputs, drag to select, arrow keys walk, / searches, Escape clears.`);
  }

  /** Return the tasks that only A, only B, both or neither get wrong: places among the tasks. */
  quadrants() {
    const found = { onlyA: [], onlyB: [], both: [], neither: [] };
    for (const [a, b, i] of this.pairs()) {
      if (this.isShown(i)) found[a.error > 0 ? (b.error > 0 ? "both" : "onlyA") : b.error > 0 ? "onlyB" : "neither"].push(i);
    }
    return found;
  }

  listenToDots() {
    const dotAt = (event) => event.target.closest?.("[data-task]")?.dataset.task;
    this.svg.addEventListener("pointerover", (event) => {
      const dot = this.dots.get(dotAt(event));
      this.hover.textContent = dot ? this.inWords(dot) : "";
    });
    this.svg.addEventListener("pointerdown", (event) => this.startRegion(event));
    this.svg.addEventListener("click", (event) => {
      if (this.dragged) return void (this.dragged = false);
      const task = dotAt(event);
      if (task) this.pick(task);
    });
  }

  /** Select the tasks of the rectangle that is dragged; they stand below the chart. */
  startRegion(event) {
    if (event.button || event.pointerType === "touch") return;
    const box = this.svg.getBoundingClientRect(), ratio = this.svg.viewBox.baseVal.width / box.width;
    const at = (e) => [(e.clientX - box.left) * ratio, (e.clientY - box.top) * ratio];
    const [x0, y0] = at(event);
    let rectangle = null;
    const move = (e) => {
      const [x, y] = at(e);
      if (!rectangle && Math.hypot(x - x0, y - y0) < 5) return;
      rectangle ??= this.layers.notes.appendChild(draw("rect", { class: "region" }));
      const ends = { x: Math.min(x, x0), y: Math.min(y, y0), width: Math.abs(x - x0), height: Math.abs(y - y0) };
      for (const [name, value] of Object.entries(ends)) rectangle.setAttribute(name, value);
      this.region = ends;
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      if (!rectangle) return;
      rectangle.remove();
      this.dragged = true;
      setTimeout(() => (this.dragged = false), 0);
      const { x, y, width, height } = this.region;
      const within = (dot) => dot.isShown && dot.x >= x && dot.x <= x + width && dot.y >= y && dot.y <= y + height;
      this.selected = [...this.dots.values()].filter(within).map((dot) => dot.index);
      this.home.selected?.(this.selected.map((i) => this.cube.tasks[i].id));
      this.showTables();
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  pick(task) {
    this.place = 0;
    this.home.selected?.(task ? [task] : []);
    this.set({ task });
  }

  key(event) {
    const target = event.composedPath()[0], isTyping = target.matches?.("input[type=search], select, input[type=range]");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      this.selected = null;
      this.svg.focus({ preventScroll: true });
      this.pick(undefined);
      this.set({ search: "", args: undefined, only: undefined });
    } else if (target === this.search && event.key === "Enter") {
      this.svg.focus({ preventScroll: true });
      this.walk("ArrowRight");
    } else if (isTyping) return;
    else if (event.key === "/") this.search.focus();
    else if (event.key.startsWith("Arrow") && target === this.svg) this.walk(event.key);
    else if ("jkJK".includes(event.key) && event.key.length === 1) this.step(event.key.toLowerCase() === "j" ? 1 : -1);
    else if ((event.key === "Enter" || event.key === " ") && target === this.svg && this.state.task) this.pane.focus();
    else return;
    event.preventDefault();
  }

  /** Pick the next task from left to right or back, which passes by every dot, or the nearest above or below. */
  walk(key) {
    const shown = [...this.dots.values()].filter((dot) => dot.isShown).sort((a, b) => a.x - b.x || b.y - a.y);
    const here = this.dots.get(this.state.task), place = shown.indexOf(here), up = key === "ArrowUp" ? -1 : 1;
    let next = shown[place < 0 ? 0 : key === "ArrowRight" ? place + 1 : place - 1];
    if (place >= 0 && (key === "ArrowUp" || key === "ArrowDown")) {
      const far = (dot) => up * (dot.y - here.y) + 2 * Math.abs(dot.x - here.x);
      next = shown.filter((dot) => up * (dot.y - here.y) > 0).sort((a, b) => far(a) - far(b))[0];
    }
    if (next) this.pick(next.task.id);
  }

  // -- The picked task --

  showPane() {
    const { state, cube } = this, pane = this.pane;
    if (pane.dataset.task !== (state.task ?? "")) this.place = 0;
    pane.dataset.task = state.task ?? "";
    if (state.task === undefined) {
      pane.replaceChildren(pale("Pick a task: click a dot, or search. Here stand the inputs on which its programs disagree or are wrong."));
      return;
    }
    const index = cube.place.get(state.task), task = cube.tasks[index];
    this.task = task;
    this.clusters = cube.clusters(index, this.coder, state.m, state.n);
    const there = this.other && this.bCube.place.get(task.id);
    const others = there !== null && there !== undefined && this.bCube.clusters(there, this.other, state.with_m, state.n);
    this.found = inputsOf(cube, task, this.clusters, state.n);
    const parts = [make("h2", {}, nameInWords(task.id), " ", make("small", {}, this.nameOf(state.model)))];
    parts.push(make("p", { class: "headline" }, this.clusters.length ? headline(cube, task, this.clusters, state.n) : "No program is recorded."));
    if (others?.length) parts.push(make("p", {}, `B, ${this.sideInWords("b")}: ${headline(this.bCube, this.bCube.tasks[there], others, state.n)}`));
    if (task.sentence) parts.push(make("p", { class: "sentence" }, task.sentence));
    if (task.signature) parts.push(make("pre", { class: "signature" }, task.signature));
    this.reader = make("div", { class: "reader" });
    parts.push(this.reader);
    if (task.domain) parts.push(make("p", { class: "pale domain" }, `domain: ${task.domain}`));
    if (others && !this.otherCube) parts.push(this.majorities(task, others));
    this.codes = make("div", { class: "codes-of-task" });
    parts.push(this.codes, this.clusterTable(task, index));
    pane.replaceChildren(...parts);
    this.showInput();
    this.askDetails();
  }

  step(by) {
    if (!this.found?.length) return;
    this.place = (this.place + by + this.found.length) % this.found.length;
    this.showInput();
    this.showCodes();
  }

  showInput() {
    const { found } = this, one = found[(this.place ??= 0)] ?? found[(this.place = 0)];
    if (!one) {
      const settled = this.clusters.every((cluster) => cluster.wrong === 0) || !this.task.has_reference;
      const words = settled && this.clusters.length < 2 ? "On all inputs the programs give the same outcome." : "Inputs exist on which they differ, but the store does not hold one of them.";
      this.reader.replaceChildren(make("p", { class: "pale", "data-testid": "explorer-input" }, words));
      return;
    }
    const notes = [];
    if (one.place) notes.push(make("span", { class: "place" }, PLACES[one.place] ?? one.place));
    else notes.push("may be outside the task: not checked against its domain");
    if (one.smallest) notes.push(" the smallest found");
    if (one.inputs > 1) notes.push(` stands for ${one.inputs.toLocaleString("en")} inputs`);
    this.reader.replaceChildren(
      make("div", { class: "row steps" },
        make("b", {}, `input ${this.place + 1} of ${found.length}`),
        make("button", { type: "button", "aria-label": "Previous input (k)", disabled: found.length < 2, onclick: () => this.step(-1) }, "‹ k"),
        make("button", { type: "button", "aria-label": "Next input (j)", disabled: found.length < 2, onclick: () => this.step(1) }, "j ›")),
      this.inputBlock(one, notes, true));
  }

  inputBlock(one, notes, isFirst) {
    const truth = this.task.checker ? "accepted by the checker" : "reference";
    const who = (answer) => answer.who ?? [answer.size ? count(answer.size) : "", answer.reference ? truth : ""].filter(Boolean).join(", ");
    return make("div", { class: "input", ...(isFirst ? { "data-testid": "explorer-input" } : {}) },
      make("pre", { class: "arguments" }, one.arguments),
      notes.length ? pale(...notes) : null,
      make("div", { class: "outcomes" }, ...one.answers.map((answer) => make("div", { class: answer.right ? "right" : "differs" },
        make("p", {}, who(answer), answer.right && !answer.reference ? " ✓ right" : ""),
        make("pre", {}, outcome(answer.kind, answer.text))))));
  }

  majorities(task, others) {
    const found = majoritiesDiffer(task, this.clusters, others);
    if (!found.length) return pale("On the recorded inputs most of A and most of B agree.");
    const shown = found.slice(0, 5).map((one) => this.inputBlock(one, [], false));
    return folded(`${count(found.length, "recorded input")} on which most of A and most of B differ`, { open: true }, ...shown);
  }

  clusterTable(task) {
    const wrong = (one) => one.wrong ? `${one.wrong.toLocaleString("en")} of ${this.state.n.toLocaleString("en")}` : "none";
    const rows = this.clusters.map((one, i) => [`${i + 1}`, count(one.size), !one.loads ? "does not load" : task.has_reference ? wrong(one) : ""]);
    return folded(`${count(this.clusters.length, "cluster")} of equal behaviour`, {}, table(["cluster", "programs", "wrong on"], rows));
  }

  /** Ask the place where the explorer stands for what the results lack: description and programs. */
  async askDetails() {
    const asked = (this.asked = `${this.cube.benchmark} ${this.state.task} ${this.state.model} ${this.state.t} ${this.state.m}`);
    this.known ??= new Map();
    if (!this.known.has(asked)) {
      if (!this.home.details) return this.say(null);
      this.known.set(asked, Promise.resolve(this.home.details(this.state.task, this.state)).catch(() => null));
    }
    const said = await this.known.get(asked);
    if (asked === this.asked) this.say(said);
  }

  say(details) {
    this.details = details;
    this.showCodes();
  }

  /** Show the programs of the clusters that differ on the input, each marked against the first. */
  showCodes() {
    const details = this.details, parts = [];
    const test = details?.tests?.[this.found[this.place]?.arguments];
    if (test) parts.push(folded("As a test", {}, make("pre", {}, test)));
    if (details?.others) parts.push(make("p", {}, details.others));
    if (details?.statements?.length) parts.push(folded("What this shows", {}, ...details.statements.map((line) => make("p", {}, line))));
    if (details?.description) parts.push(folded("Description", {}, make("pre", {}, details.description)));
    if (details?.programs?.length) {
      const codes = details.programs.map(([title, pieces]) => make("div", {}, pale(title),
        make("pre", { tabindex: "0" }, ...pieces.map(([text, isMarked]) => (isMarked ? make("mark", {}, text) : text)))));
      parts.push(folded("Programs side by side", { open: true }, make("div", { class: "codes" }, ...codes)));
    } else if (this.cube.missing.length) parts.push(pale(`Programs are not part of these results; ${this.cube.missing.join(" and ")} bring them.`));
    this.codes.replaceChildren(...parts);
  }

  // -- Below: what a chart says, as tables --

  showTables() {
    const parts = [], isOpen = this.below.querySelector("details.all")?.open ?? false;
    if (this.b) {
      const found = this.quadrants(), words = { onlyB: "A right, B wrong", onlyA: "A wrong, B right", both: "both wrong" };
      for (const [name, title] of Object.entries(words)) parts.push(this.taskTable(title, found[name], name !== "both"));
      parts.push((this.byKind = make("div", {})));
    }
    if (this.selected?.length) parts.unshift(this.taskTable("Selected", this.selected, true));
    const shown = [...this.dots.values()].filter((dot) => dot.isShown).map((dot) => dot.index).sort((a, b) => a - b);
    const all = this.taskTable("All tasks as a table", shown, isOpen);
    all.classList.add("all");
    this.below.replaceChildren(...parts, all);
    if (this.b) this.showKinds();
  }

  /** Return a table of tasks, written once it is open. */
  taskTable(title, indices, isOpen) {
    const names = ["task", ...(this.b ? ["A: error", "B: error"] : ["error", "incoherence"]), "what happened"];
    const cells = (i) => {
      const a = this.a.tasks[i], { id } = this.cube.tasks[i];
      const name = make("button", { type: "button", class: "name", onclick: () => this.pick(id) }, nameInWords(id));
      return [name, percent(a.error), percent(this.b ? this.b.tasks[i].error : a.incoherence), STATUS[statusOf(a)]];
    };
    const place = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
    const show = () => place.hasChildNodes() || place.append(table(names, indices.map(cells)));
    if (isOpen) show();
    return folded(`${title}: ${count(indices.length, "task")}`, { open: isOpen, ontoggle: show }, place);
  }

  /** Show the difference by kind of arguments, each with its paired interval. */
  showKinds() {
    if (!this.byKind) return;
    const rows = this.cube.kinds.map((kind) => [kind, this.pairs(kind)]).filter(([, pairs]) => pairs.length).map(([kind, pairs]) => {
      const of = (side) => mean(pairs.map((pair) => pair[side].error));
      const { difference } = intervals(pairs, OF_PAIR);
      const gap = 100 * (of(0) - of(1));
      return [kind, `${pairs.length}`, percent(of(0)), percent(of(1)), `${gap > 0 ? "+" : ""}${gap.toFixed(1)} ${ends(difference)}`];
    });
    this.byKind.replaceChildren(make("h3", {}, "Error by kind of arguments"), table(["arguments", "tasks", "A", "B", "A − B, points [95 %]"], rows));
  }

  async copyLink() {
    const link = this.home.url?.(this.address()) ?? window.location.href;
    try {
      await navigator.clipboard.writeText(link);
      this.copy.textContent = "Copied";
    } catch {
      window.prompt("The link to what is shown", link); // a page without TLS has no clipboard
    }
    setTimeout(() => (this.copy.textContent = "Copy link"), 2000);
  }

  close() {
    this.watch.disconnect();
    clearTimeout(this.later);
  }
}

function fill(select, options, chosen) {
  const key = JSON.stringify(options);
  if (select.dataset.options !== key) {
    select.replaceChildren(...options.map(([value, words]) => make("option", { value }, `${words}`)));
    select.dataset.options = key;
  }
  select.value = chosen ?? "";
}

// ---- Homes ---------------------------------------------------------------------------------------------------------

/** Return bytes from their text in base64. */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const isDarkColour = (colour) => {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  return 0.3 * r + 0.6 * g + 0.1 * b < 128;
};

/** The offline report: everything stands in the page, the address after its #. */
export function showOffline(root, said) {
  const state = () => ({ ...said.state, ...Object.fromEntries(new URLSearchParams(window.location.hash.slice(1))) });
  const explorer = mount(root, {
    ...said,
    state: state(),
    cube: (benchmark, inputs) => bytesOf(said.cubes[`${benchmark} ${inputs}`]),
    details: (task) => said.details?.[task] ?? null,
    changed: (address) => history.replaceState(null, "", `#${new URLSearchParams(address)}`),
  });
  window.addEventListener("hashchange", () => explorer.open(state()));
  return explorer;
}

/** The notebook, through anywidget: results are traits, so that a saved notebook shows them without a kernel. */
export function showInNotebook({ model, el }) {
  const style = make("style", {});
  const place = make("div", {});
  style.textContent = model.get("style_text");
  el.append(style, place);
  const waiting = new Map();
  model.on("msg:custom", (message) => {
    waiting.get(message.key)?.(message.key.startsWith("cube") ? bytesOf(message.value) : message.value);
    waiting.delete(message.key);
  });
  const ask = (key, content) => new Promise((found, failed) => {
    waiting.set(key, found);
    model.send({ key, ...content });
    setTimeout(() => failed(new Error("the kernel does not answer")), 60_000);
  });
  const explorer = mount(place, {
    benchmarks: model.get("benchmarks"),
    inputs: model.get("inputs"),
    state: model.get("state"),
    isDark: () => document.body.dataset.jpThemeLight === "false" || (document.body.dataset.jpThemeLight === undefined && isDarkColour(getComputedStyle(document.body).backgroundColor)),
    cube: (benchmark, inputs) => {
      const name = `${benchmark} ${inputs}`;
      return model.get("cube_name") === name ? model.get("cube") : ask(`cube ${name}`, { benchmark, inputs });
    },
    details: (task, state) => ask(`task ${task} ${state.model} ${state.t} ${state.m}`, { task, state }),
    changed: (address) => { model.set("state", address); model.save_changes(); },
    selected: (tasks) => { model.set("selection", tasks); model.save_changes(); },
  });
  model.on("change:state", () => {
    if (JSON.stringify(model.get("state")) !== JSON.stringify(explorer.address())) explorer.open(model.get("state"));
  });
  return () => explorer.close();
}

let early = null; // what showEarly has drawn, until Streamlit's page has a place for it

/** The dashboard's first page while Streamlit still starts: drawn at once, and taken over by its component. */
export function showEarly(place, data) {
  early = { place, data, view: showFor(place, data) };
  window.addEventListener("click", ({ target }) => early && !place.contains(target) && dropEarly(), { capture: true }); // leads elsewhere
  return early.view.explorer.drawn;
}

function dropEarly() {
  const { place, view } = early;
  early = null;
  view.explorer.close();
  place.remove();
}

/** The dashboard, through Streamlit's components: the server hands out results by their address. */
export function showInStreamlit({ data: [data], parentElement, setStateValue }) {
  const place = parentElement.querySelector(".difftrust-home");
  const key = JSON.stringify(data.version);
  if (place.shownFor === key) return; // drawn again by the server: what is chosen stays
  place.shownFor = key;
  place.view?.explorer.close();
  const tell = (address) => place.isConnected && setStateValue("address", address);
  if (!early || JSON.stringify(early.data.version) !== key) {
    if (early) dropEarly();
    place.view = showFor(place, data, tell);
    return;
  }
  const drawn = early;
  early = null;
  const move = () => {
    const focused = document.activeElement;
    place.replaceChildren(drawn.view.explorer.root);
    drawn.place.remove();
    if (place.contains(focused)) focused.focus({ preventScroll: true });
    drawn.view.tellTo(tell);
  };
  place.view = drawn.view;
  if (drawn.place.matches(":active")) window.addEventListener("pointerup", move, { once: true }); // the hand that holds a slider keeps it
  else move();
}

/** Show the explorer in a page of the dashboard; ``tell`` hears its address once it has come to rest. */
function showFor(place, data, tell) {
  const keep = new Set(data.keep), asked = new URLSearchParams(window.location.search);
  const state = Object.fromEntries([...asked].filter(([name]) => !keep.has(name)));
  [state.model, state.with] = asked.has("with") ? [asked.get("model"), asked.get("with")] : asked.getAll("model");
  const words = (more) => new URLSearchParams({ ...Object.fromEntries([...new URLSearchParams(window.location.search)].filter(([name]) => keep.has(name))), ...more });
  const fetched = async (path, more) => {
    const reply = await fetch(`${data.address}/${path}?${words(more)}`);
    if (!reply.ok) throw new Error(await reply.text());
    return reply;
  };
  let later, told, first;
  const home = {
    ...data,
    state,
    isDark: () => {
      const page = document.querySelector(".stApp");
      return page ? isDarkColour(getComputedStyle(page).backgroundColor) : window.matchMedia("(prefers-color-scheme: dark)").matches;
    },
    cube: async (benchmark, inputs, store) => {
      if (!data.cubes) return (await fetched("cube", { benchmark, inputs, ...(store ? { store } : {}) })).arrayBuffer();
      const own = data.cubes[`${benchmark} ${inputs}`];
      if (own) return bytesOf(own);
      tell(`${words({ ...explorer.address(), benchmark, inputs })}`); // the page comes anew with it
      return new Promise(() => {});
    },
    details: async (task, { benchmark, inputs, model, t, m, n }) => data.cubes ? null : (await fetched("task", { benchmark, inputs, task, model, t, m, n })).json(),
    report: data.cubes || asked.get("blind") === "yes" ? null : (address) => `${data.address}/report?${words(address)}`,
    url: () => window.location.href,
    changed: (address) => {
      const now = `${words(address)}`;
      first ??= told ??= now; // what was opened stays as it was written: else a link would first go back to that
      if (told === now) return;
      told = now;
      history.replaceState(history.state, "", `${window.location.pathname}?${now}`);
      clearTimeout(later);
      later = setTimeout(() => tell?.(now), 400); // links of the header follow
    },
  };
  const explorer = mount(place, home);
  const tellTo = (hears) => {
    tell = hears;
    if (told !== first) tell(told);
    explorer.suitGround();
  };
  return { explorer, tellTo };
}
