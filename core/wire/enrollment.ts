/** EnrollmentRecord: which key speaks for a peel, since when, and who allowed it. */
import {
  count,
  enrollmentId,
  flag,
  message,
  oneOf,
  optional,
  optionalTime,
  orEmpty,
  peelId,
  required,
  text,
  textMap,
  timeMs,
  type TypeOf,
  version,
} from "./codec.ts";

/** The states of an enrollment. A record in a terminal one never changes; the peel may get a new record. */
export const ENROLLMENT_STATE = {
  pending: { terminal: false },
  approved: { terminal: false },
  rejected: { terminal: true },
  issued: { terminal: false },
  active: { terminal: false },
  revoked: { terminal: true },
} as const;

export type EnrollmentState = keyof typeof ENROLLMENT_STATE;

export const enrollmentMessage = message("EnrollmentRecord", {
  v: version,
  id: required("id", enrollmentId),
  peelId: required("peel_id", peelId),
  publicKey: required("public_key", text.min(1)),
  curvePublicKey: orEmpty("curve_public_key", text, () => ""),
  state: required("state", oneOf(ENROLLMENT_STATE)),
  /** Rises with each enrollment of the same id: what an earlier holder of it signed is refused. */
  generation: orEmpty("generation", count, () => 0),
  hostname: optional("hostname", text),
  metadata: optional("metadata", textMap),
  createdAtMs: required("created_at", timeMs),
  updatedAtMs: required("updated_at", timeMs),
  decidedBy: optional("decided_by", text),
  decidedAtMs: optionalTime("decided_at"),
  rejectReason: optional("reject_reason", text),
  issuedAtMs: optionalTime("issued_at"),
  expiresAtMs: optionalTime("expires_at"),
  remoteAddress: optional("remote_addr", text),
  trustedCaSpki: optional("trusted_ca_spki", text),
  trustMismatch: optional("trust_mismatch", flag),
  trustChecked: optional("trust_checked", flag),
});

export type EnrollmentRecord = TypeOf<typeof enrollmentMessage>;

export const { encode: encodeEnrollment, decode: decodeEnrollment } = enrollmentMessage;
