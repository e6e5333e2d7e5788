/**
 * A client that speaks the NATS protocol by hand, for attacks: it sends what a well-behaved one would refuse to send, and
 * knows for each line whether the server refused it, since whatever a server has to say comes before the next PONG.
 */
const HOST = "127.0.0.1";

export interface WireMessage {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly text: string;
}

export class WireClient {
  readonly #connection: Deno.TcpConn;
  readonly #errors: string[] = [];
  readonly messages: WireMessage[] = [];
  #pongs = 0;
  #sid = 0;
  #wake = Promise.withResolvers<void>();
  #isEnded = false;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    this.#read();
  }

  /** Connects and logs in. Throws when it is not let in. */
  static async connect(url: string, user: string, password: string): Promise<WireClient> {
    const port = Number(new URL(url.replace("nats:", "http:")).port);
    const client = new WireClient(await Deno.connect({ hostname: HOST, port }));
    const login = {
      user,
      pass: password,
      verbose: false,
      pedantic: false, // or the server checks subjects for us
      headers: true,
      no_responders: true,
    };
    const refused = await client.send(`CONNECT ${JSON.stringify(login)}`);
    if (refused !== null) throw new Error(refused);
    return client;
  }

  /** Sends a line, with a payload after it, and gives what the server refused it with, or null. */
  async send(line: string, payload?: string): Promise<string | null> {
    this.#errors.length = 0;
    const wanted = this.#pongs + 1;
    const body = payload === undefined ? "" : `${payload}\r\n`;
    await this.#write(`${line}\r\n${body}PING\r\n`);
    while (this.#pongs < wanted && !this.#isEnded) await this.#wake.promise;
    return this.#errors[0] ?? (this.#isEnded ? "hung up" : null);
  }

  async publish(
    subject: string,
    { payload = "", reply = "", headers = "" }: {
      payload?: string;
      reply?: string;
      headers?: string;
    } = {},
  ): Promise<string | null> {
    if (headers === "") {
      return await this.send(`PUB ${subject} ${reply} ${payload.length}`, payload);
    }
    const block = `NATS/1.0\r\n${headers}\r\n\r\n`;
    const sizes = `${block.length} ${block.length + payload.length}`;
    return await this.send(`HPUB ${subject} ${reply} ${sizes}`, block + payload);
  }

  async subscribe(subject: string, queue = ""): Promise<string | null> {
    return await this.send(`SUB ${subject} ${queue} ${++this.#sid}`);
  }

  close(): void {
    this.#isEnded = true;
    try {
      this.#connection.close();
    } catch {
      // The server has hung up before.
    }
  }

  async #write(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    try {
      for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
    } catch {
      this.#end();
    }
  }

  async #read(): Promise<void> {
    const chunk = new Uint8Array(65_536);
    let text = "";
    try {
      for (;;) {
        const count = await this.#connection.read(chunk);
        if (count === null) break;
        text = this.#take(text + new TextDecoder().decode(chunk.subarray(0, count)));
        this.#notify();
      }
    } catch {
      // Closed by us, or reset: the end either way.
    }
    this.#end();
  }

  /** Reads all whole lines and messages, and gives back the rest. */
  #take(text: string): string {
    for (;;) {
      const end = text.indexOf("\r\n");
      if (end < 0) return text;
      const line = text.slice(0, end);
      const message = /^(?:MSG|HMSG) (\S+) \S+(?: (\S+(?= \d)))?.* (\d+)$/.exec(line);
      if (message === null) {
        if (line === "PONG") this.#pongs++;
        else if (line === "PING") void this.#write("PONG\r\n");
        else if (line.startsWith("-ERR")) this.#errors.push(line);
        text = text.slice(end + 2);
        continue;
      }
      const size = Number(message[3]);
      if (text.length < end + 2 + size + 2) return text;
      const body = text.slice(end + 2, end + 2 + size);
      this.messages.push({ subject: message[1]!, reply: message[2], text: body });
      text = text.slice(end + 2 + size + 2);
    }
  }

  #notify(): void {
    const { resolve } = this.#wake;
    this.#wake = Promise.withResolvers<void>();
    resolve();
  }

  #end(): void {
    this.#isEnded = true;
    this.#notify();
  }
}
