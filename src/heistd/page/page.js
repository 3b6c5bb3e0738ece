// The page of heistd: what the API tells, in tables, and what it can be asked for, in forms.
// Every text of others (ids, names, failures, results) gets into the page as text only; the server's
// policy (require-trusted-types-for) has the browser refuse anything else.

const priorities = ["background", "user-visible", "user-blocking"];
const ends = ["done", "failed", "aborted", "dead"];
const mostShown = 200; // rows of the table of jobs
const mostKept = 2000; // jobs that the page knows at a time
const trendSeconds = 60;

const state = {
  token: "", // in memory only
  session: 0, // counts logins: what an earlier one has started ends by itself
  jobs: new Map(),
  hasAll: true, // of the jobs that match the filter
  changed: new Map(), // what events have said of jobs since the list was asked for; null: forgotten
  signals: new Map(),
  trends: new Map(priorities.map((name) => [name, []])),
  kinds: [],
  open: "", // the id of the job in the dialog
};

const byId = (id) => document.getElementById(id);

function element(kind, text, properties = {}) {
  const made = Object.assign(document.createElement(kind), properties);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Tells what came of something: to all by the status line, to screen readers as it is a live region. */
function say(text, failed = false) {
  byId("said").textContent = text;
  byId("said").classList.toggle("failed", failed);
}

// --- The API ---

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(method, path, {body, signal, headers = {}} = {}) {
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  const reply = await fetch(path, {method, body, signal, headers, credentials: "omit", cache: "no-store"});
  if (reply.ok) return reply;
  const error = (await reply.json().catch(() => ({}))).error ?? {message: `status ${reply.status}`};
  throw new Refused(reply.status, error.message);
}

const ask = async (method, path, more) => (await request(method, path, more)).json();

/** Does something that the user has asked for, and says how that went. */
async function attempt(what, action) {
  try {
    await action();
    say(`${what}: done.`);
  } catch (error) {
    say(`${what}: ${error.message}`, true);
    if (error.status === 401) showLogin();
  }
}

const path = (job) => `/jobs/${encodeURIComponent(job)}`;
const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

// --- Events: an EventSource cannot send a token ---

async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const fields = text.slice(0, end).split("\n").map((line) => line.split(/: (.*)/s));
      const {id, event, data} = Object.fromEntries(fields);
      if (event) yield {id, type: event, data: JSON.parse(data)};
    }
  }
}

/** Listens, and comes again when the connection ends. */
async function listen(session) {
  let last;
  while (session === state.session) {
    try {
      const headers = last ? {"Last-Event-ID": last} : {};
      const reply = await request("GET", "/events", {headers});
      byId("connection").textContent = "Live.";
      if (!last) refresh().catch((error) => say(error.message, true));
      for await (const event of eventsOf(reply.body)) {
        if (session !== state.session) return;
        last = event.id;
        on[event.type]?.(event.data);
      }
    } catch (error) {
      if (session !== state.session) return;
      if (error.status === 401) return showLogin();
    }
    byId("connection").textContent = "Not connected; trying again.";
    await new Promise((later) => setTimeout(later, 1000));
  }
}

const on = {
  levels: ({levels}) => showLevels(levels),
  job: (job) => {
    keep(job);
    showJobs();
    if (job.signal) showSignalsSoon();
    if (job.id === state.open) showJob(job.id);
  },
  forgotten: ({id}) => {
    state.jobs.delete(id);
    state.changed.set(id, null);
    showJobs();
  },
  signal: (signal) => {
    state.signals.set(signal.signal, signal);
    showSignals();
    showSignalsSoon();
  },
  kind: (kind) => {
    state.kinds = state.kinds.map((known) => (known.kind === kind.kind ? kind : known));
    showKinds();
  },
  signal_deleted: ({signal}) => {
    state.signals.delete(signal);
    showSignals();
  },
  missed: () => refreshSoon(),
  end: ({reason}) => say(`The server has ended the updates: ${reason}.`),
};

/** Calls once in a while, however often it is asked to. */
function seldom(action, pause) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      action();
    }, pause);
  };
}

