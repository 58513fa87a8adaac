// What to change first: the steps of the plan, in order.

const FREED_AT_ONCE = 8;

class PlanPage {
  constructor(report) {
    this.report = report;
    this.plan = report.plan;
    const { steps, functions, left_findings: left, left_functions: held } = this.plan;
    const more = `blocklint plan --steps ${steps.length * 3}`;
    this.element = h('main', { class: 'detail', id: 'plan', tabindex: '-1', hidden: true, 'aria-label': 'plan' },
      h('div', { class: 'sheet plan' },
        h('header', { class: 'cause-head' },
          h('div', { class: 'eyebrow' }, 'Plan'),
          h('h2', { class: 'words' }, PlanPage.title(this.plan)),
          h('p', { class: 'mends' }, 'Each step counts what those before it have left. The commands are for the project root.'),
          this.bar(functions, held)),
        h('ol', { class: 'plan-steps' }, steps.map((step, at) => this.step(step, at))),
        left > 0 && h('p', { class: 'command plan-left' }, `${plural(left, 'finding')} would be left; to plan further: `, h('code', {}, more), copyButton(more, 'Copy the command'))));
  }

  static title({ steps, functions, left_functions: held }) {
    const freed = functions - held;
    const changes = `${plural(steps.length, 'change')} ${steps.length === 1 ? 'frees' : 'free'}`;
    return held ? `${changes} ${freed.toLocaleString('en')} of ${plural(functions, 'stalled function')}` : `${changes} ${functions === 1 ? 'the only stalled function' : `all ${functions.toLocaleString('en')} stalled functions`}`;
  }

  /** Which share of the functions each step frees. */
  bar(functions, held) {
    const bar = h('div', { class: 'plan-bar', role: 'img', 'aria-label': `${functions - held} of ${functions} functions are freed` });
    this.plan.steps.forEach((step, at) => {
      if (!step.frees.length) return;
      const part = h('span', { title: `step ${at + 1}: ${plural(step.frees.length, 'function')}` });
      part.style.flexGrow = step.frees.length;
      bar.append(part);
    });
    if (held) {
      const rest = h('span', { class: 'rest', title: `${plural(held, 'function')} left` });
      rest.style.flexGrow = held;
      bar.append(rest);
    }
    return bar;
  }

  step(step, at) {
    const { report } = this;
    const place = placeText(report, step.at);
    const [before, name, after] = {
      cause: ['', step.call, ` in ${shortName(step.function || 'the module')}`],
      function: ['All that ', shortName(step.function), ' does'],
      call: ['The call of ', step.call, ` in ${shortName(step.function || 'the module')}`],
    }[step.kind];
    const cause = step.group === null ? null : report.groups[step.group];
    const title = h(cause ? 'a' : 'span', { class: 'plan-name', href: cause && `#cause-${cause.id}`, title: plain(step.function) }, h('code', {}, name));
    const held = holdText(step.hold);
    const facts = [
      step.frees.length ? h('b', {}, `frees ${plural(step.frees.length, 'function')}`) : 'frees no function yet',
      `ends ${plural(step.findings.length, 'finding')}`,
      held && (step.hold === 'unbounded' ? 'held without bound today' : step.hold === 'brief' ? 'held for a moment today' : `held up to ${held} today`),
    ].filter(Boolean);
    return h('li', { class: `plan-step ${step.severity}`, 'data-at': at },
      h('h3', {}, h('span', { class: 'dot', title: step.severity }), h('span', {}, before, title, after)),
      h('p', { class: 'where' }, h('bdi', { class: 'path' }, place), copyButton(place, 'Copy the place')),
      h('p', { class: 'plan-facts' }, facts.flatMap((fact, number) => (number ? [' · ', fact] : [fact]))),
      step.frees.length > 0 && this.freed(step),
      sourceFrame(report, step.at, '', 1, ''),
      step.calls.length > 0 && this.calls(step.calls),
      step.help && h('p', { class: 'plan-help' }, icon('wrench', 15), h('span', {}, inlineCode(step.help))),
      this.command('fix', step.fix, step.besides > 0 && `mends ${plural(step.besides, 'other finding')} too`),
      this.command(step.fix ? 'or' : 'fix', step.codemod),
      this.command('check', step.check),
      this.ended(step));
  }

  /** The functions that are free after a step; each leads to a finding in it. */
  freed({ frees }) {
    const list = h('div', { class: 'freed' });
    const grow = (shown, until) => {
      list.append(...frees.slice(shown, until).map((number) => {
        const finding = this.report.findings[number];
        return h('a', { class: 'free', href: `#finding-${finding.id}`, title: plain(finding.function) }, shortName(finding.function));
      }));
      const left = frees.length - until;
      if (left <= 0) return;
      const more = h('button', { type: 'button', class: 'free more' }, `and ${left.toLocaleString('en')} more`);
      more.addEventListener('click', () => { more.remove(); grow(until, until + 500); });
      list.append(more);
    };
    grow(0, FREED_AT_ONCE);
    return list;
  }

  /** The lines that enter libraries, behind a function as a whole. */
  calls(calls) {
    const shown = calls.slice(0, FREED_AT_ONCE);
    const left = calls.length - shown.length;
    return h('div', { class: 'plan-calls' }, h('span', { class: 'label' }, 'blocks'), h('ul', {}, shown.map((call) => {
      const cause = call.group === null ? null : this.report.groups[call.group];
      return h('li', {}, h(cause ? 'a' : 'span', { href: cause && `#cause-${cause.id}` }, h('code', {}, call.call)), ' at ', h('bdi', { class: 'path' }, placeText(this.report, call.at)));
    }), left > 0 && h('li', {}, `and ${left.toLocaleString('en')} more`)));
  }

  command(label, text, besides) {
    return text && h('p', { class: 'command' }, h('span', { class: 'label' }, label), h('code', { title: plain(text) }, text), copyButton(text, `Copy the command: ${label}`), besides && h('span', { class: 'hint' }, besides));
  }

  /** The findings that go, made when asked for. */
  ended({ findings }) {
    const box = h('details', { class: 'also' }, h('summary', {}, 'Findings that go', h('span', { class: 'count' }, findings.length.toLocaleString('en'))));
    growingList(this.report, box, findings, (finding) => [h('span', { class: 'entry-name', title: plain(finding.message) }, h('b', {}, finding.rule), h('span', { class: 'owner' }, shortName(finding.function)))]);
    return box;
  }
}
