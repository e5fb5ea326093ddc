import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../../src/checks/lint/secrets/find-secrets.ts";
import { pack } from "../../../../src/checks/lint/secrets/pack.ts";
import { expectCheap, expectLinear } from "../../../cost.ts";
import {
  madeUpSecrets,
  madeUpToken,
  randomFrom,
  textFor,
  type MadeUpSecret,
} from "./made-up-secrets.ts";

const random = randomFrom(7);
const letters = (count: number): string => textFor(`[A-Za-z0-9]{${count}}`, random);

function kindsIn(text: string): string[] {
  return findSecrets(text).map(({ kind }) => kind);
}

const fence = "```";
const places: Record<string, (name: string, value: string) => string> = {
  "a code block": (name, value) => `# Set up\n\n${fence}sh\nexport ${name}=${value}\n${fence}\n`,
  "front matter": (name, value) => `---\ntitle: A\n${name}: ${value}\n---\n# A\n`,
  "a table": (name, value) => `| name | value |\n| --- | --- |\n| ${name} | ${value} |\n`,
  JSON: (name, value) => JSON.stringify({ a: 1, [name]: value }, undefined, 2),
  "JSON in a string": (name, value) => JSON.stringify({ a: JSON.stringify({ [name]: value }) }),
  YAML: (name, value) => `settings:\n  ${name}: '${value}'\n`,
  "an .env file": (name, value) => `A=1\n${name}="${value}"\nB=2\n`,
  "a shell continuation": (name, value) => `deploy \\\n  --${name}=${value} \\\n  --fast\n`,
  "a line of its own": (name, value) => `deploy --${name}= \\\n  ${value}\n`,
  prose: (name, value) => `The ${name}: ${value}. Do not share it.\n`,
};