const refreshSoon = seldom(() => refresh().catch((error) => say(error.message, true)), 1000);
const showSignalsSoon = seldom(() => loadSignals().catch(() => {}), 500);

async function refresh() {
  byId("content").ariaBusy = "true";
  const stats = await ask("GET", "/stats");
  byId("client").textContent = `Client ${stats.client}, ceiling ${stats.ceiling}`;
  await Promise.all([loadKinds(), loadSignals(), loadJobs(), loadClients()]);
  byId("content").ariaBusy = "false";
}

// --- Tables ---

/** Has a table body show these rows, and keeps the elements of those that stay, and so the focus. */
function fill(body, rows, key, make, update) {
  const known = new Map(Array.from(body.children, (row) => [row.dataset.key, row]));
  rows.forEach((row, index) => {
    let shown = known.get(key(row));
    known.delete(key(row));
    if (!shown) {
      shown = make(row);
      shown.dataset.key = key(row);
    }
    update(shown, row);
    if (body.children[index] !== shown) body.insertBefore(shown, body.children[index] ?? null);
  });
  for (const gone of known.values()) gone.remove();
}

function rowOf(heads, cells) {
  const row = element("tr");
  for (let cell = 0; cell < cells; ++cell) row.append(element(cell < heads ? "th" : "td"));
  if (heads) row.firstChild.scope = "row";
  return row;
}

/** Changes only what is another text, so that screen readers and selections are left alone. */
function setText(cell, text, className = "") {
  const shown = String(text);
  if (cell.textContent !== shown) cell.textContent = shown;
  if (cell.className !== className) cell.className = className;
}

function time(microseconds) {
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

// --- Levels ---

function showLevels(levels) {
  for (const level of levels) {
    const trend = state.trends.get(level.priority);
    trend.push({at: Date.now(), depth: level.depth});
    while (trend.length > 1 && trend[1].at < Date.now() - 1000 * trendSeconds) trend.shift();
  }
  fill(byId("levels"), levels, (level) => level.priority, makeLevel, (row, level) => {
    const delay = level.queue_delay_us;
    const cells = [level.priority, level.queued, level.running, level.delayed,
      delay.count ? time(delay.p50) : "–", delay.count ? time(delay.p99) : "–", level.done, level.failed, level.dead, level.aborted];
    cells.forEach((text, index) => setText(row.children[index], text, index ? "number" : level.priority));
    drawTrend(row.querySelector("polyline"), state.trends.get(level.priority));
  });
}

function makeLevel(level) {
  const row = rowOf(1, 11);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `trend ${level.priority}`);
  svg.setAttribute("viewBox", "0 0 160 26");
  svg.setAttribute("aria-hidden", "true"); // the numbers are beside it
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
  row.lastChild.append(svg);
  return row;
}

setInterval(() => {
  for (const row of byId("levels").children) {
    drawTrend(row.querySelector("polyline"), state.trends.get(row.dataset.key));
  }
}, 1000);

function drawTrend(line, trend) {
  // What has not changed is not told again.
  const points = [...trend, {at: Date.now(), depth: trend.at(-1).depth}];
  const most = Math.max(1, ...trend.map((point) => point.depth));
  const x = (at) => 160 - ((Date.now() - at) * 160) / (1000 * trendSeconds);
  const y = (depth) => 25 - (24 * depth) / most;
  line.setAttribute("points", points.map(({at, depth}) => `${x(at).toFixed(1)},${y(depth).toFixed(1)}`).join(" "));
}

// --- Kinds, and submitting ---

async function loadKinds() {
  state.kinds = (await ask("GET", "/kinds")).kinds;
  showKinds();
  const names = state.kinds.map(({kind}) => kind);
  for (const [id, more] of [["kind", []], ["filter-kind", [""]]]) {
    const chosen = byId(id).value;
    byId(id).replaceChildren(...[...more, ...names].map((name) => element("option", name || "any", {value: name})));
    if (names.includes(chosen)) byId(id).value = chosen;
  }
  showParameters();
}

