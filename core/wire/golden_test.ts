/** Pins the bytes of every message: what was written once must be read for ever, key by key. */
import assert from "node:assert/strict";
import { decode as libraryDecode } from "@msgpack/msgpack";
import { encode } from "../msgpack.ts";
import { decodeAck, encodeAck } from "./ack.ts";
import { decodeActiveJob, encodeActiveJob } from "./active_job.ts";
import { decodeEnrollment, encodeEnrollment } from "./enrollment.ts";
import { decodeEvent, encodeEvent } from "./event.ts";
import {
  decodeExecRequest,
  decodeExecResponse,
  encodeExecRequest,
  encodeExecResponse,
} from "./exec.ts";
import { decodeFacts, encodeFacts } from "./facts.ts";
import { decodeFollow, encodeFollow } from "./follow.ts";
import {
  decodeMasterHeartbeat,
  decodePeelHeartbeat,
  encodeMasterHeartbeat,
  encodePeelHeartbeat,
} from "./heartbeat.ts";
import { decodeJob, encodeJob } from "./job.ts";
import { decodeJobEvent, encodeJobEvent } from "./job_event.ts";
import { decodeNotice, encodeNotice } from "./notice.ts";
import { decodeReturn, encodeReturn } from "./return.ts";
import { decodeScheduledResult, encodeScheduledResult } from "./scheduled_result.ts";

interface Golden {
  name: string;
  /** The keys on the wire, as the protocol spells them. */
  keys: string;
  hex: string;
  /** Encodes the example again. */
  encode(): Uint8Array;
  decode(bytes: Uint8Array): unknown;
  /** The example, as it comes out of the decoder. */
  value: object;
}

/** `value` is what goes in; out comes the same with the version that was written. */
function golden<T extends object>(
  name: string,
  codec: { encode(value: T): Uint8Array; decode(bytes: Uint8Array): T },
  expected: { value: T; keys: string; hex: string },
): Golden {
  const { value, keys, hex } = expected;
  return { name, keys, hex, value, encode: () => codec.encode(value), decode: codec.decode };
}

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const REACTION_JID = "rxn-0123456789abcdef0123456789abcdef";
const MASTER = "master-0ujzPyRiIAffKhBux4PvQdDqMHY";
const ENROLLMENT = "enr-0ujzPyRiIAffKhBux4PvQdDqMHY";
const SECOND_MS = 1_507_608_047_000;
const LATER_MS = 1_507_608_047_250;
/** Above 2^53: as a number it would lose its last digit. */
const EPOCH = 2n ** 60n + 1n;

const job = { encode: encodeJob, decode: decodeJob };
const execRequest = { encode: encodeExecRequest, decode: decodeExecRequest };
const execResponse = { encode: encodeExecResponse, decode: decodeExecResponse };
const ack = { encode: encodeAck, decode: decodeAck };
const returned = { encode: encodeReturn, decode: decodeReturn };
const event = { encode: encodeEvent, decode: decodeEvent };
const jobEvent = { encode: encodeJobEvent, decode: decodeJobEvent };
const masterHeartbeat = { encode: encodeMasterHeartbeat, decode: decodeMasterHeartbeat };
const peelHeartbeat = { encode: encodePeelHeartbeat, decode: decodePeelHeartbeat };
const activeJob = { encode: encodeActiveJob, decode: decodeActiveJob };
const scheduled = { encode: encodeScheduledResult, decode: decodeScheduledResult };
const enrollment = { encode: encodeEnrollment, decode: decodeEnrollment };
const follow = { encode: encodeFollow, decode: decodeFollow };
const facts = { encode: encodeFacts, decode: decodeFacts };
const notice = { encode: encodeNotice, decode: decodeNotice };

const RESPONSE = {
  v: 1,
  peelId: "web-01",
  jid: JID,
  success: true,
  test: true,
  results: [{
    name: "file.managed",
    changed: true,
    diff: "+a",
    durationMs: 5_000.5,
    details: { bytes: "2" },
    error: "no",
    skipped: true,
    skipReason: "require_failed",
  }],
  error: "none",
};
const RETURN = {
  v: 1,
  jid: JID,
  peelId: "web-01",
  success: false,
  returnData: null,
  durationMs: 0,
  timestampMs: SECOND_MS,
};

