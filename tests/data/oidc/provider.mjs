// A certified OpenID Connect provider (oidc-provider) with one client and people who log in by any password.
// Which groups somebody is in stands in a file, which a test may rewrite.
//   node provider.mjs PORT REDIRECT_URI GROUPS_FILE
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [port, redirectUri, groupsFile] = process.argv.slice(-3);
const groupsOf = (name) => JSON.parse(readFileSync(groupsFile, 'utf8'))[name] ?? [];

const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id: 'pdm', client_secret: 'a secret: of the test', redirect_uris: [redirectUri] }],
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
  cookies: { keys: ['only in tests'] },
  findAccount: async (_ctx, name) => ({
    accountId: name,
    claims: async () => ({ sub: name, preferred_username: name, groups: groupsOf(name) }),
  }),
});
provider.listen(Number(port), 'localhost', () => console.log('ready'));
