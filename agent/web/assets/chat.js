// The chat: sends a question to the stream, shows each step as it comes and the answer at the end.

const form = document.querySelector('#ask');
const talk = document.querySelector('#talk');
const words = JSON.parse(talk.dataset.words);
const KEPT = 80;

/** A new element with text; text of others is never markup. */
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function article(text, isUser) {
  talk.querySelector('.empty')?.remove();
  const made = element('article', undefined, isUser ? 'said user' : 'said');
  made.append(element('p', text, 'body'));
  talk.append(made);
  made.scrollIntoView({ block: 'nearest' });
  return made;
}

/** Shows a step in the collapsible list of an answer. */
function showStep(answer, step) {
  let list = answer.querySelector('ol');
  if (!list) {
    const details = element('details');
    details.append(element('summary', words.steps));
    list = element('ol', undefined, 'list');
    details.append(list);
    answer.append(details);
  }
  const details = element('details');
  const names = step.tool_calls.map((call) => call.name).join(', ');
  details.append(element('summary', `${words.step} ${step.step_number} ${names}`));
  if (step.code) details.append(element('pre', step.code));
  if (step.observations) details.append(element('pre', step.observations));
  if (step.error) details.append(element('p', step.error, 'bad'));
  const item = element('li');
  item.append(details);
  list.append(item);
  answer.querySelector('summary').textContent = `${words.steps} (${list.children.length})`;
}

function showAnswer(answer, data) {
  answer.querySelector('.body').textContent = data.answer;
  const tokens = data.prompt_tokens + data.completion_tokens;
  const from = words[data.by] ?? data.by;
  answer.append(element('p', tokens > 0 ? `${from}, ${tokens} ${words.tokens}` : from, 'quiet'));
  if (data.by !== 'model' && !document.querySelector('#banner')) {
    const banner = element('p', words.no_model, 'advice');
    banner.id = 'banner';
    talk.before(banner);
  }
}

/** Calls `take` with each event of a stream. */
async function events(answer, take) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split('\n').filter((line) => line.startsWith('data:'));
      if (data.length > 0) take(JSON.parse(data.map((line) => line.slice(5)).join('\n')));
    }
  }
}

form.addEventListener('submit', async (submitted) => {
  submitted.preventDefault();
  const message = form.elements.message.value.trim();
  if (message === '') return;
  const history = JSON.parse(form.elements.history.value || '[]');
  const body = { message, history, form_key: form.elements.form_key.value, language: document.documentElement.lang };
  if (form.elements.site) {
    body.about = { site: form.elements.site.value, equipment: form.elements.equipment.value, bearing: form.elements.bearing.value };
  }
  article(message, true);
  const answer = article(words.working, false);
  const button = form.querySelector('button');
  button.disabled = true;
  form.elements.message.value = '';
  let told = null;
  try {
    const sent = await fetch('/api/chat/message/stream', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    });
    if (!sent.ok) throw new Error(String(sent.status));
    await events(sent, (event) => {
      if (event.type === 'step') showStep(answer, event.data);
      if (event.type === 'answer') { told = event.data.answer; showAnswer(answer, event.data); }
    });
  } catch { /* told below */ }
  if (told === null) answer.querySelector('.body').textContent = words.failed;
  else history.push({ role: 'user', content: message }, { role: 'assistant', content: told });
  form.elements.history.value = JSON.stringify(history.slice(-KEPT));
  button.disabled = false;
  form.elements.message.focus();
});