const rows: Golden[] = [
  golden("a full Job", job, {
    value: {
      v: 1,
      jid: JID,
      function: "pkg.installed",
      args: { name: "nginx", retries: 3 },
      targets: ["web-01", "web-02"],
      timeoutMs: 60_000,
      status: "running",
      createdMs: SECOND_MS,
      updatedMs: LATER_MS,
      user: "alice",
      owner: MASTER,
      epoch: EPOCH,
      deadlineMs: LATER_MS,
      reclaimCount: 1,
      offlineAtDispatch: ["web-02"],
      stateId: "nginx",
      targetExpr: "web*",
      returnCount: 2,
      successCount: 1,
      metadata: { source: "reactor" },
    },
    keys: "args created deadline epoch function jid metadata offline_at_dispatch owner " +
      "reclaim_count return_count state_id status success_count target_expr targets timeout updated user v",
    hex: "de0014a46172677382a46e616d65a56e67696e78a77265747269657303a763726561746564d6ff59dc45" +
      "efa8646561646c696e65d7ff3b9aca0059dc45efa565706f6368cf1000000000000001a866756e637469" +
      "6f6ead706b672e696e7374616c6c6564a36a6964bb30756a74735963677653546c385041754164715759" +
      "534d6e4c4f76a86d6574616461746181a6736f75726365a772656163746f72b36f66666c696e655f6174" +
      "5f646973706174636891a67765622d3032a56f776e6572d9226d61737465722d30756a7a507952694941" +
      "66664b68427578345076516444714d4859ad7265636c61696d5f636f756e7401ac72657475726e5f636f" +
      "756e7402a873746174655f6964a56e67696e78a6737461747573a772756e6e696e67ad73756363657373" +
      "5f636f756e7401ab7461726765745f65787072a47765622aa77461726765747392a67765622d3031a677" +
      "65622d3032a774696d656f7574cf0000000df8475800a775706461746564d7ff3b9aca0059dc45efa475" +
      "736572a5616c696365a17601",
  }),
  golden("a minimal Job", job, {
    value: {
      v: 1,
      jid: REACTION_JID,
      function: "test.ping",
      args: {},
      targets: [],
      timeoutMs: 0,
      status: "pending",
      createdMs: 0,
      updatedMs: 0,
      epoch: 0n,
    },
    keys: "args created function jid status targets timeout updated v",
    hex: "89a46172677380a763726561746564d6ff00000000a866756e6374696f6ea9746573742e70696e67a36a" +
      "6964d92472786e2d3031323334353637383961626364656630313233343536373839616263646566a673" +
      "7461747573a770656e64696e67a77461726765747390a774696d656f757400a775706461746564d6ff00" +
      "000000a17601",
  }),
  golden("a full ExecRequest", execRequest, {
    value: {
      v: 1,
      jid: JID,
      module: "test.ping",
      id: "x",
      args: { a: [1] },
      epoch: EPOCH,
      reactorDepth: 2,
    },
    keys: "args epoch id jid module rdepth v",
    hex: "87a46172677381a1619101a565706f6368cf1000000000000001a26964a178a36a6964bb30756a747359" +
      "63677653546c385041754164715759534d6e4c4f76a66d6f64756c65a9746573742e70696e67a6726465" +
      "70746802a17601",
  }),
  golden("an ExecRequest with a timeout", execRequest, {
    value: { v: 1, jid: JID, module: "test.ping", id: "", args: {}, epoch: 0n, timeoutMs: 1_500 },
    keys: "args id jid module timeout v",
    hex: "86a46172677380a26964a0a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f" +
      "76a66d6f64756c65a9746573742e70696e67a774696d656f7574ce59682f00a17601",
  }),
  golden("a minimal ExecRequest", execRequest, {
    value: { v: 1, jid: JID, module: "test.ping", id: "", args: {}, epoch: 0n },
    keys: "args id jid module v",
    hex: "85a46172677380a26964a0a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f" +
      "76a66d6f64756c65a9746573742e70696e67a17601",
  }),
  golden("a full ExecResponse", execResponse, {
    value: RESPONSE,
    keys: "error jid peel_id results success test v",
    hex: "87a56572726f72a46e6f6e65a36a6964bb30756a74735963677653546c385041754164715759534d6e4c" +
      "4f76a77065656c5f6964a67765622d3031a7726573756c74739188a76368616e676564c3a76465746169" +
      "6c7381a56279746573a132a464696666a22b61a86475726174696f6ecf000000012a0d9320a56572726f" +
      "72a26e6fa46e616d65ac66696c652e6d616e61676564ab736b69705f726561736f6eae72657175697265" +
      "5f6661696c6564a7736b6970706564c3a773756363657373c3a474657374c3a17601",
  }),
  golden("a minimal ExecResponse", execResponse, {
    value: { v: 1, peelId: "web-01", jid: JID, success: false, results: [] },
    keys: "jid peel_id results success v",
    hex: "85a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a77065656c5f6964a6" +
      "7765622d3031a7726573756c747390a773756363657373c2a17601",
  }),
  golden("an Ack", ack, {
    value: { v: 1, jid: JID, peelId: "web-01_example_com", timestampMs: LATER_MS },
    keys: "jid peel_id timestamp v",
    hex: "84a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a77065656c5f6964b2" +
      "7765622d30315f6578616d706c655f636f6da974696d657374616d70d7ff3b9aca0059dc45efa17601",
  }),
  golden("a full Return", returned, {
    value: { ...RETURN, returnData: RESPONSE, error: "late", durationMs: 1.5, unreachable: true },
    keys: "duration error jid peel_id return_data success timestamp unreachable v",
    hex: "89a86475726174696f6ece0016e360a56572726f72a46c617465a36a6964bb30756a7473596367765354" +
      "6c385041754164715759534d6e4c4f76a77065656c5f6964a67765622d3031ab72657475726e5f646174" +
      "6187a56572726f72a46e6f6e65a36a6964bb30756a74735963677653546c385041754164715759534d6e" +
      "4c4f76a77065656c5f6964a67765622d3031a7726573756c74739188a76368616e676564c3a764657461" +
      "696c7381a56279746573a132a464696666a22b61a86475726174696f6ecf000000012a0d9320a5657272" +
      "6f72a26e6fa46e616d65ac66696c652e6d616e61676564ab736b69705f726561736f6eae726571756972" +
      "655f6661696c6564a7736b6970706564c3a773756363657373c3a474657374c3a17601a7737563636573" +
      "73c2a974696d657374616d70d6ff59dc45efab756e726561636861626c65c3a17601",
  }),
  golden("a minimal Return", returned, {
    value: RETURN,
    keys: "duration jid peel_id return_data success timestamp v",
    hex: "87a86475726174696f6e00a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f" +
      "76a77065656c5f6964a67765622d3031ab72657475726e5f64617461c0a773756363657373c2a974696d" +
      "657374616d70d6ff59dc45efa17601",
  }),
  golden("a full Event", event, {
    value: {
      v: 1,
      id: "ab".repeat(32),
      tag: "reaction/a",
      data: { x: null },
      timestampMs: LATER_MS,
      origin: "reaction:reactor.a",
      depth: 1,
    },
    keys: "data depth id origin tag ts v",
    hex: "87a46461746181a178c0a5646570746801a26964d9406162616261626162616261626162616261626162" +
      "616261626162616261626162616261626162616261626162616261626162616261626162616261626162" +
      "6162a66f726967696eb27265616374696f6e3a72656163746f722e61a3746167aa7265616374696f6e2f" +
      "61a27473d7ff3b9aca0059dc45efa17601",
  }),
  golden("a minimal Event", event, {
    value: { v: 1, id: JID, tag: "", timestampMs: SECOND_MS },
    keys: "id tag ts v",
    hex: "84a26964bb30756a74735963677653546c385041754164715759534d6e4c4f76a3746167a0a27473d6ff" +
      "59dc45efa17601",
  }),
  golden("a full JobEvent", jobEvent, {
    value: {
      v: 1,
      jid: JID,
      type: "completed",
      peelId: "web-01",
      data: { status: "complete", returns: 3 },
      timestampMs: SECOND_MS,
    },
    keys: "data jid peel_id timestamp type v",
    hex: "86a46461746182a772657475726e7303a6737461747573a8636f6d706c657465a36a6964bb30756a7473" +
      "5963677653546c385041754164715759534d6e4c4f76a77065656c5f6964a67765622d3031a974696d65" +
      "7374616d70d6ff59dc45efa474797065a9636f6d706c65746564a17601",
  }),
  golden("a minimal JobEvent", jobEvent, {
    value: { v: 1, jid: JID, type: "canceled", timestampMs: SECOND_MS },
    keys: "jid timestamp type v",
    hex: "84a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a974696d657374616d" +
      "70d6ff59dc45efa474797065a863616e63656c6564a17601",
  }),
  golden("a full MasterHeartbeat", masterHeartbeat, {
    value: { v: 1, masterId: MASTER, activeJobs: [JID], timestampMs: SECOND_MS },
    keys: "active_jobs master_id timestamp v",
    hex: "84ab6163746976655f6a6f627391bb30756a74735963677653546c385041754164715759534d6e4c4f76" +
      "a96d61737465725f6964d9226d61737465722d30756a7a50795269494166664b68427578345076516444" +
      "714d4859a974696d657374616d70d6ff59dc45efa17601",
  }),
  golden("a minimal MasterHeartbeat", masterHeartbeat, {
    value: { v: 1, masterId: "m1", activeJobs: [], timestampMs: 0 },
    keys: "active_jobs master_id timestamp v",
    hex: "84ab6163746976655f6a6f627390a96d61737465725f6964a26d31a974696d657374616d70d6ff000000" +
      "00a17601",
  }),
  golden("a PeelHeartbeat", peelHeartbeat, {
    value: { timestampMs: SECOND_MS, version: "1.2.3", protocol: 1 },
    keys: "protocol ts version",
    hex: "83a870726f746f636f6c01a27473d6ff59dc45efa776657273696f6ea5312e322e33",
  }),
  golden("an ActiveJobEntry", activeJob, {
    value: { v: 1, owner: MASTER, updatedMs: SECOND_MS },
    keys: "owner updated v",
    hex: "83a56f776e6572d9226d61737465722d30756a7a50795269494166664b68427578345076516444714d48" +
      "59a775706461746564d6ff59dc45efa17601",
  }),
  golden("a full ScheduledResult", scheduled, {
    value: {
      v: 1,
      jid: JID,
      entry: "nightly",
      module: "state.apply",
      args: { mods: "web" },
      success: true,
      error: "none",
      returnData: RESPONSE,
      durationMs: 10,
      timestampMs: SECOND_MS,
    },
    keys: "args duration entry error jid module return_data success timestamp v",
    hex: "8aa46172677381a46d6f6473a3776562a86475726174696f6ece00989680a5656e747279a76e69676874" +
      "6c79a56572726f72a46e6f6e65a36a6964bb30756a74735963677653546c385041754164715759534d6e" +
      "4c4f76a66d6f64756c65ab73746174652e6170706c79ab72657475726e5f6461746187a56572726f72a4" +
      "6e6f6e65a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a77065656c5f" +
      "6964a67765622d3031a7726573756c74739188a76368616e676564c3a764657461696c7381a562797465" +
      "73a132a464696666a22b61a86475726174696f6ecf000000012a0d9320a56572726f72a26e6fa46e616d" +
      "65ac66696c652e6d616e61676564ab736b69705f726561736f6eae726571756972655f6661696c6564a7" +
      "736b6970706564c3a773756363657373c3a474657374c3a17601a773756363657373c3a974696d657374" +
      "616d70d6ff59dc45efa17601",
  }),
  golden("a minimal ScheduledResult", scheduled, {
    value: {
      v: 1,
      jid: JID,
      entry: "nightly",
      module: "state.apply",
      args: {},
      success: false,
      returnData: null,
      durationMs: 0,
      timestampMs: 0,
    },
    keys: "args duration entry jid module return_data success timestamp v",
    hex: "89a46172677380a86475726174696f6e00a5656e747279a76e696768746c79a36a6964bb30756a747359" +
      "63677653546c385041754164715759534d6e4c4f76a66d6f64756c65ab73746174652e6170706c79ab72" +
      "657475726e5f64617461c0a773756363657373c2a974696d657374616d70d6ff00000000a17601",
  }),
  golden("a full EnrollmentRecord", enrollment, {
    value: {
      v: 1,
      id: ENROLLMENT,
      peelId: "web-01",
      publicKey: "UABC",
      curvePublicKey: "XABC",
      state: "revoked",
      generation: 2,
      hostname: "web-01.example.com",
      metadata: { rack: "7" },
      createdAtMs: SECOND_MS,
      updatedAtMs: LATER_MS,
      decidedBy: "alice",
      decidedAtMs: LATER_MS,
      rejectReason: "gone",
      issuedAtMs: SECOND_MS,
      expiresAtMs: LATER_MS,
      remoteAddress: "192.0.2.1",
      trustedCaSpki: "sha256:00",
      trustMismatch: true,
      trustChecked: true,
    },
    keys:
      "created_at curve_public_key decided_at decided_by expires_at generation hostname id issued_at " +
      "metadata peel_id public_key reject_reason remote_addr state trust_checked trust_mismatch " +
      "trusted_ca_spki updated_at v",
    hex: "de0014aa637265617465645f6174d6ff59dc45efb063757276655f7075626c69635f6b6579a458414243" +
      "aa646563696465645f6174d7ff3b9aca0059dc45efaa646563696465645f6279a5616c696365aa657870" +
      "697265735f6174d7ff3b9aca0059dc45efaa67656e65726174696f6e02a8686f73746e616d65b2776562" +
      "2d30312e6578616d706c652e636f6da26964bf656e722d30756a7a50795269494166664b684275783450" +
      "76516444714d4859a96973737565645f6174d6ff59dc45efa86d6574616461746181a47261636ba137a7" +
      "7065656c5f6964a67765622d3031aa7075626c69635f6b6579a455414243ad72656a6563745f72656173" +
      "6f6ea4676f6e65ab72656d6f74655f61646472a93139322e302e322e31a57374617465a77265766f6b65" +
      "64ad74727573745f636865636b6564c3ae74727573745f6d69736d61746368c3af747275737465645f63" +
      "615f73706b69a97368613235363a3030aa757064617465645f6174d7ff3b9aca0059dc45efa17601",
  }),
  golden("a minimal EnrollmentRecord", enrollment, {
    value: {
      v: 1,
      id: ENROLLMENT,
      peelId: "web-01",
      publicKey: "UABC",
      curvePublicKey: "",
      state: "pending",
      generation: 0,
      createdAtMs: 0,
      updatedAtMs: 0,
    },
    keys: "created_at curve_public_key generation id peel_id public_key state updated_at v",
    hex: "89aa637265617465645f6174d6ff00000000b063757276655f7075626c69635f6b6579a0aa67656e6572" +
      "6174696f6e00a26964bf656e722d30756a7a50795269494166664b68427578345076516444714d4859a7" +
      "7065656c5f6964a67765622d3031aa7075626c69635f6b6579a455414243a57374617465a770656e6469" +
      "6e67aa757064617465645f6174d6ff00000000a17601",
  }),
  golden("Follow accepted", follow, {
    value: { kind: "accepted", v: 1, jid: JID, targets: ["web-01"], master: MASTER },
    keys: "jid kind master targets v",
    hex: "85a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a46b696e64a8616363" +
      "6570746564a66d6173746572d9226d61737465722d30756a7a50795269494166664b6842757834507651" +
      "6444714d4859a77461726765747391a67765622d3031a17601",
  }),
  golden("Follow accepted with who is there", follow, {
    value: {
      kind: "accepted",
      v: 1,
      jid: JID,
      targets: ["web-01"],
      master: MASTER,
      matched: 3,
      user: "alice",
      offline: ["web-01"],
      unheard: ["web-02"],
      enrolled: 214,
    },
    keys: "enrolled jid kind master matched offline targets unheard user v",
    hex: "8aa8656e726f6c6c6564ccd6a36a6964bb30756a74735963677653546c385041754164715759534d6e4c" +
      "4f76a46b696e64a86163636570746564a66d6173746572d9226d61737465722d30756a7a507952694941" +
      "66664b68427578345076516444714d4859a76d61746368656403a76f66666c696e6591a67765622d3031" +
      "a77461726765747391a67765622d3031a7756e686561726491a67765622d3032a475736572a5616c6963" +
      "65a17601",
  }),
  golden("Follow acks", follow, {
    value: { kind: "acks", v: 1, jid: JID, peels: ["web-01", "web-02"] },
    keys: "jid kind peels v",
    hex: "84a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a46b696e64a461636b" +
      "73a57065656c7392a67765622d3031a67765622d3032a17601",
  }),
  golden("Follow returns", follow, {
    value: { kind: "returns", v: 1, jid: JID, returns: [RETURN] },
    keys: "jid kind returns v",
    hex: "84a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a46b696e64a7726574" +
      "75726e73a772657475726e739187a86475726174696f6e00a36a6964bb30756a74735963677653546c38" +
      "5041754164715759534d6e4c4f76a77065656c5f6964a67765622d3031ab72657475726e5f64617461c0" +
      "a773756363657373c2a974696d657374616d70d6ff59dc45efa17601a17601",
  }),
  golden("Follow done", follow, {
    value: {
      kind: "done",
      v: 1,
      jid: JID,
      status: "partial",
      returnCount: 2,
      successCount: 1,
      missing: [{ peel: "web-02", reason: "offline" }],
    },
    keys: "jid kind missing return_count status success_count v",
    hex: "87a36a6964bb30756a74735963677653546c385041754164715759534d6e4c4f76a46b696e64a4646f6e" +
      "65a76d697373696e679182a47065656ca67765622d3032a6726561736f6ea76f66666c696e65ac726574" +
      "75726e5f636f756e7402a6737461747573a77061727469616cad737563636573735f636f756e7401a176" +
      "01",
  }),
  golden("a full Follow refused", follow, {
    value: { kind: "refused", v: 1, jid: JID, code: "nobody_matches", message: "no", fix: "ask" },
    keys: "code fix jid kind message v",
    hex: "86a4636f6465ae6e6f626f64795f6d617463686573a3666978a361736ba36a6964bb30756a7473596367" +
      "7653546c385041754164715759534d6e4c4f76a46b696e64a772656675736564a76d657373616765a26e" +
      "6fa17601",
  }),
  golden("a minimal Follow refused", follow, {
    value: { kind: "refused", v: 1, code: "decode_failed", message: "" },
    keys: "code kind message v",
    hex: "84a4636f6465ad6465636f64655f6661696c6564a46b696e64a772656675736564a76d657373616765a0" +
      "a17601",
  }),
  golden("a full Facts", facts, {
    value: { v: 1, boot: EPOCH, sequence: 7n, facts: { os: { family: "Debian" } } },
    keys: "boot facts sequence v",
    hex: "84a4626f6f74cf1000000000000001a5666163747381a26f7381a666616d696c79a644656269616ea873" +
      "657175656e636507a17601",
  }),
  golden("a minimal Facts", facts, {
    value: { v: 1, boot: 0n, sequence: 0n, facts: {} },
    keys: "boot facts sequence v",
    hex: "84a4626f6f7400a5666163747380a873657175656e636500a17601",
  }),
  golden("a Notice", notice, {
    value: { v: 1, name: "state-files", revision: EPOCH },
    keys: "name revision v",
    hex: "83a46e616d65ab73746174652d66696c6573a87265766973696f6ecf1000000000000001a17601",
  }),
];

for (const row of rows) {
  Deno.test(`encode() writes ${row.name} as the golden bytes`, () => {
    assert.equal(row.encode().toHex(), row.hex);
  });

  Deno.test(`encode() gives ${row.name} exactly the keys of the protocol`, () => {
    const wire = libraryDecode(row.encode()) as Record<string, unknown>;
    assert.deepEqual(Object.keys(wire).sort(), row.keys.split(" ").sort());
  });

  Deno.test(`decode() reads ${row.name} from the golden bytes`, () => {
    assert.deepEqual(row.decode(Uint8Array.fromHex(row.hex)), row.value);
  });

  Deno.test(`decode() ignores keys that it does not know in ${row.name}`, () => {
    const wire = libraryDecode(row.encode(), { useBigInt64: true }) as Record<string, unknown>;
    const newer = encode({ ...wire, added_later: { deep: [1] }, peelId: 3, jobs: null });
    assert.deepEqual(row.decode(newer), row.value);
  });
}