describe("made-up secrets of all kinds of the pack", () => {
  const secrets = madeUpSecrets(20, 2);

  it("are 300 of 40 kinds at least", () => {
    expect(secrets.length).toBeGreaterThanOrEqual(300);
    expect(new Set(secrets.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(180);
  });

  it.each(Object.keys(places))("are found in %s", (place) => {
    const isFound = ({ name = "value", value }: MadeUpSecret): boolean => {
      const text = places[place]?.(name, value) ?? "";
      return findSecrets(text).some(({ start, end }) => {
        const found = text.slice(start, end);
        return found.includes(value) || value.includes(found);
      });
    };
    expect(secrets.filter((each) => !isFound(each))).toEqual([]);
  });

  it("are found beside each other, each once", () => {
    const known = secrets.filter(({ name, kind }) => name === undefined && kind !== "jwt");
    const text = known.map(({ value }) => value).join("\n");
    const found = findSecrets(text);
    expect(found.length).toBeGreaterThanOrEqual(known.length - 2);
    for (const [index, { start }] of found.entries()) {
      expect(start).toBeGreaterThanOrEqual(found[index - 1]?.end ?? 0);
    }
  });
});

describe("the service's own keys", () => {
  it.each([
    ["an access token", `onyx_pat_${letters(43)}`, "access token"],
    ["an API key", `on_${textFor("[A-Za-z0-9_-]{250}", random)}Z`, "API key"],
    ["an older API key", `dn_${letters(250)}`, "API key"],
    ["an API key of a tenant", `on_tenant-1.${letters(192)}`, "API key"],
  ])("%s is found", (_name, key, kind) => {
    const text = `Use ${key}.`;
    expect(findSecrets(text)).toEqual([
      { rule: "secret-service-key", kind, start: 4, end: 4 + key.length },
    ]);
  });

  it("are not words that begin alike", () => {
    expect(
      kindsIn("on_error_resume_next, dn_lookup_timeout_2024 and python_on_windows_11"),
    ).toEqual([]);
  });
});

describe("keys of a profile", () => {
  it.each([
    ["one run of letters and digits", letters(40)],
    ["a run among other characters", `a key/${letters(20)}/`],
    ["letters alone, too few to look random", "correcthorsebatterystaple"],
    ["no run", "a quiet/passphrase: of words"],
  ])("%s is found in a text without other runs, and beside one", (_name, key) => {
    for (const before of ["Use ", "See page-2024-01-15-overview, use "]) {
      const found = findSecrets(`${before}${key}.`, ["another key of a profile", key]);
      const [start, end] = [before.length, before.length + key.length];
      expect(found).toEqual([{ rule: "secret-own-key", kind: "key of a profile", start, end }]);
    }
  });
});

describe("passwords in URLs", () => {
  it.each([
    "https://reader:Kp4-tulip-Vx@git.acme.io/handbook.git",
    "postgresql+psycopg2://app:h7Gq.vv9@db-1.intra.acme.com:5432/app",
    "redis://:9f2mQp7c@cache.acme.net:6379/0",
    "smtp://mailer:QWZKXPTVBM@mail.acme.io",
    "(see amqp://jobs:w0rm$hole@mq.acme.org)",
  ])("%s", (url) => {
    const found = findSecrets(`Open ${url} now.`);
    expect(found.map(({ rule }) => rule)).toEqual(["secret-url-password"]);
  });

  it.each([
    "https://user:password@git.acme.io/x",
    "https://user:Kp4-tulip-Vx@example.com/x",
    "https://user:Kp4-tulip-Vx@db.example.org/x",
    "postgres://postgres:postgres@db.acme.io/x",
    "postgres://app:Kp4-tulip-Vx@localhost:5432/x",
    "postgres://app:Kp4-tulip-Vx@127.0.0.1/x",
    "postgres://app:passw0rd@db.acme.io/x",
    "sftp://deploy:Pa55w0rd@files.acme.io",
    "redis://default:5uper53cret@cache.acme.io:6379",
    "redis://reader:p%40ssw0rd@cache.acme.io:6379",
    "https://user:$PASSWORD@git.acme.io/x",
    "https://user:${PASSWORD2}@db01/x",
    "https://user:$DB_PASSWORD_2@db01/x",
    "https://user:$myDbPw2@db01/x",
    "https://user:$oauth2Token@db01/x",
    "https://user:$K8S_PASSWORD@db01/x",
    "https://user:{{ db.password2 }}@nas.local/x",
    "https://user:{password1}@nas.local/x",
    "https://user:[password1]@db01/x",
    "https://user:$(cat /run/p4ss)@db01/x",
    "https://user:%PASSWORD1%@db01/x",
    "postgres://user:secret@db01/x",
    "postgres://user:changeme123@db01/x",
    "postgres://user:Kp4-tulip-Vx@[::1]:5432/x",
    "postgres://user:Kp4-tulip-Vx@[2001:db8::7]:5432/x",
    "http://user:Kp4-tulip-Vx@proxy.example.com:3128",
    "https://use%21r:pas%2As@my.proxy:1234",
    "http://db01:8080/a1/B2c3D4@v1.2.3",
    "https://user:${{ secrets.PASSWORD }}@git.acme.io/x",
    "https://<user>:<password>@git.acme.io/x",
    "https://user:********@git.acme.io/x",
    "https://user:xxxxxx@git.acme.io/x",
    "mailgun+https://KEY:DOMAIN@mail.acme.io",
    "https://USER_NAME:MY-APP_PASSCODE@git.acme.io/x",
    "https://user:your-password@git.acme.io/x",
    "https://user:changeme@git.acme.io/x",
    "https://git.acme.io:8080/@scope/name",
    "https://docs.acme.io/a:b and mail to ann@acme.io",
    "https://user:he%2F%2Fyo@pypi.company.com/simple",
    "amqp://username:Kp4-tulip-Vx@source.hostname:5672",
    "amqp://jobs:s3KrE7@mq.acme.org",
  ])("%s is no finding", (url) => {
    expect(kindsIn(`Open ${url} now.`)).toEqual([]);
  });
});

describe("passwords and keys that only few rules knew", () => {
  const password = (): string => textFor("[A-Za-z0-9]{4}\\d[a-z][A-Z][A-Za-z0-9]{5}", random);
  const withSigns = (signs: string) => (): string => {
    const sign = signs.charAt(Math.floor(random() * signs.length));
    return `${textFor("\\d[a-z][A-Z]", random)}${sign}${password()}`;
  };
  const values: Record<string, () => string> = {
    "a short host": () => `postgres://app:${password()}@db01:5432/x`,
    "a host of Docker": () => `postgres://app:${password()}@db:5432/x`,
    "a local host": () => `smb://app:${password()}@nas.local/x`,
    "an address of IPv6": () => `https://app:${password()}@[fd00::12]:8443/x`,
    "a proxy": () => `http://app:${password()}@proxy.acme.io:3128`,
    "a password with raw signs": () => `https://app:${withSigns("{*(/@")()}@git.acme.io/x`,
    "a password with raw signs on a short host": () => `amqp://app:${withSigns("{*(/@")()}@mq2`,
    "a password after a dollar": () => `https://app:$${withSigns("!.-+")()}@git.acme.io/x`,
    "letters and digits after a dollar": () => `https://app:$v${withSigns("7")()}@git.acme.io/x`,
    "letters and digits after a dollar on a short host": () =>
      `amqp://app:$v${withSigns("7")()}@mq2`,
    "a key of 32 digits": () => `API_KEY=${textFor("[0-9a-f]{32}", random)}`,
    "a key of 40 digits": () => `api_key: "${textFor("[0-9a-f]{40}", random)}"`,
    "a token of 40 digits": () => `export ACCESS_TOKEN=${textFor("[0-9a-f]{40}", random)}`,
    "a secret of 32 digits": () => `client_secret = ${textFor("[0-9a-f]{32}", random)}`,
  };

  it.each(Object.entries(values))("%s: 40 of 40", (_, make) => {
    const texts = Array.from({ length: 40 }, () => `Open ${make()} now.`);
    expect(texts.filter((text) => findSecrets(text).length !== 1)).toEqual([]);
  });

  it.each([
    `commit_sha: ${textFor("[0-9a-f]{40}", random)}`,
    `token_hash=${textFor("[0-9a-f]{32}", random)}`,
    "API_KEY=00000000000000000000000000000000",
    "API_KEY=0123456789abcdef0123456789abcdef",
    "API_KEY=${API_KEY}",
    "API_KEY=<your-api-key>",
  ])("%s is no finding", (text) => {
    expect(kindsIn(text)).toEqual([]);
  });

  it.each([
    ["addresses", "a://b:c@"],
    ["passwords that never end", "a://b:cccccccc{"],
    ["ends", "a://b:cccccccc@@"],
  ])("takes linear time for %s", (_, part) => {
    expectLinear(20_000, (size) => {
      findSecrets(part.repeat(size));
    });
  });
});

describe("passwords that only their names show", () => {
  const short = `${textFor("[a-z][A-Z]\\d[!#%*][A-Z][a-z]\\d[A-Z]", random)}${letters(4)}`;
  it.each([
    ["in quotes", (value: string) => `password = "${value}"\n`],
    ["in an environment", (value: string) => `    DB_PASSWORD=${value}\n`],
    ["in YAML", (value: string) => `  passwd: '${value}'\n`],
    ["in JSON", (value: string) => JSON.stringify({ password: value })],
    ["in JSON in a string", (value: string) => JSON.stringify(JSON.stringify({ pwd: value }))],
    ["in a table", (value: string) => `| \`password\` | \`${value}\` |\n`],
    ["in a list of HTML", (value: string) => `<dt>password</dt><dd><code>${value}</code></dd>`],
    ["in prose", (value: string) => `The password is ${value}.\n`],
    ["in parentheses", (value: string) => `Sign in as app (password: ${value}).\n`],
    ["in a Markdown link", (value: string) => `[files](https://files.acme.io/a?pwd=${value})\n`],
    ["in an instruction", (value: string) => `Set \`DB_PASSWORD\` to \`${value}\`.\n`],
    [
      "in a connection string",
      (value: string) => `Server=db;User ID=app;Password=${value};Encrypt=true`,
    ],
    [
      "in a URL",
      (value: string) => `jdbc:mysql://db.acme.io/app?user=a&password=${value}&ssl=true`,
    ],
    ["in a .netrc file", (value: string) => `machine git.acme.io login app password ${value}\n`],
    ["in Base64", (value: string) => `  password: ${Buffer.from(value).toString("base64")}\n`],
  ])("are found %s", (_name, textOf) => {
    for (const value of [short, `${short}&${letters(3)}`]) {
      const found = findSecrets(textOf(value)).map(({ rule, start, end }) => {
        const part = textOf(value).slice(start, end);
        return [rule, part === value || Buffer.from(part, "base64").toString() === value];
      });
      expect(found).toEqual([["secret-assigned", true]]);
    }
  });

  it.each([
    'password = "P@ssw0rd-2024!"',
    'password: "S3cur3-L0g1n!x"',
    "password: ABcdef12345",
    "password: MyStr0ngP@ss!",
    '"password": "S3cretPa55"',
    "password: S0meV3ryL0ngP4ss",
    "--from-literal=password='N3w-Str0ng-Passw0rd!'",
    "password: Tr0ub4dor&3",
    "DB_PASSWORD=$DB_PASSWORD_1aB2c",
    "password: ${{ secrets.Db1Password2 }}",
    "password: config.db1.Password2aB",
    "password: PHNvbWUgcGFzc3dvcmQ+",
    "Password::min(8)->mixedCase()->numbers()",
  ])("are not %s", (text) => {
    expect(kindsIn(`${text}\n`)).toEqual([]);
  });
});

it("words in Base64 are no secret, what looks random is one", () => {
  const encoded = (value: string): string =>
    `AWS_SECRET_ACCESS_KEY: ${Buffer.from(value).toString("base64")}\n`;
  expect(kindsIn(encoded("harbour-lamp-wharf-gate"))).toEqual([]);
  expect(kindsIn(encoded(letters(30)))).toHaveLength(1);
});

describe("links to meetings, appointments and pages", () => {
  const meeting = textFor("[A-Z]{3}\\d[a-z]{2}\\d[A-Z]{2}\\d[a-z]\\d[A-Z]{3}\\d[a-z]\\d", random);

  it.each([
    ["of Zoom", `https://zoom.us/j/696660?pwd=${meeting}`],
    ["of Zoom for a company", `https://acme.zoom.us/j/69666?from=x&pwd=${meeting}#success`],
    ["of an appointment", `https://calendar.acme.io/u/0/selfsched?sstoken=${letters(60)}`],
    ["of a search", `https://commons.acme.org/index.php?search=a&searchToken=${letters(25)}`],
    ["that invites", `https://chat.acme.io/join?invite_token=${letters(25)}`],
  ])("are no secrets: %s", (_name, url) => {
    expect(kindsIn(`[the link]: ${url}\n`)).toEqual([]);
  });

  it.each([
    ["a password elsewhere", `https://files.acme.io/a?pwd=${meeting}`],
    ["a token that signs in", `https://api.acme.io/a?access_token=${letters(40)}`],
  ])("do not hide %s", (_name, url) => {
    expect(kindsIn(`[the link]: ${url}\n`)).toHaveLength(1);
  });
});

describe("curl with a user and a password", () => {
  const password = `kp4-tulip-Vx${textFor("\\d[A-Z]\\d", random)}`;

  it.each([
    ["-u", `curl -u deploy:${password} https://api.acme.io/v1/pages`],
    ["-u in quotes", `curl -s -u "deploy:${password}" -X POST https://api.acme.io/v1`],
    ["-u without a space", `$ curl https://api.acme.io/v1 -udeploy:${password}`],
    ["--user", `curl --user 'deploy:${password}' https://api.acme.io/v1`],
    ["--user=", `curl --user=deploy:${password} https://api.acme.io/v1`],
    ["--proxy-user", `curl --proxy-user deploy:${password} https://api.acme.io/v1`],
    ["a line of its own", `curl -X POST \\\n  -u deploy:${password} \\\n  https://api.acme.io/`],
    ["code in prose", `Run \`curl -u deploy:${password} api.acme.io\` once.`],
  ])("is found with %s", (_name, text) => {
    const found = findSecrets(text);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([password]);
    expect(found.map(({ rule }) => rule)).toEqual(["secret-assigned"]);
  });

  it.each([
    "curl -u Administrator:password https://api.acme.io/v1",
    "curl -u userename:pa$sw0rD12 https://api.acme.io/v1",
    "curl -u targetUser:targetPassword1 https://api.acme.io/v1",
    "curl -u $USER_OF_1:$PASSWORD_OF_1 https://api.acme.io/v1",
    "curl -u <user>:<password-of-1> https://api.acme.io/v1",
    'curl -u "Tenant1:${API_TOKEN_1}" https://api.acme.io/v1',
    `curl -u elastic:${password} https://localhost:9200/_cat`,
    `curl -u elastic:${password} localhost:9200/_cat`,
    `curl -u elastic:${password} https://es.example.com/_cat`,
    `docker run -u app:${password} acme/app`,
    `curl https://api.acme.io/\ndocker run -u app:${password} acme/app`,
  ])("is no finding: %s", (text) => {
    expect(kindsIn(`${text}\n`)).toEqual([]);
  });
});

describe("keys and signatures of Azure", () => {
  const key = (bytes: number): string =>
    Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))).toString("base64");
  const keys = Array.from({ length: 40 }, () => [key(64), key(32)]);
  const signed = "https://acmedocs.blob.core.windows.net/c/f.csv?sv=2022-11-02&sr=b&sp=r";

  it.each([
    ["AccountKey", (long: string) => `AccountName=acmedocs;AccountKey=${long};EndpointSuffix=x`],
    ["AccountKey in Cosmos DB", (long: string) => `"AccountEndpoint=x;AccountKey=${long};"`],
    [
      "SharedAccessKey",
      (_long: string, short: string) =>
        `Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${short}`,
    ],
    [
      "the signature of a URL",
      (_long: string, short: string) =>
        `${signed}&se=2999-01-01T00%3A00%3A00Z&sig=${encodeURIComponent(short)}`,
    ],
    [
      "a signature without an end",
      (_long: string, short: string) =>
        `https://a.logic.azure.com/run?api-version=1&sp=%2Ftriggers%2Frun&sv=1.0&sig=${short.slice(0, -1).replace(/[+/]/g, "-")}`,
    ],
    [
      "a signature in HTML",
      (_long: string, short: string) =>
        `<a href="${signed.replaceAll("&", "&amp;")}&amp;sig=${encodeURIComponent(short)}&amp;se=2999-01-01">`,
    ],
  ])("are found: %s", (_name, textOf) => {
    for (const [long = "", short = ""] of keys) {
      const found = findSecrets(textOf(long, short));
      expect(found.map(({ rule }) => rule)).toEqual(["secret-token"]);
    }
  });

  it.each([
    ["a placeholder", "AccountName=a;AccountKey=<your-account-key>;"],
    ["what Azurite has", `AccountKey=Eby8vdM02xNO${letters(74)}==`],
    ["a signature that has expired", `${signed}&se=2019-01-01T00:00:00Z&sig=${letters(43)}%3D`],
    ["another parameter", `https://acme.io/a?sig=${letters(43)}%3D`],
    ["a short one", `${signed}&se=2999-01-01&sig=abc123`],
    ["what the reader fills in", `${signed}&se=2999-01-01&sig=<signature>`],
  ])("are not %s", (_name, text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe("headers and files that sign in", () => {
  const basic = (password: string): string => Buffer.from(`deploy:${password}`).toString("base64");
  const secret = basic(`Kp4-tulip-Vx${textFor("\\d{3}", random)}`);
  const token = letters(40);

  it.each([
    ["a header with a password", `Authorization: Basic ${secret}`, secret],
    ["the configuration of Docker", JSON.stringify({ auths: { a: { auth: secret } } }), secret],
    ["the configuration of npm", `//npm.acme.io/:_auth=${secret}`, secret],
    ["a header with a token", `Authorization: Bearer ${token}`, token],
    ["a header in a command", `curl -H "Authorization: Bearer ${token}" https://acme.io`, token],
  ])("%s", (_name, text, value) => {
    expect(findSecrets(text).map(({ start, end }) => text.slice(start, end))).toEqual([value]);
  });

  it.each([
    `Authorization: Basic ${basic("opensesame")}`,
    `Authorization: Basic ${basic("your-password-1")}`,
    `"auth": "${basic("changeme12")}"`,
    "The basic internationalization1 of this site",
  ])("are not %s", (text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe("keys whose forms the pack does not have", () => {
  it.each([
    ["docker-hub-token", `dckr_pat_${letters(27)}`],
    ["google-client-secret", `GOCSPX-${letters(28)}`],
    ["azure-devops-token", `${letters(76)}AZDO${letters(4)}`],
    ["stripe-webhook-secret", `whsec_${letters(32)}`],
  ])("%s", (kind, value) => {
    expect(kindsIn(`Use ${value} here.`)).toEqual([kind]);
  });

  it.each([
    ["as a sentence says", (value: string) => `The api_key is ${value}.`],
    ["as an instruction says", (value: string) => `Set \`API_KEY\` to \`${value}\`.`],
    ["in a list of HTML", (value: string) => `<dt>api_key</dt><dd><code>${value}</code></dd>`],
  ])("are found %s", (_name, textOf) => {
    const value = letters(40);
    expect(kindsIn(textOf(value))).toEqual(["generic-api-key"]);
  });
});

describe("values that the documents of their services show to everybody", () => {
  it.each([
    ["RFC 6749", "access_token", "2YotnFZFEjr1", "zCsicMWpAA"],
    ["RFC 6749", "client_secret", "7Fjfp0ZBr1Kt", "DRbnfVdmIw"],
    ["RFC 6749", "Authorization: Basic", "czZCaGRSa3F0", "MzpnWDFmQmF0M2JW"],
    ["Stripe", "api_key", "sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"],
    ["GitHub", "token", "gho_", "16C7e42F292c6912E7710c838347Ae178B4a"],
    ["Kubernetes", "password", "UyFCXCpk", "JHpEc2I9"],
    ["MinIO", "secretKey", "zuf+tfteSlsw", "Ru7BJ86wekitnifILbZam1KYY3TG"],
    ["Dynatrace", "api_token", "dt0c01.ST2EY72KQINMH574WMNVI7YN.", `G3DF${letters(60)}`],
    ["Dynatrace in Base64", "token", "ZHQwczAxLlNUMkVZNzJLUUlOTUg1NzRX", letters(40)],
    [
      "Azurite",
      "AccountKey",
      "Eby8vdM02xNO",
      "cqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    ],
    [
      "the emulator of Cosmos DB",
      "AccountKey",
      "C2y6yDjf5/",
      "R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
    ],
  ])("are no secrets: %s, %s", (_name, name, ...parts) => {
    const value = parts.join("");
    expect(kindsIn(`${name}=${value}\n`)).toEqual([]);
    expect(kindsIn(`${name}: ${value}\n`)).toEqual([]);
    expect(kindsIn(`${name} ${value}\n`)).toEqual([]);
  });
});

describe("JSON Web Tokens", () => {
  it("are found if they have not expired", () => {
    expect(kindsIn(`Bearer ${madeUpToken(random)}`)).toEqual(["jwt"]);
    expect(kindsIn(`Bearer ${madeUpToken(random, {})}`)).toEqual(["jwt"]);
    expect(kindsIn(`Bearer ${madeUpToken(random, { exp: 1_600_000_000 })}`)).toEqual([]);
    expect(kindsIn(`Bearer ${madeUpToken(random, { name: "John Doe" })}`)).toEqual([]);
    expect(kindsIn(`Bearer ${madeUpToken(random, { some: "payload" })}`)).toEqual([]);
  });

  it("are no secrets in the links of a debugger or of a mail that counts clicks", () => {
    const token = madeUpToken(random, {});
    expect(kindsIn(`See https://jwt.io/#debugger-io?token=${token}`)).toEqual([]);
    expect(kindsIn(`See https://acme.io/#debugger-io?token=${token}`)).toEqual(["jwt"]);
    const link = madeUpToken(random, { uri: "mail:click", url: "https://acme.io/form?id=1" });
    expect(kindsIn(`See https://links.acme.io/l/${link}/s/12/br/9`)).toEqual([]);
    expect(kindsIn(`Bearer ${link}`)).toEqual(["jwt"]);
    expect(kindsIn(`See https://acme.io/?access=${link}`)).toEqual(["jwt"]);
  });
});

describe("values that are no secrets", () => {
  const example = "EXAMPLE";
  it.each([
    "token = ghp_<your-token>",
    `token = ghp_${"x".repeat(36)}`,
    `token = ghp_${"0".repeat(36)}`,
    "token = ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    `AWS_ACCESS_KEY_ID=AKIAIOSFODNN7${example}`,
    `AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY${example}KEY`,
    "api_key: ${API_KEY_OF_THE_SERVICE_1}",
    "api_key: $API_KEY_OF_THE_SERVICE_1",
    "api_key: {{ vault.api_key_of_service_1 }}",
    "api_key: YOUR-API-KEY-0123-GOES-HERE",
    "api_key: my_very_own_api_key_2024",
    "password: changeme-changeme-1",
    "password: correct-horse-battery-staple-1",
    "secret: 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "token_endpoint: https://login.acme.io/oauth2/v2.0/token",
    "public_key: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE",
    "nextPageToken: CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA4Q2",
    "commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sentry_release_commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "![Keys](images/api-keys-2024-01-15-overview-v2.png)",
    "https://github.com/acme/secrets/blob/9fceb02d0ae598e95dc970b74767f19372d61af8/README.md",
    'access_token: "eyJraWQiOiJoZnpMS3...tdBbjhHcIXF_OQCsUdk"',
    `https://sqs.acme.io/q?access_key=AKIAIOSFODNN7${example}&secret_key=${letters(22)}`,
    "The key is stored in sha512-vault-2024-production-eu-west-1.",
  ])("%s", (text) => {
    expect(kindsIn(`${text}\n`)).toEqual([]);
  });
});

it("findings are as many as there are: a log may repeat a key on each line", () => {
  const key = "Kp4-tulip-Vx-7Qm";
  expect(findSecrets(`${key}\n`.repeat(140_000), [key])).toHaveLength(140_000);
});

describe("the time of the search", () => {
  it("is linear in the number of findings, where two are at one place", () => {
    const key = "Kp4-tulip-Vx-7Qm";
    expectLinear(80_000, (count) => {
      findSecrets(`https://deploy:${key}@git.acme.io/\n`.repeat(count), [key]);
    });
  });

  const near = (secret: MadeUpSecret): string =>
    `${secret.name ?? "token"} = ${secret.value.slice(0, -2)} `;

  const hostile = madeUpSecrets(3, 1).map((secret) => {
    const parts = [near(secret), secret.value.slice(0, 12)];
    return parts.map((part) => part.repeat(Math.ceil(10_000 / part.length)));
  });
  const groups = Array.from({ length: Math.ceil(hostile.length / 20) }, (_, index) =>
    hostile.slice(index * 20, index * 20 + 20).flat(),
  );
  it.each(groups.map((texts, index) => [index * 20, texts] as const))(
    "is short for values that nearly match, of the kinds from %i on",
    (_from, texts) => {
      expectCheap(() => texts.forEach((text) => void findSecrets(text)), 90);
    },
  );

  const keywords = pack.known.flatMap((each) => each.keywords);
  it.each([
    "a1",
    "A",
    "ey",
    "eyJhbGciOi.",
    "password=",
    "password=aB3-",
    "password</a><b>",
    "token</a><b>",
    'password="',
    "Pwd",
    "basic a",
    "whsec_",
    "curl -u a:",
    "curl -u a:aB3dE6gH9jK2 ",
    " -u a:aB3dE6gH9jK2",
    "curl \\\n",
    "?sig=",
    "&sp=&sv=&sig=aB3d",
    "AccountKey=",
    "api_key: ",
    "bearer ",
    "@",
    "a@",
    "https://a:b@",
    "https://a:passw0rd1@",
    "://a:",
    "\\",
    "=",
    "x1y2z3-",
    "0123456789abcdef+/",
    "aB3dE6gH9jK2mN5pQ8sT@",
    `ghp_${"aB3d".repeat(9)}@`,
    keywords.join(" "),
    keywords.map((each) => `${each}aB3dE6gH9jK2mN5pQ8sT`).join("@"),
  ])("is linear in the length: many times %s", (part) => {
    expectLinear(Math.ceil(100_000 / part.length), (count) => {
      findSecrets(part.repeat(count));
    });
  });
});
