/**
 * The files of a fleet on one machine: keys, logins, configurations, in one folder. Made once; a folder that has them is
 * used as it is, so a fleet can be started again on it. (It stands in for the enrollment protocol.)
 */
import { join } from "node:path";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { signerFromSeed, toBase64Url } from "../../core/crypto/ed25519.ts";
import { fleetKeysFrom } from "../../core/crypto/fleet_keys.ts";
import { decodeSeedNkey, encodePublicNkey, encodeSeedNkey } from "../../core/crypto/nkey.ts";
import { ZesterError } from "../../core/errors.ts";
import { grantsFor } from "../../core/grants.ts";
import { KEY_FILE_BYTES_MAX, TRUST_KEY_LIFETIME_MS } from "../../core/limits.ts";
import { ADMIN_ROLE, DIRECT_ROLE } from "../../core/roles.ts";
import type { Role } from "../../core/subjects.ts";
import { signTrust } from "../../core/trust.ts";
import { emptyJournal } from "../../peel/accept/journal.ts";
import type { ServerUser } from "../nats_server.ts";

const SECRET_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface FleetPlan {
  readonly data: string;
  readonly masters: readonly string[];
  readonly peels: readonly string[];
  readonly operator: string;
}

export interface FleetPeel {
  readonly id: string;
  readonly publicKey: string;
  readonly generation: number;
  readonly folder: string;
}

export interface FleetUser extends ServerUser {
  readonly role: Role;
}

export interface Fleet extends FleetPlan {
  readonly users: readonly FleetUser[];
  readonly peelRecords: readonly FleetPeel[];
  readonly trustFile: string;
  readonly rootPublicKey: string;
  passwordFile(user: string): string;
  password(user: string): string;
}

/** NATS login of each identity: the role is in it, so that a peel called like an operator has a login of its own. */
export function loginOf(role: Role, identity: string): string {
  return `${role}-${identity}`;
}

/** Identity that makes buckets and streams; nobody uses it while the fleet runs. */
export const BOOTSTRAP = "bootstrap";

/** Makes the fleet's files where they are missing, and reads the rest. */
export async function prepareFleet(plan: FleetPlan): Promise<Fleet> {
  const auth = join(plan.data, "auth");
  for (const folder of [plan.data, auth]) await systemFiles.makeFolder(folder, FOLDER_MODE);
  const accountSeed = await keep(join(auth, "account.seed"), () => newSeed("account"));
  const rootSeed = await keep(join(auth, "root.seed"), () => newSeed("operator"));
  const operatorSeed = await keep(operatorSeedFile(plan), () => newSeed("user"));
  const directSeed = await keep(directSeedFile(plan), () => newSeed("user"));
  const root = signerFromSeed(decodeSeedNkey("operator", rootSeed));
  const rootPublicKey = toBase64Url(root.publicKey);
  await keep(join(auth, "root.pub"), () => rootPublicKey);
  const publicKeyOf = (seed: string) => signerFromSeed(decodeSeedNkey("user", seed)).publicKey;
  const trust = await keep(
    join(auth, "trust.json"),
    () =>
      trustFor(plan.operator, root, {
        command: fleetKeysFrom(accountSeed).command.publicKey,
        operator: publicKeyOf(operatorSeed),
        direct: publicKeyOf(directSeed),
      }),
  );
  const peelRecords: FleetPeel[] = [];
  for (const id of plan.peels) {
    peelRecords.push(await preparePeel(plan, id, { rootPublicKey, trust }));
  }
  const { users, password } = await prepareUsers(plan);
  return {
    ...plan,
    users,
    password,
    peelRecords,
    rootPublicKey,
    trustFile: join(auth, "trust.json"),
    passwordFile: (user) => passwordFile(plan, user),
  };
}

export function operatorSeedFile({ data, operator }: FleetPlan): string {
  return join(data, "auth", `${operator}.seed`);
}

