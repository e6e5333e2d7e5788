/** `locale.present`: keeps a locale made on the host. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import {
  checked,
  defineModule,
  type Grant,
  type Host,
  line,
  perform,
  primary,
  type Program,
  StateFailure,
} from "../../core/module.ts";
import { isDeclared, isMade, withLocale } from "./_gen.ts";

const LOCALE_GEN = "/etc/locale.gen";
const LIST: Program = ["locale", "-a"];
const MAKE: Program = ["locale-gen"];

/** The text that was changed, before and after: it is put back only if nobody has edited it since. */
interface Memo {
  readonly before: string;
  readonly after: string;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9-]+)?(@[A-Za-z0-9]+)?$/;

export default defineModule({
  name: "locale.present",
  summary: "Keeps a locale made on the host.",
  description:
    `Uncomments the line of the locale in \`/etc/locale.gen\`, or adds one, and runs \`locale-gen\`. Where there is no
such file, the locale can only be looked for.`,
  params: {
    name: primary(
      checked(
        line("Locale, such as en_US.UTF-8."),
        (name) => NAME.test(name) ? null : `${JSON.stringify(name)} is no name of a locale`,
      ),
    ),
  },
  permissions: (): Grant => ({ write: [LOCALE_GEN], probe: [LIST], run: [MAKE] }),
  async check(p, host) {
    const whys = driftOf(p.name, await observe(host));
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host) {
    const seen = await observe(host);
    const whys = driftOf(p.name, seen);
    if (whys.length === 0) return null;
    if (seen.text === null) {
      throw new Error(`${p.name} cannot be made: there is no ${LOCALE_GEN} (install locales)`);
    }
    const details = { locale: p.name };
    const memo: Memo = { before: seen.text, after: withLocale(seen.text, p.name) };
    const isEdited = memo.after !== memo.before;
    if (isEdited) await host.replaceFile(LOCALE_GEN, memo.after);
    try {
      await perform(host, MAKE);
    } catch (thrown) {
      throw new StateFailure((thrown as Error).message, { details, changed: isEdited, memo });
    }
    const left = driftOf(p.name, await observe(host));
    if (left.length === 0) return { diff: `made locale ${p.name}`, details, memo };
    throw new StateFailure(`locale-gen reported success, but ${left.join("; ")}`, {
      details,
      changed: true,
      memo,
    });
  },
  async revert(p, { before, after }: Memo, host) {
    const { text } = await observe(host);
    if (before === after) return null;
    if (text !== after) throw new Error(`${LOCALE_GEN} was edited since: ${p.name} stays`);
    await host.replaceFile(LOCALE_GEN, before);
    await perform(host, MAKE);
    return { diff: `took locale ${p.name} back out of ${LOCALE_GEN}` };
  },
  examples: [
    { title: "On the command line", code: "zester '*' locale.present de_DE.UTF-8" },
    { title: "As a state", code: "en_US.UTF-8:\n  locale.present" },
  ],
});

interface Seen {
  readonly list: string;
  readonly text: string | null;
}

async function observe(host: Host): Promise<Seen> {
  const bytes = await host.readFile(LOCALE_GEN);
  return {
    list: (await perform(host, LIST, { outputBytesMax: LIST_OUTPUT_BYTES_MAX })).stdout,
    text: bytes === null ? null : new TextDecoder().decode(bytes),
  };
}

function driftOf(locale: string, { list, text }: Seen): string[] {
  return [
    ...(isMade(list, locale) ? [] : [`locale ${locale} is not available`]),
    ...(text === null || isDeclared(text, locale)
      ? []
      : [`locale ${locale} is not declared in ${LOCALE_GEN}`]),
  ];
}
