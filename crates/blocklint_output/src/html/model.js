// What the report knows, and which part of it is looked at.

/** How many functions these findings stand in. */
const functionsOf = (report, numbers) => new Set(numbers.map((number) => report.findings[number]).filter((finding) => finding.function).map((finding) => `${finding.at[0]} ${finding.function}`)).size;

const SEVERITIES = ['error', 'warning', 'note'];
const CONFIDENCES = ['high', 'medium', 'low'];

function placeText(report, at) {
  const [file, , row, column, , , cell] = at;
  return `${report.files[file].path}${cell ? `:cell ${cell}` : ''}:${row}:${column}`;
}

/** `Store.load` of `app.Store.load`: what begins with a capital letter is a class in all three languages. */
function shortName(qualified) {
  const parts = qualified.split(/(\.|::)/);
  if (parts.length < 3) return qualified;
  const [owner, separator, name] = parts.slice(-3);
  if (name === '<init>' || name === '__init__') return owner;
  return /^_*\p{Lu}/u.test(owner) || name.startsWith('<') ? `${owner}${separator}${name}` : name;
}

/** The last name of a qualified name, and what it belongs to where that is a class. */
function nameParts(qualified) {
  const short = shortName(qualified);
  const at = Math.max(short.lastIndexOf('.'), short.lastIndexOf('::') + 1);
  return at > 0 ? [short.slice(at + 1), short.slice(0, at).replace(/:$/, '')] : [short, ''];
}

function holdText(hold) {
  if (hold === 'unbounded') return 'no bound';
  if (hold === 'brief') return 'brief';
  if (hold === null) return null;
  if (hold < 1) return `${Math.round(hold * 1000)} ms`;
  if (hold < 120) return `${Number(hold.toFixed(1))} s`;
  if (hold < 7200) return `${Number((hold / 60).toFixed(1))} min`;
  return `${Number((hold / 3600).toFixed(1))} h`;
}

const holdRank = (hold) => (hold === 'unbounded' ? Infinity : hold === 'brief' ? 0.001 : hold === null ? 0 : hold + 0.01);

const SORTS = {
  impact: ['Worth mending first', (a, b) => a.group.rank - b.group.rank],
  reach: ['Functions stalled', (a, b) => b.group.reach - a.group.reach || a.group.rank - b.group.rank],
  hold: ['Longest stall', (a, b) => holdRank(b.group.hold) - holdRank(a.group.hold) || a.group.rank - b.group.rank],
  severity: ['Severity', (a, b) => SEVERITIES.indexOf(a.group.severity) - SEVERITIES.indexOf(b.group.severity) || a.group.rank - b.group.rank],
  place: ['File', (a, b) => (a.group.path < b.group.path ? -1 : a.group.path > b.group.path ? 1 : a.group.rank - b.group.rank)],
};

class Model {
  constructor(report) {
    this.report = report;
    this.filters = { rule: new Set(), severity: new Set(), confidence: new Set(), language: new Set(), folder: '' };
    this.query = '';
    this.sort = 'impact';
    report.groups.forEach((group, rank) => {
      group.rank = rank;
      // Functions of this report: others that reach the call have findings below its levels, or none of their own.
      group.reach = functionsOf(report, [...group.findings, ...group.also]);
      group.stalls = group.cause && group.reach ? `stalls ${plural(group.reach, 'function')}` : null;
      for (const number of group.findings) report.findings[number].group = group;
      const first = report.findings[group.findings[0]];
      group.at = group.cause ? group.cause.at : first.at;
      group.path = report.files[group.at[0]].path;
      group.rules = [...new Set(group.findings.map((number) => report.findings[number].rule))].sort();
      group.title = group.cause ? group.cause.call : first.effect === null && first.rule.startsWith('BLT9') ? 'Not read or analysed as a whole' : 'Without a cause elsewhere';
    });
    for (const finding of report.findings) {
      const file = report.files[finding.at[0]];
      finding.language = file.language;
      finding.path = file.path;
      const steps = finding.trace.flatMap((step) => [step.function, step.call, report.files[step.at[0]].path]);
      const cause = finding.group && finding.group.cause;
      const parts = [finding.rule, (report.rules[finding.rule] || {}).name, finding.message, finding.function, file.path, ...steps];
      if (cause) parts.push(cause.call, cause.function, placeText(report, cause.at));
      finding.text = parts.join('\n').toLowerCase();
    }
  }