/** Signs what the operator sends past the masters: a key of its own, since it is a right of its own. */
export function directSeedFile({ data, operator }: FleetPlan): string {
  return join(data, "auth", `${operator}.direct.seed`);
}

function trustFor(
  name: string,
  root: ReturnType<typeof signerFromSeed>,
  keys: Readonly<Record<"command" | "operator" | "direct", Uint8Array>>,
): string {
  const issuedMs = Date.now();
  const validity = { notBeforeMs: 0, notAfterMs: issuedMs + TRUST_KEY_LIFETIME_MS };
  return signTrust(root, {
    fleet: "local",
    serial: 1,
    issuedMs,
    keys: [
      { purpose: "command", publicKey: keys.command, ...validity },
      { purpose: "operator", publicKey: keys.operator, name, role: ADMIN_ROLE, ...validity },
      { purpose: "direct", publicKey: keys.direct, name, role: DIRECT_ROLE, ...validity },
    ],
  });
}

/** A peel's own folder: its key, what it trusts, its journal, which exists from enrollment on. */
async function preparePeel(
  plan: FleetPlan,
  id: string,
  trusted: { rootPublicKey: string; trust: string },
): Promise<FleetPeel> {
  const folder = join(plan.data, "peels", id);
  const auth = join(folder, "auth");
  const data = join(folder, "data");
  for (const path of [auth, data]) await systemFiles.makeFolder(path, FOLDER_MODE);
  const isNew = await readText(join(auth, `${id}.seed`)) === null;
  if (isNew) await systemFiles.replace(join(data, "journal"), emptyJournal(), SECRET_MODE);
  const seed = await keep(join(auth, `${id}.seed`), () => newSeed("user"));
  await keep(join(auth, "root.pub"), () => trusted.rootPublicKey);
  await keep(join(auth, "trust.json"), () => trusted.trust);
  await keep(join(auth, "generation"), () => "1");
  const { publicKey } = signerFromSeed(decodeSeedNkey("user", seed));
  return { id, folder, generation: 1, publicKey: encodePublicNkey("user", publicKey) };
}

async function prepareUsers(
  plan: FleetPlan,
): Promise<{ users: FleetUser[]; password(user: string): string }> {
  const folder = join(plan.data, "logins");
  await systemFiles.makeFolder(folder, FOLDER_MODE);
  const identities: [Role, string][] = [
    ["bootstrap", BOOTSTRAP],
    ["operator", plan.operator],
    ["direct", plan.operator],
    ...plan.masters.map((id): [Role, string] => ["master", id]),
    ...plan.peels.map((id): [Role, string] => ["peel", id]),
  ];
  const users: FleetUser[] = [];
  for (const [role, identity] of identities) {
    const user = loginOf(role, identity);
    const password = await keep(
      passwordFile(plan, user),
      () => toBase64Url(systemRandom.bytes(24)),
    );
    users.push({ role, user, password, permissions: grantsFor(role, identity) });
  }
  const passwords = new Map(users.map((each) => [each.user, each.password]));
  return { users, password: (user) => passwords.get(user) ?? "" };
}

function passwordFile({ data }: FleetPlan, user: string): string {
  return join(data, "logins", user);
}

function newSeed(kind: "account" | "operator" | "user"): string {
  return encodeSeedNkey(kind, systemRandom.bytes(32));
}

/** The content of a small secret file, made first if it is not there. */
async function keep(path: string, make: () => string): Promise<string> {
  const found = await readText(path);
  if (found !== null) {
    if (found.trim() === "") throw broken(path);
    return found.trim();
  }
  const text = make().trim();
  await systemFiles.replace(path, new TextEncoder().encode(`${text}\n`), SECRET_MODE);
  return text;
}

async function readText(path: string): Promise<string | null> {
  const bytes = await systemFiles.read(path, KEY_FILE_BYTES_MAX * 64);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

function broken(path: string): ZesterError {
  return new ZesterError("config_invalid", `${path} is empty`, {
    fix: "remove the data folder and start anew, or restore the file",
  });
}