/** A field for each parameter of the chosen kind. */
function showParameters() {
  const kind = state.kinds.find(({kind}) => kind === byId("kind").value);
  const fields = (kind?.parameters ?? []).map((parameter) => {
    const label = element("label", `${parameter.name}${parameter.required ? "" : " (optional)"} `);
    const input = element("input", undefined, {name: parameter.name, required: parameter.required, spellcheck: false});
    if (["integer", "number"].includes(parameter.type)) input.type = "number";
    if (parameter.type === "number") input.step = "any";
    label.append(input);
    return label;
  });
  byId("parameters").replaceChildren(...fields);
}

async function submit(files) {
  if (!byId("submit").reportValidity()) return;
  const values = Object.fromEntries(["priority", "signal", "delay", "after"].map((name) => [name, byId(name).value]));
  for (const input of byId("parameters").querySelectorAll("input")) values[input.name] = input.value;
  const kind = byId("kind").value;
  const bodies = files.length ? Array.from(files) : [new Blob()];
  await attempt(`Submit ${bodies.length} ${kind}`, async () => {
    for (const body of bodies) {
      const job = await ask("POST", `/jobs/${encodeURIComponent(kind)}${query(values)}`, {body});
      if (!state.jobs.has(job.id)) keep(job); // or events have told more of it
    }
    showJobs();
  });
}

// --- Signals ---

async function loadSignals() {
  const {signals} = await ask("GET", "/signals");
  state.signals = new Map(signals.map((signal) => [signal.signal, signal]));
  showSignals();
}

function showSignals() {
  const rows = Array.from(state.signals.values()).sort((a, b) => (a.signal < b.signal ? -1 : 1));
  fill(byId("signals"), rows, (row) => row.signal, makeSignal, (row, signal) => {
    setText(row.children[0], signal.signal);
    setText(row.children[1], signal.unfinished_jobs, "number");
    const slider = row.querySelector("input");
    if (document.activeElement !== slider || !slider.dataset.moving) moveSlider(slider, signal.priority);
    showPause(row.children[4], signal);
  });
}

function moveSlider(slider, priority) {
  slider.value = priorities.indexOf(priority);
  slider.setAttribute("aria-valuetext", priority);
  setText(slider.nextElementSibling, priority, priority);
}

function makeSignal({signal}) {
  const row = rowOf(1, 5);
  const slider = element("input", undefined, {type: "range", min: 0, max: priorities.length - 1, step: 1});
  slider.setAttribute("aria-label", `Priority of signal ${signal}`);
  row.children[2].append(slider, element("output"));
  slider.addEventListener("input", () => {
    slider.dataset.moving = "1";
    moveSlider(slider, priorities[slider.value]);
  });
  slider.addEventListener("change", () => {
    delete slider.dataset.moving;
    const priority = priorities[slider.value];
    attempt(`Signal ${signal} to ${priority}`, () =>
      request("PUT", `/signals/${encodeURIComponent(signal)}${query({priority})}`)).then(showSignalsSoon);
  });
  const button = element("button", "Abort all");
  button.setAttribute("aria-label", `Abort all jobs of signal ${signal}`);
  button.addEventListener("click", () =>
    attempt(`Abort signal ${signal}`, () => request("DELETE", `/signals/${encodeURIComponent(signal)}`)));
  row.children[3].append(button);
  row.children[4].append(makePause("signal", signal));
  return row;
}

// --- Kinds, and what is paused ---

function showKinds() {
  fill(byId("kinds"), state.kinds, (row) => row.kind, makeKind, (row, kind) => {
    setText(row.children[0], kind.kind);
    showPause(row.children[1], kind);
  });
}

function makeKind({kind}) {
  const row = rowOf(1, 2);
  row.children[1].append(makePause("kind", kind));
  return row;
}

/** A button that pauses the kind or signal, or resumes it. */
function makePause(what, name) {
  const button = element("button");
  button.dataset.of = `jobs of ${what} ${name}`;
  button.addEventListener("click", () => {
    const action = button.dataset.paused ? "resume" : "pause";
    attempt(`${action} ${what} ${name}`, () => request("POST", `/${what}s/${encodeURIComponent(name)}/${action}`));
  });
  return button;
}

