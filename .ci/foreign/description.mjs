// The service's own description, and everything that was said in this run held against it.
import assert from 'node:assert/strict';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

async function describes({ service, faulty }) {
  const doc = await service.get('/openapi.json', {}, { key: null });
  assert.deepEqual([doc.openapi, doc.info.version], ['3.1.0', '1.6.2']);
  assert.equal(doc.servers[0].url, service.base.pathname);
  for (const [path, { get }] of Object.entries(doc.paths)) { // what is described can be asked as its examples say
    if (!get) continue;
    const asked = (get.parameters ?? []).filter((p) => p.example !== undefined && p.in === 'query');
    await service.get(path, Object.fromEntries(asked.map((p) => [p.name, p.example])));
  }

  const answers = [...service.answers, ...faulty.answers];
  const validator = schemas(doc);
  const wrong = new Set();
  const hold = (what, value, ...at) => {
    const validate = validator(...at, 'content', 'application/json', 'schema');
    if (!validate(value)) wrong.add(`${what}: ${validate.errors.map((e) => `${e.instancePath} ${e.message}`).join(', ')}\n      ${JSON.stringify(value).slice(0, 1500)}`);
  };
  for (const { method, path, request, status, body } of answers) {
    const [what, at] = [`${method} ${path} ${status}`, ['paths', path, method.toLowerCase()]];
    const operation = doc.paths[path]?.[method.toLowerCase()];
    const response = operation?.responses[status];
    if (!response) wrong.add(`${what} is not described`);
    else hold(what, body, ...(response.$ref ? response.$ref.slice(2).split('/') : [...at, 'responses', String(status)]));
    if (response && request && status < 300) hold(`${what}, its request`, request, ...at, 'requestBody');
  }
  assert.equal(wrong.size, 0, `${wrong.size} kinds of ${answers.length} answers do not fit:\n    - ${[...wrong].slice(0, 8).join('\n    - ')}`);

  const met = new Set(answers.map(({ method, path }) => `${method} ${path}`));
  const all = Object.entries(doc.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
  return `${answers.length} answers of ${met.size} endpoints; not used: ${all.filter((e) => !met.has(e)).join(', ') || 'none'}`;
}

// schemas returns a function that compiles the schema at a place of the document. Members that no schema describes are errors.
function schemas(doc) {
  for (const schema of Object.values(doc.components.schemas)) if (schema.properties) schema.unevaluatedProperties = false;
  const ajv = addFormats(new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true }));
  ajv.addVocabulary(['example', ...Object.keys(doc)]); // words of OpenAPI that are none of JSON Schema
  ajv.addSchema({ ...doc, $id: 'description' }, undefined, false, false);
  const known = new Map();
  return (...path) => {
    const at = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    if (!known.has(at)) known.set(at, ajv.compile({ $ref: `description#/${at}` }));
    return known.get(at);
  };
}

export const description = { 'OpenAPI 3.1.0 describes every answer': describes };