  passes(finding, without) {
    const { rule, severity, confidence, language, folder } = this.filters;
    const any = (name, chosen, value) => without === name || !chosen.size || chosen.has(value);
    return any('rule', rule, finding.rule) && any('severity', severity, finding.severity)
      && any('confidence', confidence, finding.confidence) && any('language', language, finding.language)
      && (without === 'folder' || !folder || finding.path.startsWith(folder))
      && this.words.every((word) => finding.text.includes(word));
  }

  get words() {
    if (this.wordsOf !== this.query) {
      this.wordsOf = this.query;
      this.wordList = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    }
    return this.wordList;
  }

  /** The groups with findings that pass, and these. */
  view() {
    const rows = [];
    for (const group of this.report.groups) {
      const findings = group.findings.filter((number) => this.passes(this.report.findings[number]));
      if (findings.length) rows.push({ group, findings });
    }
    return rows.sort(SORTS[this.sort][1]);
  }

  /** How many findings each value of a filter would leave. */
  counts(name) {
    const counts = new Map();
    for (const finding of this.report.findings) {
      if (this.passes(finding, name)) counts.set(finding[name], (counts.get(finding[name]) || 0) + 1);
    }
    return counts;
  }

  /** Folders with findings, each with how many; no deeper than people choose by. */
  folders() {
    const counts = new Map();
    for (const finding of this.report.findings) {
      if (!this.passes(finding, 'folder')) continue;
      const parts = finding.path.split('/').slice(0, -1);
      for (let depth = 1; depth <= Math.min(parts.length, 4); depth += 1) {
        const folder = `${parts.slice(0, depth).join('/')}/`;
        counts.set(folder, (counts.get(folder) || 0) + 1);
      }
    }
    const all = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.length <= 200 ? all : all.filter(([folder]) => folder.split('/').length <= 3).slice(0, 400);
  }

  get isFiltered() {
    const { rule, severity, confidence, language, folder } = this.filters;
    return Boolean(this.query.trim() || folder || rule.size || severity.size || confidence.size || language.size);
  }

  clear() {
    for (const name of ['rule', 'severity', 'confidence', 'language']) this.filters[name].clear();
    this.filters.folder = '';
    this.query = '';
  }

  /** The view as the part of an address behind `#`. */
  address(group, finding, isPlan) {
    const parts = new URLSearchParams();
    for (const name of ['rule', 'severity', 'confidence', 'language']) {
      if (this.filters[name].size) parts.set(name, [...this.filters[name]].join(','));
    }
    if (this.filters.folder) parts.set('folder', this.filters.folder);
    if (this.query.trim()) parts.set('q', this.query.trim());
    if (this.sort !== 'impact') parts.set('sort', this.sort);
    const target = isPlan ? 'plan' : finding ? `finding-${finding.id}` : group ? `cause-${group.id}` : '';
    const rest = parts.toString();
    return `#${target}${rest ? `&${rest}` : ''}`;
  }

  /** Takes the view of an address; gives the group and finding that it names. */
  visit(hash) {
    const [target, ...rest] = hash.replace(/^#/, '').split('&');
    const parts = new URLSearchParams((target.includes('=') ? [target, ...rest] : rest).join('&'));
    this.clear();
    for (const name of ['rule', 'severity', 'confidence', 'language']) {
      for (const value of (parts.get(name) || '').split(',').filter(Boolean)) this.filters[name].add(value);
    }
    this.filters.folder = parts.get('folder') || '';
    this.query = parts.get('q') || '';
    this.sort = Object.hasOwn(SORTS, parts.get('sort') || '') ? parts.get('sort') : 'impact';
    const finding = this.report.findings.find((one) => target === `finding-${one.id}`);
    const group = finding ? finding.group : this.report.groups.find((one) => target === `cause-${one.id}`);
    return { group, finding, isPlan: target === 'plan' };
  }
}