function showPause(cell, {paused}) {
  const button = cell.firstElementChild;
  const action = paused ? "Resume" : "Pause";
  if (paused) button.dataset.paused = "1";
  else delete button.dataset.paused;
  setText(button, action);
  button.setAttribute("aria-label", `${action} ${button.dataset.of}`);
}

// --- Jobs ---

function keep(job) {
  state.jobs.set(job.id, job);
  state.changed.set(job.id, job);
  for (const kept of [state.jobs, state.changed]) {
    if (kept.size > mostKept) kept.delete(kept.keys().next().value);
  }
}

const filter = () => ({
  state: byId("filter-state").value,
  kind: byId("filter-kind").value,
  signal: byId("filter-signal").value.trim(),
});

/** Of those that match the filter; the server's list begins with the oldest. */
async function loadJobs() {
  const wanted = filter();
  const jobs = new Map();
  const changed = (state.changed = new Map());
  let cursor = "";
  do {
    const page = await ask("GET", `/jobs${query({...wanted, limit: "100", cursor})}`);
    if (changed !== state.changed) return; // another list was asked for
    for (const job of page.jobs) jobs.set(job.id, job);
    cursor = page.cursor ?? "";
  } while (cursor && jobs.size < mostKept);
  for (const [id, job] of changed) job ? jobs.set(id, job) : jobs.delete(id);
  changed.clear();
  state.jobs = jobs;
  state.hasAll = !cursor;
  showJobs();
}

let jobsAreDue = false;
function showJobs() {
  if (jobsAreDue) return;
  jobsAreDue = true;
  requestAnimationFrame(() => {
    jobsAreDue = false;
    const wanted = Object.entries(filter()).filter(([, value]) => value);
    const all = Array.from(state.jobs.values()).reverse();
    const rows = all.filter((job) => wanted.every(([name, value]) => job[name] === value));
    const shown = Math.min(rows.length, mostShown);
    const others = `. There are more: these are the oldest ${mostKept}, and what has changed since`;
    setText(
      byId("jobs-caption"),
      `The newest first: ${shown} of ${rows.length}${state.hasAll ? "" : others}`,
    );
    fill(byId("jobs"), rows.slice(0, mostShown), (job) => job.id, makeJob, updateJob);
  });
}

function makeJob({id}) {
  const row = rowOf(1, 6);
  const button = element("button", id.slice(0, 8), {className: "link", title: id});
  button.setAttribute("aria-label", `Open job ${id}`);
  button.addEventListener("click", () => openJob(id));
  row.firstChild.append(button);
  row.lastChild.append(element("progress", undefined, {max: 1, hidden: true}), element("span"));
  return row;
}

function updateJob(row, job) {
  [job.kind, job.state, job.priority, job.signal ?? ""].forEach((text, index) =>
    setText(row.children[index + 1], text, index === 1 || index === 2 ? text : ""));
  const [bar, text] = row.lastChild.children;
  bar.hidden = job.progress === undefined || ends.includes(job.state);
  bar.setAttribute("aria-label", `Progress of job ${job.id}`);
  bar.value = job.progress ?? 0;
  setText(text, job.error?.message ?? job.last_error?.message ?? "");
}

// --- One job ---

async function openJob(id) {
  state.open = id;
  byId("job").showModal();
  byId("job-close").focus();
  await showJob(id);
}

async function showJob(id) {
  let job;
  try {
    job = await ask("GET", path(id));
  } catch (error) {
    return say(`Job ${id}: ${error.message}`, true);
  }
  if (id !== state.open) return;
  const facts = Object.entries({
    Id: job.id, Kind: job.kind, State: job.state, Priority: job.priority, Signal: job.signal, "After job": job.after,
    Bytes: job.bytes,
    Attempts: job.attempts && `${job.attempts} of ${job.max_attempts}`,
    "Queue delay": job.queue_delay_us && time(job.queue_delay_us),
    "Run time": job.run_time_us && time(job.run_time_us),
    Progress: job.progress === undefined ? undefined : `${Math.round(100 * job.progress)} %`,
    Failure: job.error && `${job.error.code}: ${job.error.message}`,
    "Last failure": job.last_error && `${job.last_error.code}: ${job.last_error.message}`,
  });
  byId("job-facts").replaceChildren(...facts.filter(([, text]) => text !== undefined && text !== null)
    .flatMap(([name, text]) => [element("dt", name), element("dd", text, {className: name === "State" ? text : ""})]));
  const over = ends.includes(job.state);
  byId("job-abort").disabled = over;
  byId("job-retry").disabled = job.state !== "dead";
  byId("job-forget").disabled = !over;
  await showResult(job);
}

/** JSON and text as they are; of other bytes only how many there are. */
async function showResult(job) {
  byId("job-result").hidden = job.state !== "done";
  if (job.state !== "done") return;
  const type = job.result?.content_type;
  if (type && !type.startsWith("text/")) {
    setText(byId("job-result"), `${job.result.bytes} bytes of ${type}`);
  } else if (type) {
    setText(byId("job-result"), await (await request("GET", `${path(job.id)}/result`)).text());
  } else {
    setText(byId("job-result"), JSON.stringify(job.result, null, 2));
  }
}

function onOpenJob(what, method, suffix = "") {
  const id = state.open;
  return attempt(`${what} job ${id.slice(0, 8)}`, async () => {
    await request(method, path(id) + suffix); // of which events tell
    if (what === "Forget") return byId("job").close();
    await showJob(id);
  });
}

// --- Clients: the operator's metrics ---

async function loadClients() {
  let text;
  try {
    text = await (await request("GET", "/metrics")).text();
  } catch {
    byId("clients-section").hidden = true; // it is not the operator
    return;
  }
  const rows = new Map();
  for (const [, labels, count] of text.matchAll(/^heistd_jobs\{(.*)\} (\d+)/gm)) {
    const {client, priority, state: its} = Object.fromEntries(
      Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, name, value]) => [name, value]));
    const key = `${client} ${priority}`;
    rows.set(key, {...(rows.get(key) ?? {key, client, priority}), [its]: Number(count)});
  }
  byId("clients-section").hidden = rows.size === 0;
  fill(byId("clients"), Array.from(rows.values()), (row) => row.key, () => rowOf(1, 5), (row, data) => {
    [data.client, data.priority, data.queued ?? 0, data.running ?? 0, data.delayed ?? 0].forEach((value, index) =>
      setText(row.children[index], value, index === 1 ? data.priority : ""));
  });
}
setInterval(() => byId("clients-section").hidden || loadClients(), 5000);

// --- Login ---

function showLogin() {
  byId("connection").textContent = "A token is needed.";
  byId("login").hidden = false;
  byId("content").hidden = true;
  byId("token").focus();
}

function start() {
  ++state.session;
  Object.assign(state, {jobs: new Map(), signals: new Map()});
  byId("login").hidden = true;
  byId("content").hidden = false;
  listen(state.session);
}

function onSubmit(id, action) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    action();
  });
}

onSubmit("login", () => {
  state.token = byId("token").value;
  byId("token").value = "";
  start();
});
onSubmit("submit", async () => {
  await submit(byId("file").files);
  byId("file").value = "";
});
onSubmit("filter", () => {});
byId("filter").addEventListener("change", () => loadJobs().catch((error) => say(error.message, true)));
byId("kind").addEventListener("change", showParameters);

for (const type of ["dragover", "dragleave", "drop"]) {
  byId("submit").addEventListener(type, (event) => {
    event.preventDefault();
    byId("drop").classList.toggle("over", type === "dragover");
    if (type === "drop") submit(event.dataTransfer.files);
  });
}

byId("job").addEventListener("close", () => (state.open = ""));
byId("job-close").addEventListener("click", () => byId("job").close());
byId("job-abort").addEventListener("click", () => onOpenJob("Abort", "DELETE"));
byId("job-forget").addEventListener("click", () => onOpenJob("Forget", "DELETE"));
byId("job-retry").addEventListener("click", () => onOpenJob("Retry", "POST", "/requeue"));

start();
